# SPDX-License-Identifier: Apache-2.0
"""The errors that Plait raises; each message is a sentence that names the way out."""


class PlaitError(Exception):
    """Anything that Plait cannot do as asked."""


class PlaitNotLoaded(PlaitError):
    """The Spark session at hand runs without Plait's jar."""
