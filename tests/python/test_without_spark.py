# SPDX-License-Identifier: Apache-2.0
"""Examples: the package in an environment of its own that has Python alone."""

from __future__ import annotations

import os
import re
import subprocess
import venv
from collections.abc import Callable
from pathlib import Path

import pytest

from plait.extras import how_to_get

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory, root: Path) -> Run:
    environment = tmp_path_factory.mktemp("bare")
    venv.create(environment, with_pip=False, symlinks=True)
    kept = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [environment / "bin" / "python", *arguments],
            env=kept | {"PYTHONPATH": str(root / "python")},
            capture_output=True,
            text=True,
            check=False,
        )

    return run


def test_the_environment_has_no_pyspark(run: Run) -> None:
    assert "No module named 'pyspark'" in run("-c", "import pyspark").stderr


def test_plait_and_its_command_can_be_imported(run: Run) -> None:
    done = run("-W", "error", "-c", "import plait, plait.cli; print(plait.__version__)")
    assert (done.returncode, done.stderr) == (0, "")


def test_importing_plait_loads_nothing_from_outside_python(run: Run) -> None:
    program = """
import sys
before = set(sys.modules)
import plait, plait.cli
ours = {name.split(".")[0] for name in set(sys.modules) - before}
print(*sorted(ours - set(sys.stdlib_module_names)))
"""
    assert run("-c", program).stdout.split() == ["plait"]


def test_plait_says_its_version(run: Run, root: Path) -> None:
    done = run("-m", "plait", "--version")
    assert done.stdout == f"plait {(root / 'VERSION').read_text()}"


@pytest.mark.parametrize("command", ["sql", "explain", "shell"])
def test_a_command_that_needs_more_says_how_to_get_it(run: Run, command: str) -> None:
    done = run("-m", "plait", command, "SELECT 1")
    assert (done.returncode, done.stdout) == (1, "")
    assert re.search(r"pip install '\.\[\w+\]' in a checkout of Plait, or of its", done.stderr)
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("call", ["plait.session()", "plait.register(None)"])
def test_what_needs_spark_says_how_to_get_it(run: Run, call: str) -> None:
    last_line = run("-c", f"import plait; {call}").stderr.splitlines()[-1]
    assert last_line == f"plait.errors.PlaitError: Spark is missing: {how_to_get('spark')}."
