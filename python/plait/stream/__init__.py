# SPDX-License-Identifier: Apache-2.0
"""Joins of streams from Python: the rows that wait in them, and what they did batch by batch."""

from plait.stream.report import StreamReport, StreamSide, stream_report
from plait.stream.state import state

__all__ = ["StreamReport", "StreamSide", "state", "stream_report"]
