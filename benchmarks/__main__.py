# SPDX-License-Identifier: Apache-2.0
"""Runs every benchmark: `make bench`, or `python -m benchmarks` in the virtual environment."""

from benchmarks import w1

if __name__ == "__main__":
    w1.main()
