# SPDX-License-Identifier: Apache-2.0
"""Made by scripts/stubs.py; see proto/."""
