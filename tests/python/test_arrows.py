# SPDX-License-Identifier: Apache-2.0
"""Laws: which package may import which, and what the core may know."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CORE = ROOT / "jvm/core/src/main/scala/plait"
PYTHON = ROOT / "python/plait"
SPARK = ROOT / "jvm/spark/src/main/scala/plait/spark"

# What each package may import of Plait's own, itself aside.
CORE_ARROWS = {
    "interval": set(),
    "constraint": {"interval"},
    "order": {"interval", "constraint"},
    "join": {"interval", "constraint", "order"},
    "stream": {"interval", "constraint", "order", "join"},
}
SPARK_ARROWS: dict[str, set[str]] = {
    "translate": set(),
    "plan": {"translate"},  # in Java too
    "guard": {"planner"},  # reads the texts of hints and properties as that does
    "sql": {"plan"},
    "side": {"translate"},
    "exec": {"translate", "side"},
    "stream": {"translate", "side"},
    "planner": {"translate", "side", "exec", "stream", "plan"},
    "result": set(),
    "continuous": {"guard", "result"},
}


def imports(file: Path) -> Iterator[str]:
    """The qualified names that a Scala file imports."""
    for line in file.read_text().splitlines():
        if found := re.match(r"\s*import\s+(\S+?)(\{|$|\s)", line):
            yield found[1]


@pytest.mark.parametrize("package", CORE_ARROWS)
def test_core_packages_import_only_what_stands_left_of_them(package: str) -> None:
    for file in (CORE / package).glob("*.scala"):
        for name in imports(file):
            if found := re.match(r"plait\.([a-z]+)\.", name):
                assert found[1] in CORE_ARROWS[package] | {package}, f"{file.name}: {name}"


@pytest.mark.parametrize("package", SPARK_ARROWS)
def test_spark_packages_import_only_what_stands_left_of_them(package: str) -> None:
    for file in (SPARK / package).glob("*.scala"):
        for name in imports(file):
            if found := re.match(r"plait\.spark\.([a-z]+)\.", name):
                assert found[1] in SPARK_ARROWS[package] | {package}, f"{file.name}: {name}"


REMOTE = ("client", "server", "_proto")


def python_imports(file: Path) -> set[str]:
    """The modules of Plait's that a Python file imports, those for types too, without `plait.`."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "plait":
            of = (node.module or "").removeprefix("plait").strip(".")
            found |= {f"{of}.{alias.name}".strip(".") for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {a.name.removeprefix("plait.") for a in node.names if "plait." in a.name}
    return found


def test_the_client_imports_neither_spark_nor_the_server() -> None:
    files = list((PYTHON / "client").glob("*.py"))
    assert files
    for file in files:
        assert "pyspark" not in file.read_text(), file
        for name in python_imports(file):
            assert name.split(".")[0] in {
                "_proto",
                "arrow",
                "client",
                "errors",
                "explanation",
                "extras",
                "sql",
            }, name


def test_the_servers_modules_import_only_what_stands_left_of_them() -> None:
    left_to_right = ("engine", "messages", "service", "app", "main")
    for place, module in enumerate(left_to_right):
        for name in python_imports(PYTHON / "server" / f"{module}.py"):
            parts = name.split(".")
            if parts[0] == "server" and parts[1] in left_to_right:
                assert left_to_right.index(parts[1]) < place, f"{module} imports {name}"
            assert parts[0] not in ("client", "cli"), f"{module} imports {name}"


def test_what_works_on_a_session_knows_neither_client_nor_server() -> None:
    commands = {"cli.py", "__main__.py", "shell.py"}
    for file in (f for f in PYTHON.rglob("*.py") if f.name not in commands):
        if file.relative_to(PYTHON).parts[0] not in (*REMOTE, "commands", "shell"):
            assert not [n for n in python_imports(file) if n.split(".")[0] in REMOTE], file


def test_the_core_knows_no_spark_no_clock_and_no_other_library() -> None:
    for file in CORE.rglob("*.scala"):
        text = file.read_text()
        assert "org.apache.spark" not in text, file
        assert not re.search(r"currentTimeMillis|nanoTime|\.now\(|java\.time\.Clock", text), file
        for name in imports(file):
            # The members of a type or a value of ours, the JVM's library, the rules of time zones.
            of_ours = re.match(r"[A-Z]\w*\._$|transitions\.", name)
            libraries = ("plait", "scala.", "java.util", "java.math", "java.time")
            assert of_ours or name.startswith(libraries), f"{file.name} imports {name}"


def test_every_package_has_its_arrows_stated() -> None:
    assert {d.name for d in CORE.iterdir() if d.is_dir()} == set(CORE_ARROWS)
    in_java = Path(str(SPARK).replace("/scala/", "/java/"))
    packages = [d.name for root in (SPARK, in_java) for d in root.iterdir() if d.is_dir()]
    assert set(packages) == set(SPARK_ARROWS)


def test_python_reads_the_state_format_that_scala_writes() -> None:
    """Known in two places, since a checkpoint is read where no class of Plait's is loaded."""
    layout = (SPARK / "stream/StateLayout.scala").read_text()
    reader = (PYTHON / "stream/state.py").read_text()
    written = re.findall(r"val Version: Long = (\d+)L", layout)
    assert len(written) == 1
    assert re.findall(r'^FORMAT = "format (\d+)"', reader, re.MULTILINE) == written
