# SPDX-License-Identifier: Apache-2.0
"""The commands that run statements: `plait sql`, `plait explain`, `plait shell`.

place    where statements run: a server, or a Spark of this process (local)
output   how results are written
report   how errors are told
"""
