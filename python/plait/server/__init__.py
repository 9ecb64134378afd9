# SPDX-License-Identifier: Apache-2.0
"""The endpoint: SQL in and Arrow out, over gRPC.

    engine   runs statements on Spark, and reads their frames from the JVM
    service  converts between these and the messages of proto/plait/v1
    app      puts them together, opens the port, and ends them in order

What a statement may do is decided in the JVM, on its plan; who may call is decided here.
"""
