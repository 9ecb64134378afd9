# SPDX-License-Identifier: Apache-2.0
"""``python -m plait`` is the command ``plait``."""

import sys

from plait.cli import main

if __name__ == "__main__":
    sys.exit(main())
