# SPDX-License-Identifier: Apache-2.0
"""Examples: the scripts behind ./sbt and make."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest


def script(root: Path, name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, root / "scripts" / f"{name}.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # its data classes look for it
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def tally(root: Path) -> ModuleType:
    return script(root, "tally")


def fake_jdk(home: Path, version: str, *programs: str) -> Path:
    (home / "bin").mkdir(parents=True)
    for program in programs:
        path = home / "bin" / program
        path.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2025-01-01' >&2\n")
        path.chmod(0o755)
    return home


def is_jdk(root: Path, home: Path) -> bool:
    script = '. scripts/toolchain.sh; is_jdk "$1"'
    return subprocess.run(["sh", "-c", script, "sh", home], cwd=root, check=False).returncode == 0


@pytest.mark.parametrize("version", ["17", "17.0.15", "21.0.2"])
def test_a_jdk_17_or_21_will_do(root: Path, tmp_path: Path, version: str) -> None:
    assert is_jdk(root, fake_jdk(tmp_path / "jdk", version, "java", "javac"))


@pytest.mark.parametrize("version", ["1.8.0_402", "11.0.2", "25.0.1", "170.0.1"])
def test_another_jdk_will_not_do(root: Path, tmp_path: Path, version: str) -> None:
    assert not is_jdk(root, fake_jdk(tmp_path / "jdk", version, "java", "javac"))


def test_a_runtime_without_a_compiler_will_not_do(root: Path, tmp_path: Path) -> None:
    assert not is_jdk(root, fake_jdk(tmp_path / "jre", "17.0.15", "java"))


def test_the_tally_counts_each_case_of_each_report_once(tally: ModuleType, tmp_path: Path) -> None:
    munit, pytest_ = tmp_path / "munit.xml", tmp_path / "pytest.xml"
    munit.write_text(
        '<testsuite><testcase name="a"/><testcase name="b"><failure/></testcase></testsuite>'
    )
    pytest_.write_text(
        '<testsuites><testsuite><testcase name="c"/><testcase name="d"><error/></testcase>'
        "</testsuite></testsuites>"
    )
    assert tally.tally([munit, pytest_]) == "2 passed, 2 failed"


def test_the_tally_names_skipped_cases_only_if_there_are_any(
    tally: ModuleType, tmp_path: Path
) -> None:
    report = tmp_path / "report.xml"
    report.write_text('<testsuite><testcase name="a"><skipped/></testcase></testsuite>')
    assert tally.tally([report]) == "0 passed, 0 failed, 1 skipped"


def test_each_kept_fault_has_its_one_place_in_the_sources(root: Path) -> None:
    mutants = script(root, "mutants")
    kept = mutants.mutants()
    assert len(kept) >= 100
    for mutant in kept:
        text = (root / mutant.source).read_text(encoding="utf-8")
        assert mutant.applied(text) != text, mutant.breaks


def test_make_help_has_a_line_for_each_target(root: Path) -> None:
    command = ["make", "--no-print-directory", "help"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    targets = " ".join(line.split()[0] for line in done.stdout.splitlines())
    assert targets == "help demo test quick fmt lint soak mutants bench stubs dist"
