# SPDX-License-Identifier: Apache-2.0
"""One file a claim: peers side by side in the same run, medians, results as text and as picture."""
