# SPDX-License-Identifier: Apache-2.0
"""The commands that run statements, `plait sql`, `plait explain`, `plait shell`, and some more.

place    where statements run: a server, or a Spark of this process (local)
output   how results are written
report   how errors are told
health   `plait health`, which runs no statement
demo     `plait demo --server`, the demo on a server
"""
