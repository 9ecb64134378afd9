# SPDX-License-Identifier: Apache-2.0
"""Virtual environments of benchmarks, beside .venv: what `make test` does not need is not in it.

    programs = environment.made("datafusion", "-c", CONSTRAINTS, "datafusion")

makes build/env-datafusion. What pip was told is written into it; asked for with the same words, it
is not made again.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from benchmarks.options import ROOT

CONSTRAINTS = str(ROOT / "python" / "constraints.txt")


def made(name: str, *requirements: str) -> Path:
    """Return the folder of the programs of an environment with what ``requirements`` tell pip."""
    folder = ROOT / "build" / f"env-{name}"
    stamp = folder / "requirements"
    words = "\n".join(requirements)
    if not stamp.exists() or stamp.read_text() != words:
        print(f"installing into build/{folder.name}: {', '.join(requirements)}", flush=True)
        subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
        pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "-q"]
        subprocess.run([*pip, "--disable-pip-version-check", *requirements], check=True)
        stamp.write_text(words)
    return folder / "bin"
