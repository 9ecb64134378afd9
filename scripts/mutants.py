# SPDX-License-Identifier: Apache-2.0
"""Makes the faults of ``tests/mutants.toml`` one at a time and sees the core's tests fail.

    $ python scripts/mutants.py
    caught      [1, 5] ∩ [3, 9] begins at 1
    SURVIVED    a point is empty
    1 caught, 1 survived

All of them are made in one temporary copy of the tree, and tried by one build that stays open, with
fewer random cases than ``make test`` tries. A fault whose old text does not stand exactly once in
its file, or that does not compile, is an error of the list and stops the run.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import IO

ROOT = Path(__file__).resolve().parent.parent
SOURCES = Path("jvm/core/src/main/scala/plait")
TESTS = "core/testOnly plait.interval.* plait.constraint.* plait.order.*"
CASES = "300"


class ListError(Exception):
    """The list of mutants, and not the tree, is wrong."""


@dataclass(frozen=True)
class Mutant:
    """One text in one file to be replaced by another."""

    file: str
    old: str
    new: str
    breaks: str

    def applied(self, text: str) -> str:
        """Return the text with the fault in it.

        >>> Mutant("A.scala", "a < b", "a <= b", "").applied("if (a < b) a else b")
        'if (a <= b) a else b'
        """
        if (count := text.count(self.old)) != 1:
            raise ListError(f"{self.file} holds {count} times, not once: {self.old}")
        return text.replace(self.old, self.new)


def mutants() -> list[Mutant]:
    """Return the kept list."""
    with (ROOT / "tests" / "mutants.toml").open("rb") as file:
        return [Mutant(**entry) for entry in tomllib.load(file)["mutant"]]


def copy_tree(to: Path) -> None:
    """Copy what git knows, or would know, and link what the build has fetched."""
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listed, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for name in filter(None, names.split("\0")):
        source = ROOT / name
        if source.is_file():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, to / name)
    for name in (".venv", ".sbt-launcher"):
        if (ROOT / name).exists() and not (to / name).exists():
            (to / name).symlink_to((ROOT / name).resolve())


class Build:
    """One build tool that stays open and runs the tests as often as asked."""

    def __init__(self, tree: Path) -> None:
        """Start it in this tree."""
        self._process = subprocess.Popen(
            [
                "./sbt",
                "-Dsbt.supershell=false",
                "-Dsbt.color=false",
                "-Dsbt.server.autostart=false",
            ],
            cwd=tree,
            env={**os.environ, "PLAIT_CASES": CASES},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def __enter__(self) -> Build:
        """Hand it out."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close its input, which ends it."""
        self._stream(self._process.stdin).close()
        self._process.wait()

    def test(self) -> tuple[bool, str]:
        """Run the tests; return whether all passed, and all that was printed."""
        stdin = self._stream(self._process.stdin)
        stdin.write(f"{TESTS}\n")
        stdin.flush()
        printed = []
        for line in self._stream(self._process.stdout):
            printed.append(line)
            if ended := re.search(r"\[(success|error)\].* Total time:", line):
                return ended[1] == "success", "".join(printed)
        raise ListError("the build ended early:\n" + "".join(printed[-40:]))

    @staticmethod
    def _stream(stream: IO[str] | None) -> IO[str]:
        assert stream is not None
        return stream


def survives(mutant: Mutant, tree: Path, build: Build) -> bool:
    """Make the fault, run the tests, and undo it."""
    path = tree / SOURCES / mutant.file
    text = path.read_text(encoding="utf-8")
    path.write_text(mutant.applied(text), encoding="utf-8")
    try:
        passed, printed = build.test()
    finally:
        path.write_text(text, encoding="utf-8")
    if "Compilation failed" in printed:
        raise ListError(f"does not compile: {mutant.breaks}\n{printed}")
    return passed


def main() -> int:
    """Try every mutant of the list; 1 if one survives."""
    kept = mutants()
    for mutant in kept:
        mutant.applied((ROOT / SOURCES / mutant.file).read_text(encoding="utf-8"))
    survived = 0
    with tempfile.TemporaryDirectory(prefix="plait-mutants-") as folder:
        tree = Path(folder)
        copy_tree(tree)
        with Build(tree) as build:
            passed, printed = build.test()
            if not passed:
                raise ListError(f"the tests fail without any fault:\n{printed}")
            for mutant in kept:
                is_left = survives(mutant, tree, build)
                survived += is_left
                print(f"{'SURVIVED' if is_left else 'caught':<12}{mutant.breaks}", flush=True)
    print(f"{len(kept) - survived} caught, {survived} survived")
    return 1 if survived else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except ListError as error:
        sys.exit(f"plait: {error}")
