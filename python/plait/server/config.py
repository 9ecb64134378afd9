# SPDX-License-Identifier: Apache-2.0
"""The settings of `plait serve`, from a TOML file, the environment and the command line.

    [server]                            [tls]                       [spark]
    host = "127.0.0.1"                  certificate = "s.pem"       "spark.master" = "local[*]"
    port = 15110                        key = "s.key"
    running = 8                         client_ca = "ca.pem"        [[token]]
    allow_paths = ["/data"]                                         name = "dashboard"
                                                                    sha256 = "9f86d0..."
                                                                    scopes = ["read"]

Of `[server]` each key may come from the environment, PLAIT_SERVER_PORT=0 as an example; what the
command line says wins over the environment, and that over the file. The files of `[tls]` are
looked for beside the file that names them.
"""

from __future__ import annotations

import ipaddress
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from plait.errors import PlaitError

SCOPES = ("read", "stream", "admin")

# Limits that cannot be 0.
AT_LEAST_ONE = (
    "running",
    "parked",
    "caller_parked",
    "sessions",
    "caller_sessions",
    "submitted",
    "prepared",
    "prepared_bytes",
    "streams",
    "stream_records",
    "subscriptions",
    "batch_bytes",
    "message_bytes",
    "request_bytes",
    "statement_characters",
)

# What names in the environment begin with.
PREFIX = "PLAIT_SERVER_"

# A scheme, an authority, and a path.
PLACE = re.compile(r"(?:([^:/]*):)?(?://([^/]*))?(.*)", re.DOTALL)


@dataclass(frozen=True)
class Server:
    """Where the server listens, and its limits; a limit of 0 is none.

    Seconds: ``queue_seconds`` (of waiting for a place), ``reattach_seconds`` (for which an
    operation whose client has gone waits for Attach), ``submitted_seconds`` (for which a submitted
    one waits for Attach or Status), ``unread_seconds`` (for which rows wait for a client that is
    there), ``session_seconds`` (after which an idle session ends), ``drain_seconds`` (for which a
    stopping server lets operations end). Bytes: ``batch_bytes`` (of a batch, nearly),
    ``replay_bytes`` (of an operation's sent batches, kept), ``message_bytes`` (of a gRPC message
    that is sent), ``request_bytes`` (of one that comes), ``prepared_bytes`` (of a session's
    prepared text). ``statement_characters`` bounds the text of a statement, ``rows`` and ``bytes``
    a result, ``running`` and ``queued`` the operations of all clients, ``parked`` and
    ``caller_parked`` those of all callers and of one that wait for clients who have gone,
    ``sessions`` and ``caller_sessions`` the sessions, ``submitted`` the submitted operations of a
    caller, ``prepared`` the prepared statements of a session, ``streams`` the streams of a caller
    that run, ``stream_records`` the records of its progress that are kept of each,
    ``subscriptions`` the calls that wait for such records. ``state`` is the folder of continuous
    tables, which executors see too; without one there are none. ``allow_conf`` is what a client may
    SET in its session, beside what the guard allows by itself. Prometheus finds metrics at
    ``metrics_host`` and ``metrics_port``, nowhere if that is 0; on other machines only where
    ``open_metrics`` says so.
    """

    host: str = "127.0.0.1"
    port: int = 15110
    running: int = 8
    queued: int = 64
    parked: int = 32
    caller_parked: int = 8
    sessions: int = 256
    caller_sessions: int = 128
    rows: int = 0
    bytes: int = 0
    queue_seconds: float = 60.0
    submitted: int = 32
    prepared: int = 64
    prepared_bytes: int = 4 << 20
    reattach_seconds: float = 30.0
    submitted_seconds: float = 3600.0
    unread_seconds: float = 1800.0
    session_seconds: float = 1800.0
    drain_seconds: float = 30.0
    batch_bytes: int = 1 << 20
    replay_bytes: int = 8 << 20
    message_bytes: int = 64 << 20
    request_bytes: int = 4 << 20
    statement_characters: int = 1 << 16
    metrics_host: str = "127.0.0.1"
    metrics_port: int = 0
    streams: int = 16
    stream_records: int = 100
    subscriptions: int = 64
    state: str = ""
    stacks: bool = False
    open_reflection: bool = False
    open_metrics: bool = False
    allow_paths: tuple[str, ...] = ()
    allow_conf: tuple[str, ...] = ()
    scopes: tuple[str, ...] = ("read",)


@dataclass(frozen=True)
class Tls:
    """PEM files; ``client_ca`` makes clients show a certificate that it has signed."""

    certificate: Path
    key: Path
    client_ca: Path | None = None


@dataclass(frozen=True)
class Token:
    """A token by its hash, what it is called in logs, and what it allows."""

    name: str
    sha256: str
    scopes: tuple[str, ...]


@dataclass(frozen=True)
class Config:
    """All of it."""

    server: Server = field(default_factory=Server)
    tls: Tls | None = None
    tokens: tuple[Token, ...] = ()
    spark: Mapping[str, str] = field(default_factory=dict)


def load(file: Path | None, environment: Mapping[str, str], arguments: Mapping[str, Any]) -> Config:
    """Read the settings, later sources over earlier ones, and check them.

    >>> load(None, {"PLAIT_SERVER_PORT": "0"}, {"running": 2}).server.port
    0
    """
    told = _read(file) if file else {}
    _known("the file", told, ("server", "tls", "token", "spark"))
    server = _server(Server(), told.get("server", {}), "[server]")
    of_environment = {
        name.removeprefix(PREFIX).lower(): value
        for name, value in environment.items()
        if name.startswith(PREFIX)
    }
    server = _server(server, of_environment, f"{PREFIX}*")
    server = _server(server, arguments, "the command line")
    config = Config(
        server,
        _tls(told["tls"], file.parent) if file and "tls" in told else None,
        tuple(_token(entry) for entry in told.get("token", ())),
        {key: str(value) for key, value in told.get("spark", {}).items()},
    )
    check(config)
    return config


def check(config: Config) -> None:
    """Refuse what would be unsafe or cannot work."""
    for name in ("port", "metrics_port"):
        if not 0 <= getattr(config.server, name) <= 65535:
            raise PlaitError(f"{name} must be from 0 to 65535, not {getattr(config.server, name)}.")
    if not is_loopback(config.server.host) and not (config.tls and config.tokens):
        raise PlaitError(
            f"{config.server.host} can be reached from other machines, and this server has "
            f"{'no tokens' if config.tls else 'no TLS'}: give it [tls] and at least one [[token]] "
            "in its file, or let it listen on 127.0.0.1."
        )
    _check_tokens(config.tokens)
    _check_metrics(config.server)
    for scopes in (config.server.scopes, *(token.scopes for token in config.tokens)):
        if unknown := set(scopes) - set(SCOPES):
            raise PlaitError(
                f"There is no scope {', '.join(sorted(unknown))}: scopes are {', '.join(SCOPES)}."
            )
    for name in AT_LEAST_ONE:
        if getattr(config.server, name) < 1:
            raise PlaitError(f"{name} must be at least 1.")
    if config.server.state and not Path(config.server.state).is_absolute():
        raise PlaitError(f"state must be an absolute path, not {config.server.state}.")
    for opened in config.server.allow_paths:
        folder = _folder(opened)
        if config.server.state and folder is not None:
            _check_apart(Path(config.server.state), folder)
    if config.server.batch_bytes * 2 > config.server.message_bytes:
        raise PlaitError("message_bytes must be at least twice batch_bytes: a batch is a message.")


def _check_tokens(tokens: tuple[Token, ...]) -> None:
    for what, told in (
        ("the name", [token.name for token in tokens]),
        ("the sha256", [token.sha256 for token in tokens]),
    ):
        if twice := sorted({one for one in told if told.count(one) > 1}):
            raise PlaitError(
                f"Several [[token]] have {what} {', '.join(twice)}: of each there is one, by which "
                "it is known."
            )


def _check_metrics(server: Server) -> None:
    """Nobody from elsewhere reads, without being asked who it is, what nobody meant to show."""
    if server.metrics_port and not is_loopback(server.metrics_host) and not server.open_metrics:
        raise PlaitError(
            f"metrics_host {server.metrics_host!r} can be reached from other machines, and the "
            "port of the metrics has neither TLS nor tokens: let it listen on 127.0.0.1, or set "
            "open_metrics if all who reach it may read them."
        )


def _folder(opened: str) -> Path | None:
    """Give a local folder of `allow_paths`; None for one of another file system.

    Read as Hadoop reads it, to which `#`, `?` and `%` are letters.

    >>> _folder("file:///data#1"), _folder("s3a://bucket/data")
    (PosixPath('/data#1'), None)
    """
    scheme, authority, path = PLACE.fullmatch(opened).groups("")  # type: ignore[union-attr]
    is_absolute = path.startswith("/") or (authority and not path)
    if not is_absolute or ".." in path.split("/"):
        raise PlaitError(
            f"allow_paths has {opened!r}, which opens nothing: a folder is an absolute path "
            "without `..`, for what it is must not depend on where the server was started."
        )
    return Path(path or "/") if scheme.lower() in ("", "file") else None


def _check_apart(state: Path, opened: Path) -> None:
    """Nobody but the server may write where it keeps what is everybody's; links are followed."""
    kept, open_to_all = state.resolve(), opened.resolve()
    if kept.is_relative_to(open_to_all) or open_to_all.is_relative_to(kept):
        raise PlaitError(
            f"state {state} and the folder {opened} of allow_paths hold one another: what clients "
            "may write to must not be where the server keeps its tables."
        )


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a server that listens on ``host``.

    >>> is_loopback("localhost"), is_loopback("::1"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _read(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text())
    except OSError as error:
        raise PlaitError(f"{file} cannot be read: {error.strerror}.") from error
    except tomllib.TOMLDecodeError as error:
        raise PlaitError(f"{file} is not TOML: {error}.") from error


def _known(where: str, told: Mapping[str, Any], names: tuple[str, ...]) -> None:
    if unknown := [name for name in told if name not in names]:
        raise PlaitError(
            f"{where} has {', '.join(unknown)}, which Plait does not know; it knows "
            f"{', '.join(names)}."
        )


def _server(server: Server, told: Mapping[str, Any], where: str) -> Server:
    kinds = {entry.name: type(entry.default) for entry in fields(Server)}
    _known(where, told, tuple(kinds))
    return replace(
        server, **{name: _of_kind(name, kinds[name], value) for name, value in told.items()}
    )


def _of_kind(name: str, kind: type, value: Any) -> Any:
    try:
        if kind is tuple:
            parts = value.split(",") if isinstance(value, str) else value
            return tuple(str(part).strip() for part in parts if str(part).strip())
        if kind is bool and isinstance(value, str):
            return {"true": True, "false": False}[value.lower()]
        if kind in (int, float) and isinstance(value, bool):
            raise ValueError
        return kind(value)
    except (ValueError, TypeError, KeyError):
        raise PlaitError(f"{name} must be of the kind {kind.__name__}, not {value!r}.") from None


def _tls(told: Mapping[str, Any], folder: Path) -> Tls:
    _known("[tls]", told, ("certificate", "key", "client_ca"))
    if not {"certificate", "key"} <= set(told):
        raise PlaitError("[tls] must name a certificate and its key, both PEM files.")
    ca = told.get("client_ca")
    return Tls(folder / told["certificate"], folder / told["key"], folder / str(ca) if ca else None)


def _token(told: Mapping[str, Any]) -> Token:
    _known("[[token]]", told, ("name", "sha256", "scopes"))
    name, digest = str(told.get("name", "")), str(told.get("sha256", "")).lower()
    if not name or len(digest) != 64 or set(digest) - set("0123456789abcdef"):
        raise PlaitError(
            "A [[token]] has a name and the sha256 of its token, 64 hexadecimal digits: "
            "`plait token NAME` makes both."
        )
    scopes = told.get("scopes")
    if not isinstance(scopes, list) or not scopes:
        raise PlaitError(
            f'The [[token]] {name!r} must say what it allows, as in scopes = ["read"]: scopes are '
            f"{', '.join(SCOPES)}."
        )
    return Token(name, digest, tuple(map(str, scopes)))
