# SPDX-License-Identifier: Apache-2.0
"""Makes the faults of ``tests/mutants.toml`` one at a time and sees the tests fail.

    $ python scripts/mutants.py
    caught      [1, 5] ∩ [3, 9] begins at 1        by IntervalSetLaws: union, intersection, ...
    SURVIVED    a point is empty
    1 caught, 1 survived
    $ python scripts/mutants.py Rational           only those whose file or text holds the word

The tree is compiled once, in a temporary copy. For each fault its file alone is compiled, and the
suites run, in a JVM of their own that ends at the first failure; as many faults at once as there
are processors. Which suites: those of the core, the ones of its package first and with fewer random
cases than ``make test`` tries; or, of a fault with ``judge = "spark"``, those that ask Spark what
an expression gives. One that takes more time than the limit is caught too: it no longer ends. A
fault whose old text does not stand exactly once in its file, or that does not compile, is an error
of the list and stops the run.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import tomllib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("interval", "constraint", "order", "join", "stream")
CASES = "300"
JVM = ["java", "-Xss4m", "-XX:+UseSerialGC"]


@dataclass(frozen=True)
class Judge:
    """The suites that must notice a fault, of a project of the build, the likeliest first."""

    project: str
    suites: tuple[str, ...]
    limit: int
    """Seconds of a processor; without a fault all suites together take a third of it."""

    def named(self, tree: Path) -> list[str]:
        """Return the names of the test classes."""
        tests = tree / "jvm" / self.project / "src/test/scala/plait"
        files = [file for pattern in self.suites for file in sorted(tests.glob(pattern))]
        return [
            ".".join(["plait", *file.relative_to(tests).parts[:-1], name])
            for file in dict.fromkeys(files)
            for name in re.findall(r"^class (\w+) extends [\w.]*Suite", file.read_text(), re.M)
        ]


JUDGES = {
    "core": Judge("core", tuple(f"{package}/*.scala" for package in PACKAGES), limit=420),
    "spark": Judge(
        "spark",
        tuple(f"spark/{name}.scala" for name in ("NamedConditions", "OperationLaws", "*Laws")),
        limit=1500,
    ),
}


class ListError(Exception):
    """The list of mutants, and not the tree, is wrong."""


@dataclass(frozen=True)
class Mutant:
    """One text in one file to be replaced by another."""

    file: str
    old: str
    new: str
    breaks: str
    judge: str = "core"

    @property
    def package(self) -> str:
        """The package whose suites are the likeliest to notice."""
        return self.file.split("/", maxsplit=1)[0]

    @property
    def source(self) -> Path:
        """Its file, in the tree."""
        project = "spark" if self.package == "spark" else "core"
        return Path("jvm") / project / "src/main/scala/plait" / self.file

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


class Court:
    """A judge's project and its tests, compiled in a copy of the tree."""

    def __init__(self, tree: Path, judge: Judge) -> None:
        """Compile them."""
        project = judge.project
        wanted = ("Test/compile", "Test/fullClasspath", "Test/javaOptions")
        tasks = [f"{project}/{wanted[0]}", *(f"export {project}/{name}" for name in wanted[1:])]
        built = subprocess.run(
            ["./sbt", "-Dsbt.color=false", *tasks],
            check=False,
            cwd=tree,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
        )
        if built.returncode != 0:
            raise ListError(f"the tree does not compile:\n{built.stdout}")
        self._tree = tree
        self._judge = judge
        said = [line for line in built.stdout.splitlines() if line and not line.startswith("[")]
        self._classes = next(line for line in reversed(said) if os.pathsep in line and "/" in line)
        self._options = [word for word in said[-1].split() if word.startswith("-")]
        self._suites = judge.named(tree)
        spark = next(tree.glob(".venv/lib/python3.*/site-packages/pyspark/jars"))
        names = ("scala-compiler", "scala-reflect", "scala-library")
        self._compiler = os.pathsep.join(str(next(spark.glob(f"{n}-2.13.*.jar"))) for n in names)

    def failure_with(self, mutant: Mutant) -> str | None:
        """Make the fault in its file alone, and return what failed first of it."""
        text = (self._tree / mutant.source).read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory(dir=self._tree, prefix="mutant-") as folder:
            source = Path(folder) / "source" / mutant.file
            classes = Path(folder) / "classes"
            source.parent.mkdir(parents=True)
            classes.mkdir()
            source.write_text(mutant.applied(text), encoding="utf-8")
            self._compile(source, classes, mutant.breaks)
            return self.failure(mutant.package, classes)

    def _compile(self, source: Path, to: Path, name: str) -> None:
        compiler = [*JVM, "-XX:TieredStopAtLevel=1", "-cp", self._compiler, "scala.tools.nsc.Main"]
        options = ["-Xsource:3", "-nowarn", "-cp", self._classes, "-d", str(to)]
        compiled = subprocess.run(
            [*compiler, *options, str(source)],
            check=False,
            cwd=self._tree,
            capture_output=True,
            text=True,
        )
        if compiled.returncode != 0:
            raise ListError(f"does not compile: {name}\n{compiled.stdout}{compiled.stderr}")

    def failure(self, package: str, *classes: Path) -> str | None:
        """Run the suites, a package's first, and return what failed first, None if nothing did.

        What is in the folders ``classes`` stands for the project's own.
        """
        path = os.pathsep.join([*map(str, classes), self._classes])
        limited = ["sh", "-c", 'ulimit -t "$0" && exec "$@"', str(self._judge.limit)]
        near = [name for name in self._suites if name.startswith(f"plait.{package}.")]
        far = [name for name in self._suites if name not in near]
        ran = subprocess.run(
            [*limited, *JVM, *self._options, "-cp", path, "plait.FirstFailure", *near, *far],
            check=False,
            cwd=self._tree,
            env={**os.environ, "PLAIT_CASES": CASES},
            capture_output=True,
            text=True,
        )
        if ran.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
            return f"no end after {self._judge.limit} seconds"
        if ran.returncode not in (0, 1):
            raise ListError(f"the suites did not run:\n{ran.stdout[-2000:]}{ran.stderr[-2000:]}")
        return ran.stdout.strip().splitlines()[-1] if ran.returncode else None


def judged(kept: list[Mutant], court: Court) -> int:
    """Try each, say what becomes of it, and return how many survived."""
    survived = 0
    if failed := court.failure(PACKAGES[0]):
        raise ListError(f"the tests fail without any fault: {failed}")
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for mutant, failed in zip(kept, pool.map(court.failure_with, kept), strict=True):
            survived += failed is None
            word, by = ("caught", f"   by {failed}") if failed else ("SURVIVED", "")
            print(f"{word:<12}{mutant.breaks}{by}", flush=True)
    return survived


def main(words: list[str]) -> int:
    """Try every mutant of the list, or those that hold one of the words; 1 if one survives."""
    kept = mutants()
    for mutant in kept:
        mutant.applied((ROOT / mutant.source).read_text(encoding="utf-8"))
    if words:
        kept = [m for m in kept if any(word in m.file or word in m.breaks for word in words)]
    survived = 0
    with tempfile.TemporaryDirectory(prefix="plait-mutants-") as folder:
        tree = Path(folder)
        copy_tree(tree)
        for name, judge in JUDGES.items():
            if own := [m for m in kept if m.judge == name]:
                survived += judged(own, Court(tree, judge))
    print(f"{len(kept) - survived} caught, {survived} survived")
    return 1 if survived else 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except ListError as error:
        sys.exit(f"plait: {error}")
