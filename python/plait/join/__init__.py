# SPDX-License-Identifier: Apache-2.0
"""Plait's joins as functions of two DataFrames: each writes one SQL query, which Spark runs.

The same code serves classic sessions and Spark Connect. Also as ``df.plait.asof_join(...)``, ....

Conventions that all of them share:

1. ``by`` names the key columns of both sides; ``left_by`` and ``right_by`` where they differ. NULL
   keys match nothing.
2. ``how`` is inner, left, right, full, semi (left rows with a partner) or anti (those without).
3. Columns come out as pandas would have them: a key of one name once, then what else the left side
   has, then the right side; what both have gets the ``suffixes``. A semi or anti join gives the
   left side's columns as they are.
4. Distances (``tolerance``, ``lower``, ``size``, ...) are numbers, timedeltas of Python, pandas
   or NumPy, or SQL text as ``"INTERVAL 5 SECONDS"``. Other SQL text is where the docstring says so.
   It is put into the query as it is.
"""

from plait.join.asof import asof_join
from plait.join.interval import interval_join
from plait.join.ranges import range_join
from plait.join.temporal import temporal_join
from plait.join.window import window_join

__all__ = ["asof_join", "interval_join", "range_join", "temporal_join", "window_join"]
