# SPDX-License-Identifier: Apache-2.0
"""Examples: one version everywhere, and archives that carry what they must."""

from __future__ import annotations

import re
import subprocess
import sys
import tarfile
import zipfile
from email.parser import Parser
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import plait
from plait import _jvm

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="module")
def version(root: Path) -> str:
    return (root / "VERSION").read_text().strip()


def build(root: Path, kind: str, into: Path) -> Path:
    command = [sys.executable, "-m", "build", f"--{kind}", "--no-isolation", "-o", into, root]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (archive,) = into.iterdir()
    return archive


@pytest.mark.spark
def test_the_jar_has_the_version_of_the_repository(version: str) -> None:
    with zipfile.ZipFile(plait.jar_path()) as jar:
        manifest = Parser().parsestr(jar.read("META-INF/MANIFEST.MF").decode())
    assert manifest["Implementation-Version"] == version, "the jar is old: run ./sbt jar"


@pytest.mark.spark
def test_the_installed_package_has_the_version_of_the_repository(version: str) -> None:
    fix = "the installed package is old: run pip install --no-build-isolation -e ."
    assert metadata.version("plait") == version, fix
    assert plait.__version__ == version, fix


def test_the_jar_in_a_session_has_the_version_of_the_package(spark: SparkSession) -> None:
    assert _jvm.report(spark).version() == plait.__version__, "the jar is old: run ./sbt jar"


@pytest.fixture(scope="module")
def wheel(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(root, "wheel", tmp_path_factory.mktemp("wheel"))


@pytest.mark.spark
def test_a_wheel_carries_the_jar_and_its_licence(wheel: Path, version: str) -> None:
    assert wheel.name == f"plait-{version}-py3-none-any.whl"
    names = zipfile.ZipFile(wheel).namelist()
    assert {name for name in names if "jars/" in name} == {f"plait/jars/plait-{version}.jar"}
    assert f"plait-{version}.dist-info/licenses/LICENSE" in names
    assert "plait/py.typed" in names


@pytest.mark.spark
def test_a_wheel_needs_nothing_unless_an_extra_is_asked_for(wheel: Path) -> None:
    (entry,) = (n for n in zipfile.ZipFile(wheel).namelist() if n.endswith("/METADATA"))
    about = Parser().parsestr(zipfile.ZipFile(wheel).read(entry).decode())
    extras = {"client", "demo", "dev", "server", "shell", "spark"}
    assert set(about.get_all("Provides-Extra", [])) == extras
    requirements = about.get_all("Requires-Dist", [])
    assert [needed for needed in requirements if "extra ==" not in needed] == []


def test_a_source_archive_carries_what_the_jar_is_built_from(
    root: Path, tmp_path: Path, version: str
) -> None:
    archive = build(root, "sdist", tmp_path)
    with tarfile.open(archive) as sdist:
        modes = {
            member.name.removeprefix(f"plait-{version}/"): member.mode
            for member in sdist.getmembers()
        }
    needed = {
        "LICENSE",
        "README.md",
        "VERSION",
        "build.sbt",
        "docker/Dockerfile",
        "project/plugins.sbt",
        "sbt",
        "project/build.properties",
        "python/constraints.txt",
        "scripts/build_jar.py",
        "scripts/toolchain.sh",
    }
    assert needed <= modes.keys()
    assert any(name.startswith("jvm/core/src/main/") for name in modes)
    assert modes["sbt"] & 0o111, "./sbt must stay executable"
    assert [
        name for name in modes if re.search(r"/target/|\.jar$|\.venv|docker/secrets/", name)
    ] == []
