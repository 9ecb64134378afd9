# SPDX-License-Identifier: Apache-2.0
"""Examples: how the jar gets into a builder; no session is started."""

from __future__ import annotations

import importlib
from pathlib import Path
from types import ModuleType

import pyspark
import pytest
from pyspark import SparkContext
from pyspark.sql import SparkSession

import plait


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ModuleType:
    """The module with a jar that it finds, in a process where no JVM runs yet."""
    module = importlib.import_module("plait.session")
    jar = tmp_path / "plait-1.2.3.jar"
    monkeypatch.setattr(module, "jar_path", lambda: jar)
    monkeypatch.setattr(SparkContext, "_gateway", None)
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    for name in ("PYSPARK_GATEWAY_PORT", "PYSPARK_SUBMIT_ARGS"):
        monkeypatch.delenv(name, raising=False)
    return module


def options(builder: SparkSession.Builder) -> dict[str, str]:
    return dict(builder._options)


def test_register_returns_the_builder_it_was_given(module: ModuleType) -> None:
    builder = SparkSession.builder
    assert plait.register(builder) is builder


def test_register_sets_spark_jars_and_nothing_else(module: ModuleType, tmp_path: Path) -> None:
    registered = plait.register(SparkSession.builder.master("local[2]"))
    assert options(registered) == {
        "spark.master": "local[2]",
        "spark.jars": f"{tmp_path}/plait-1.2.3.jar",
    }


def test_register_keeps_the_jars_that_the_builder_has(module: ModuleType, tmp_path: Path) -> None:
    registered = plait.register(SparkSession.builder.config("spark.jars", "a.jar,b.jar"))
    assert options(registered)["spark.jars"] == f"a.jar,b.jar,{tmp_path}/plait-1.2.3.jar"


def test_register_keeps_the_jars_of_spark_defaults(module: ModuleType, tmp_path: Path) -> None:
    defaults = "# spark.jars c.jar\nspark.jars  a.jar,b.jar\nspark.jars.packages x:y:1\n"
    (tmp_path / "spark-defaults.conf").write_text(defaults)
    registered = plait.register(SparkSession.builder)
    assert options(registered)["spark.jars"] == f"a.jar,b.jar,{tmp_path}/plait-1.2.3.jar"


def test_registering_twice_is_registering_once(module: ModuleType) -> None:
    once = options(plait.register(SparkSession.builder))
    assert options(plait.register(plait.register(SparkSession.builder))) == once


@pytest.mark.parametrize(
    "given",
    ["--jars a.jar", "--jars=a.jar", "--conf spark.jars=a.jar", "--conf=spark.jars=a.jar"],
)
def test_register_refuses_jars_of_the_command_line_that_lack_plait(
    module: ModuleType, monkeypatch: pytest.MonkeyPatch, given: str
) -> None:
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", f"{given} pyspark-shell")
    with pytest.raises(plait.PlaitError, match=r"add .*/plait-1\.2\.3\.jar there"):
        plait.register(SparkSession.builder)


def test_register_takes_jars_of_the_command_line_that_have_plait(
    module: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = "--conf spark.jars=b.jar --jars a.jar,/x/plait-1.2.3.jar pyspark-shell"
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", given)
    registered = plait.register(SparkSession.builder)
    assert options(registered)["spark.jars"] == "a.jar,/x/plait-1.2.3.jar"


def test_register_takes_a_builder_and_no_session_that_runs(module: ModuleType) -> None:
    with pytest.raises(plait.PlaitError, match="not SparkSession: a session that runs cannot be"):
        plait.register(object.__new__(SparkSession))  # type: ignore[arg-type]
    with pytest.raises(plait.PlaitError, match=r"not str: give SparkSession\.builder, or call"):
        plait.register("local[2]")  # type: ignore[arg-type]


@pytest.mark.parametrize("other", ["4.2.1", "4.4.0", "5.3.0", "4.30.0"])
def test_register_refuses_another_spark_and_names_both_versions(
    module: ModuleType, monkeypatch: pytest.MonkeyPatch, other: str
) -> None:
    monkeypatch.setattr(pyspark, "__version__", other)
    with pytest.raises(plait.PlaitError, match=rf"for Spark 4\.3 and this is Spark {other}: pip"):
        plait.register(SparkSession.builder)


def test_a_patch_release_of_the_same_spark_is_taken(
    module: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pyspark, "__version__", "4.3.7")
    plait.register(SparkSession.builder)


def test_a_missing_jar_names_the_command_that_makes_it(monkeypatch: pytest.MonkeyPatch) -> None:
    module = importlib.import_module("plait.session")
    monkeypatch.setattr(module, "version", lambda: "9.9.9")
    with pytest.raises(plait.PlaitError, match=r"plait-9\.9\.9\.jar is missing: .*\./sbt jar"):
        plait.jar_path()


def test_session_names_the_keys_it_takes_when_it_gets_another() -> None:
    with pytest.raises(plait.PlaitError, match="does not know mastr: it takes master, app_name"):
        plait.session(mastr="local[2]")
