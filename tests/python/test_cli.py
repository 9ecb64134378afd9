# SPDX-License-Identifier: Apache-2.0
"""Examples: the command line up to its subcommands."""

from __future__ import annotations

import sys
from types import ModuleType

import pytest

import plait
from plait.cli import COMMANDS, main


@pytest.fixture
def demo(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    demo = ModuleType("plait.demo")
    monkeypatch.setitem(sys.modules, "plait.demo", demo)
    monkeypatch.setattr(plait, "demo", demo, raising=False)
    return demo


def test_without_a_command_it_lists_them_and_exits_with_2(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main([]) == 2
    assert "demo" in capsys.readouterr().out


def test_an_unknown_command_exits_with_2_and_lists_the_commands(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["dance"])
    told = capsys.readouterr().err
    assert "'dance'" in told
    assert all(name in told for name in COMMANDS)


def test_what_the_command_is_told_before_a_subcommand_is_not_the_subcommands(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"plait {plait.__version__}\n"


def test_what_follows_demo_is_for_demo_to_read(demo: ModuleType) -> None:
    seen: list[str] = []
    demo.main = lambda argv: seen.extend(argv) or 0  # type: ignore[attr-defined]
    assert main(["demo", "--help", "x"]) == 0
    assert seen == ["--help", "x"]


def test_an_error_of_plait_is_one_line_and_exit_code_1(
    demo: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(argv: list[str]) -> int:
        raise plait.PlaitError("Spark is missing.")

    demo.main = fail  # type: ignore[attr-defined]
    assert main(["demo"]) == 1
    assert capsys.readouterr().err == "plait: Spark is missing.\n"
