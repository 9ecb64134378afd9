# SPDX-License-Identifier: Apache-2.0
"""Examples: tokens, certificates, and what callers see of one another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from tests.python.authority import Authority
from tests.python.endpoint import Start, endpoints

from plait._proto import plait_pb2
from plait.cli import main
from plait.client import Client, PlaitError, RemoteError, Tls
from plait.client.call import check as checked
from plait.server import app, config
from plait.server.callers import digest

ALICE = config.Token("alice", digest("alice's"), ("read", "admin"))
BOB = config.Token("bob", digest("bob's"), ("read",))

TOKEN = f"[[token]]\nname = 'x'\nsha256 = '{'1' * 64}'"

start = pytest.fixture(name="start")(endpoints)


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path)


@pytest.mark.parametrize("token", [None, "nobody's", "alice", "", "alice's "])
def test_a_call_without_a_known_token_is_unauthenticated(start: Start, token: str | None) -> None:
    endpoint = start(tokens=(ALICE, BOB))
    if token == "alice's ":  # spaces around a token are not part of it
        assert list(endpoint.client(token=token).info().scopes) == ["read", "admin"]
        return
    with pytest.raises(RemoteError, match=r"token") as caught:
        list(endpoint.client(token=token).sql("rows 1"))
    assert caught.value.status == "UNAUTHENTICATED"
    assert endpoint.engine.sources == []


def test_a_token_gives_its_scopes_to_its_statements(start: Start) -> None:
    endpoint = start(tokens=(ALICE, BOB))
    for token, scopes in (("alice's", ("read", "admin")), ("bob's", ("read",))):
        list(endpoint.client(token=token).sql("rows 1"))
        assert endpoint.source.statement.scopes == scopes


def test_one_caller_neither_reads_nor_cancels_what_another_runs(start: Start) -> None:
    endpoint = start(tokens=(ALICE, BOB))
    alice = endpoint.client(token="alice's", session="s")
    bob = endpoint.client(token="bob's", session="s")
    cursor = alice.sql("hang")
    source = endpoint.source
    for call, request in (
        (bob._stub.Cancel, plait_pb2.CancelRequest(session="s", operation=cursor.id)),
        (bob._stub.Attach, plait_pb2.AttachRequest(session="s", operation=cursor.id)),
    ):
        with pytest.raises(grpc.RpcError, match="There is no operation"):
            answer = call(request, metadata=bob._metadata)
            list(answer)
    assert not source.cancelled.is_set()
    cursor.cancel()


def test_sessions_of_one_name_are_two_sessions_of_two_callers(start: Start) -> None:
    endpoint = start(tokens=(ALICE, BOB))
    for token in ("alice's", "bob's", "alice's"):
        list(endpoint.client(token=token, session="same").sql("rows 1"))
    assert endpoint.engine.sessions == 2


def test_health_needs_no_token(start: Start) -> None:
    endpoint = start(tokens=(ALICE,))
    with grpc.insecure_channel(f"localhost:{endpoint.port}") as channel:
        stub = health_pb2_grpc.HealthStub(channel)
        for service in ("", "plait.v1.PlaitService"):
            answer = stub.Check(health_pb2.HealthCheckRequest(service=service))
            assert answer.status == health_pb2.HealthCheckResponse.SERVING


def test_with_tls_a_client_that_trusts_the_authority_is_served(
    start: Start, authority: Authority
) -> None:
    endpoint = start(tls=config.Tls(*authority.issue("server", "localhost")), tokens=(BOB,))
    client = endpoint.client(tls=Tls(ca=authority.file), token="bob's")
    assert client.sql("rows 2").arrow().num_rows == 6


def test_with_tls_a_client_without_it_or_without_the_authority_is_not_served(
    start: Start, authority: Authority
) -> None:
    endpoint = start(tls=config.Tls(*authority.issue("server", "localhost")))
    for tls in (False, True):
        with pytest.raises(RemoteError, match="No Plait server answers") as caught:
            endpoint.client(tls=tls, timeout=3).info()
        assert caught.value.status == "UNAVAILABLE"


def test_why_a_connection_over_tls_cannot_be_made_is_told(
    start: Start, authority: Authority, tmp_path: Path
) -> None:
    (tmp_path / "other").mkdir()
    other = Authority(tmp_path / "other")
    key = config.Tls(*authority.issue("server", "127.0.0.1"))
    address = f"127.0.0.1:{start(tls=key).port}"
    named = f"127.0.0.1:{start(tls=config.Tls(*authority.issue('named', 'db.example'))).port}"
    mutual = f"127.0.0.1:{start(tls=replace(key, client_ca=authority.file)).port}"
    for tls, port, hint in (
        (Tls(ca=other.file), address, r"--ca FILE, or tls=Tls\(ca=...\)"),
        (Tls(ca=authority.file), named, r"--server-name NAME, or tls=Tls\(server_name=...\)"),
        (False, address, r"may want TLS \(--tls, or tls=True\)"),
        (Tls(ca=authority.file), mutual, r"a client's certificate \(--certificate and --key"),
        (Tls(ca=authority.file), f"127.0.0.1:{start().port}", "speaks no TLS"),
    ):
        with Client(port, tls=tls) as client, pytest.raises(RemoteError, match=hint) as caught:
            client.info()
        assert caught.value.status == "UNAVAILABLE"


@pytest.mark.parametrize("field", ["ca", "certificate", "key"])
def test_a_file_that_is_no_pem_is_refused_before_anything_is_sent(
    authority: Authority, tmp_path: Path, field: str
) -> None:
    certificate, key = authority.issue("me", "me.example")
    (tmp_path / "none").write_text("no PEM")
    files = {"ca": authority.file, "certificate": certificate, "key": key}
    with pytest.raises(PlaitError, match="none is no PEM file: it has no line -----BEGIN"):
        Client("h:1", tls=Tls(**files | {field: tmp_path / "none"}))


@pytest.mark.parametrize("token", ["pläit", "plait_x\n"])
def test_a_token_that_no_header_can_hold_is_refused_before_anything_is_sent(token: str) -> None:
    with pytest.raises(PlaitError, match="only printable ASCII characters"):
        Client("localhost:1", token=token)


def test_with_a_client_authority_only_clients_with_its_certificates_are_served(
    start: Start, authority: Authority
) -> None:
    server = config.Tls(*authority.issue("server", "localhost"), client_ca=authority.file)
    endpoint = start(tls=server)
    certificate, key = authority.issue("carol", "carol.example")
    known = endpoint.client(tls=Tls(authority.file, certificate, key))
    assert known.sql("rows 1").arrow().num_rows == 3
    with pytest.raises(RemoteError):
        endpoint.client(tls=Tls(authority.file), timeout=3).info()


def test_clients_with_different_certificates_are_different_callers(
    start: Start, authority: Authority
) -> None:
    server = config.Tls(*authority.issue("server", "localhost"), client_ca=authority.file)
    endpoint = start(tls=server)
    for name in ("carol", "dave"):
        tls = Tls(authority.file, *authority.issue(name, f"{name}.example"))
        list(endpoint.client(tls=tls, session="same").sql("rows 1"))
    assert endpoint.engine.sessions == 2


def test_a_renewed_certificate_is_used_without_a_restart(
    start: Start, authority: Authority, tmp_path: Path
) -> None:
    files = authority.issue("server", "localhost")
    endpoint = start(tls=config.Tls(*files))
    assert endpoint.client(tls=Tls(ca=authority.file)).info().version == "0.1"
    (tmp_path / "other").mkdir()
    other = Authority(tmp_path / "other")
    for old, new in zip(files, other.issue("server", "localhost"), strict=True):
        old.write_bytes(new.read_bytes())
    assert endpoint.client(tls=Tls(ca=other.file)).info().version == "0.1"


def test_a_renewed_client_authority_is_the_one_that_counts_without_a_restart(
    start: Start, authority: Authority, tmp_path: Path
) -> None:
    (tmp_path / "other").mkdir()
    other = Authority(tmp_path / "other")
    trusted = tmp_path / "clients.pem"
    trusted.write_bytes(authority.file.read_bytes())
    files = authority.issue("server", "localhost")
    endpoint = start(tls=config.Tls(*files, client_ca=trusted))
    clients = {
        issuer: Tls(authority.file, *issuer.issue("carol", "carol.example"))
        for issuer in (authority, other)
    }

    def is_served(issuer: Authority) -> bool:
        try:
            return endpoint.client(tls=clients[issuer], timeout=3).info().version == "0.1"
        except RemoteError as error:
            assert error.status == "UNAVAILABLE"
            return False

    connected = endpoint.client(tls=clients[authority])
    assert connected.info().version == "0.1"
    assert (is_served(authority), is_served(other)) == (True, False)
    trusted.write_bytes(other.file.read_bytes())
    assert (is_served(authority), is_served(other)) == (False, True)
    trusted.write_bytes(authority.file.read_bytes() + other.file.read_bytes())
    assert (is_served(authority), is_served(other)) == (True, True)
    trusted.write_text("no PEM")
    assert (is_served(authority), is_served(other)) == (True, True)
    assert connected.info().version == "0.1"  # who was connected stays so


def test_a_broken_certificate_file_leaves_the_old_one_in_use(
    start: Start, authority: Authority
) -> None:
    certificate, key = authority.issue("server", "localhost")
    endpoint = start(tls=config.Tls(certificate, key))
    certificate.write_text("no PEM")
    assert endpoint.client(tls=Tls(ca=authority.file)).info().version == "0.1"


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("h", "has no port"),
        (":15777", "has no host"),
        ("h:99999", "a port that is no number from 1 to 65535"),
        ("h:0", "a port that is no number"),
        ("h:abc", "a port that is no number"),
        ("[::1]", "a port that is no number"),
        ("::1:15110", r"stands in brackets, \[::1\]:15110"),
        ("http://h:15110", "is a URL or a path"),
        ("h:15110/", "is a URL or a path"),
    ],
)
def test_a_wrong_address_is_refused_before_anything_is_sent(address: str, message: str) -> None:
    with pytest.raises(PlaitError, match=f'{message}.*: give it as "host:port"'):
        checked(address, None, False)


@pytest.mark.parametrize(
    "address", ["h:1", "127.0.0.1:65535", "[::1]:15110", "dns:///h:1", "unix:/run/plait"]
)
def test_an_address_of_a_host_and_a_port_or_of_grpcs_own_is_taken(address: str) -> None:
    checked(address, None, False)


def test_a_file_is_not_taken_for_tls() -> None:
    with pytest.raises(PlaitError, match=r'not \'ca.pem\': .* tls=Tls\(ca="ca.pem"\)'):
        Client("h:1", tls="ca.pem")  # type: ignore[arg-type]


def test_a_token_is_not_sent_in_clear_to_another_machine() -> None:
    with pytest.raises(PlaitError, match="for all to read"):
        Client("db.example:15110", token="secret")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"host": "0.0.0.0"}, "can be reached from other machines, and this server has no TLS"),
        ({"host": "::"}, "can be reached from other machines"),
        ({"host": "db.example"}, "can be reached from other machines"),
        *(
            ({"metrics_host": host, "metrics_port": 9090}, "neither TLS nor tokens")
            for host in ("0.0.0.0", "::", "", "10.0.0.1", "db.example")
        ),
        ({"scopes": ("root",)}, "There is no scope root: scopes are read, stream, admin"),
        ({"port": 99999}, "port must be from 0 to 65535, not 99999"),
        ({"port": -1}, "port must be from 0 to 65535, not -1"),
        ({"metrics_port": 65536}, "metrics_port must be from 0 to 65535, not 65536"),
        ({"running": 0}, "running must be at least 1"),
        ({"state": "/data/s", "allow_paths": ("/data",)}, "hold one another"),
        ({"state": "/data", "allow_paths": ("/x", "/data/open")}, "hold one another"),
        ({"state": "/data/s", "allow_paths": ("file:///data",)}, "hold one another"),
        ({"state": "/data/s", "allow_paths": ("s3a://b/data", "FILE:/data")}, "hold one another"),
        ({"state": "/data/a#b/s", "allow_paths": ("/data/a#b",)}, "hold one another"),
        ({"state": "/data/a?b", "allow_paths": ("file:///data/a?b",)}, "hold one another"),
        ({"state": "/data", "allow_paths": ("file://",)}, "opens nothing"),
        ({"allow_paths": ("",)}, "allow_paths has '', which opens nothing"),
        ({"allow_paths": ("data",)}, "allow_paths has 'data', which opens nothing"),
        ({"allow_paths": ("/x", "file:data")}, "allow_paths has 'file:data', which opens nothing"),
        ({"allow_paths": ("/x/../y",)}, "which opens nothing"),
        ({"batch_bytes": 1 << 20, "message_bytes": 1 << 20}, "at least twice batch_bytes"),
    ],
)
def test_unsafe_or_senseless_settings_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(PlaitError, match=message):
        config.check(config.Config(config.Server(**settings)))


def test_metrics_are_refused_to_other_machines_though_the_server_has_tls_and_tokens() -> None:
    server = config.Server(host="0.0.0.0", metrics_host="0.0.0.0", metrics_port=9090)
    tls = config.Tls(Path("server.pem"), Path("server.key"))
    with pytest.raises(PlaitError, match="or set open_metrics"):
        config.check(config.Config(server, tls, (ALICE,)))


@pytest.mark.parametrize(
    "settings",
    [
        {"metrics_host": "0.0.0.0", "metrics_port": 9090, "open_metrics": True},
        {"metrics_host": "0.0.0.0"},  # nothing listens
        {"metrics_host": "::1", "metrics_port": 9090},
        {"metrics_host": "localhost", "metrics_port": 9090},
    ],
)
def test_metrics_are_there_for_this_machine_and_for_others_where_it_is_said(
    settings: dict[str, Any],
) -> None:
    config.check(config.Config(config.Server(**settings)))


@pytest.mark.parametrize("opened", ["/data/a#b", "file:/data/a?b", "s3a://bucket", "/data/a%2Fs"])
def test_a_state_folder_beside_an_open_one_is_taken(opened: str) -> None:
    config.check(config.Config(config.Server(state="/data/a", allow_paths=(opened,))))


def test_a_state_folder_that_a_link_leads_into_an_open_one_is_refused(tmp_path: Path) -> None:
    for name in ("open", "apart"):
        (tmp_path / name).mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "open")
    for state in ("link", "link/s"):
        server = config.Server(
            state=str(tmp_path / state), allow_paths=(f"file:{tmp_path}/open", "s3a://bucket/x")
        )
        with pytest.raises(PlaitError, match="hold one another"):
            config.check(config.Config(server))
    server = config.Server(state=str(tmp_path / "apart"), allow_paths=(f"{tmp_path}/open",))
    config.check(config.Config(server))


def test_settings_come_from_the_file_then_the_environment_then_the_command_line(
    tmp_path: Path,
) -> None:
    file = tmp_path / "plait.toml"
    file.write_text(
        '[server]\nport = 1\nrunning = 2\nqueued = 3\nallow_paths = ["/a", "/b"]\n'
        '[spark]\n"spark.master" = "local[3]"\n'
        f'[[token]]\nname = "t"\nsha256 = "{digest("x")}"\nscopes = ["read", "stream"]\n'
    )
    environment = {"PLAIT_SERVER_RUNNING": "5", "PLAIT_SERVER_QUEUED": "6", "HOME": "/"}
    read = config.load(file, environment, {"queued": 9})
    assert (read.server.port, read.server.running, read.server.queued) == (1, 5, 9)
    assert read.server.allow_paths == ("/a", "/b")
    assert read.spark == {"spark.master": "local[3]"}
    assert read.tokens == (config.Token("t", digest("x"), ("read", "stream")),)


def test_pem_files_are_looked_for_beside_the_file_that_names_them(tmp_path: Path) -> None:
    file = tmp_path / "plait.toml"
    file.write_text('[tls]\ncertificate = "s.pem"\nkey = "/k/s.key"\nclient_ca = "ca.pem"\n')
    tls = config.load(file, {}, {}).tls
    assert tls == config.Tls(tmp_path / "s.pem", Path("/k/s.key"), tmp_path / "ca.pem")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[server]\nprot = 1", "has prot, which Plait does not know; it knows host, port"),
        ("[server]\nport = 'x'", "port must be of the kind int, not 'x'"),
        ("[serve]\nport = 1", "the file has serve"),
        ("[tls]\nkey = 'k'", "must name a certificate and its key"),
        ("[[token]]\nname = 'x'\nsha256 = '12'", "64 hexadecimal digits"),
        (f"{TOKEN}", r"'x' must say what it allows, as in scopes = \[\"read\"\]"),
        (f"{TOKEN}\nscopes = []", "'x' must say what it allows"),
        (f"{TOKEN}\nscopes = 'read'", "'x' must say what it allows"),
        (
            f"{TOKEN}\nscopes = ['read']\n{TOKEN.replace('1', '2')}\nscopes = ['read']",
            r"Several \[\[token\]\] have the name x",
        ),
        (
            f"{TOKEN}\nscopes = ['read']\n{TOKEN.replace('x', 'y')}\nscopes = ['read']",
            r"Several \[\[token\]\] have the sha256 1111",
        ),
        ("= 1", "is not TOML"),
    ],
)
def test_a_wrong_file_of_settings_is_refused_with_what_is_wrong(
    tmp_path: Path, text: str, message: str
) -> None:
    file = tmp_path / "plait.toml"
    file.write_text(text)
    with pytest.raises(PlaitError, match=message):
        config.load(file, {}, {})


@pytest.fixture
def started_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., dict[str, str]]:
    pytest.importorskip("pyspark")
    for name in ("PYSPARK_SUBMIT_ARGS", "SPARK_LOCAL_IP", "MASTER"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))

    def settings(told: dict[str, str], defaults: str = "", submit: str = "") -> dict[str, str]:
        (tmp_path / "spark-defaults.conf").write_text(defaults)
        if submit:
            monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", submit)
        return app._settings(config.Config(spark=told))

    return settings


def test_a_spark_of_the_servers_own_shows_nobody_what_callers_run(
    started_with: Callable[..., dict[str, str]],
) -> None:
    settings = started_with({})
    assert settings["spark.ui.enabled"] == settings["spark.ui.showConsoleProgress"] == "false"
    assert settings["spark.driver.host"] == settings["spark.driver.bindAddress"] == "127.0.0.1"
    assert started_with({"spark.ui.enabled": "true"})["spark.ui.enabled"] == "true"
    assert "spark.ui.enabled" not in started_with({}, "spark.ui.enabled true\n")


@pytest.mark.parametrize(
    ("told", "defaults", "submit"),
    [
        ({"spark.master": "spark://h:7077"}, "", ""),
        ({"spark.master": "local-cluster[2,1,1024]"}, "", ""),
        ({}, "spark.master   spark://h:7077\n", ""),
        ({}, "", "--master spark://h:7077 pyspark-shell"),
        ({"spark.driver.host": "10.0.0.1"}, "", ""),
        ({}, "spark.driver.bindAddress=0.0.0.0\n", ""),
    ],
)
def test_where_a_spark_listens_is_left_alone_where_others_take_part_or_somebody_has_said_it(
    started_with: Callable[..., dict[str, str]], told: dict[str, str], defaults: str, submit: str
) -> None:
    settings = started_with(told, defaults, submit)
    assert settings["spark.ui.enabled"] == "false"
    assert {key: settings[key] for key in app.NEAR if key in settings} == {
        key: told[key] for key in app.NEAR if key in told
    }


@pytest.mark.parametrize("name", ['a b"c', "C:\\new", "ü 😀", "a\x7f\n"])
def test_what_plait_token_prints_is_read_as_it_was_told(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["token", name, "--scope", "read"]) == 0
    file = tmp_path / "plait.toml"
    file.write_text(capsys.readouterr().out)
    assert [token.name for token in config.load(file, {}, {}).tokens] == [name]


def test_a_token_has_a_name(capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("", " "):
        with pytest.raises(SystemExit, match="2"):
            main(["token", name])
        assert "the token needs a name" in capsys.readouterr().err


def test_a_server_that_finds_its_port_taken_says_so(start: Start) -> None:
    endpoint = start()
    with pytest.raises(PlaitError, match="cannot listen on"):
        start(port=endpoint.port)


def test_what_would_stop_the_server_is_told_before_spark_is_started(
    start: Start, authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_spark(**_: object) -> None:
        raise AssertionError("Spark is started")

    monkeypatch.setattr("plait.session", no_spark)
    taken = start().port
    certificate, key = authority.issue("server", "localhost")
    other = authority.issue("other", "localhost")[1]
    server = config.Server(port=0)
    for wrong, message in (
        (config.Config(config.Server(port=taken)), f"cannot listen on 127.0.0.1:{taken}: the port"),
        (config.Config(replace(server, metrics_port=taken)), "The metrics cannot be served on"),
        (config.Config(replace(server, host="192.0.2.77")), "none of this machine's"),
        (config.Config(server, config.Tls(certificate, other)), "does not belong to the certif"),
        (config.Config(server, config.Tls(certificate, key.with_name("no"))), "cannot be read"),
    ):
        with pytest.raises(PlaitError, match=message):
            app.run(wrong)
    pytest.importorskip("pyspark")
    with pytest.raises(AssertionError, match="Spark is started"):
        app.run(config.Config(server, config.Tls(certificate, key)))


def test_a_pem_file_that_is_no_certificate_is_not_taken_for_a_port_that_is_taken(
    start: Start, authority: Authority
) -> None:
    certificate, key = authority.issue("server", "localhost")
    certificate.write_text("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")
    with pytest.raises(PlaitError, match=r"what stands in the files of \[tls\]"):
        start(tls=config.Tls(certificate, key))


def test_callers_are_told_apart_in_a_time_that_does_not_tell_the_token() -> None:
    # All hashes are compared, whatever was sent: no timing here, but the number of comparisons.
    from plait.server import callers

    compared = []
    tokens = (ALICE, BOB)
    real = callers.hmac.compare_digest

    def counting(a: str, b: str) -> bool:
        compared.append(a)
        return real(a, b)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(callers.hmac, "compare_digest", counting)
        callers.identify("Bearer alice's", tokens, callers.Caller("", "", ()))
    assert compared == [ALICE.sha256, BOB.sha256]
