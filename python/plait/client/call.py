# SPDX-License-Identifier: Apache-2.0
"""What every client decides before it calls: addresses, settings of the channel, requests."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence

from plait._proto import plait_pb2
from plait.client.tls import Tls
from plait.client.values import value
from plait.errors import PlaitError

# Bytes that may be on their way to a statement's reader. Less than what a server keeps of sent
# batches (8 MiB if not told otherwise), so that what a broken connection loses is still there;
# gRPC would else let it grow with the speed of the network.
WINDOW = 4 << 20

# Milliseconds without a sign of life after which the connection is taken for broken.
KEEPALIVE = 20_000

# Seconds for the answer to a question, if the client has no time-out of its own.
PATIENCE = 60.0

# Seconds that a client that is closed waits for the end of its session.
GOODBYE = 2.0

# How addresses begin that gRPC reads in ways of its own.
RESOLVED = ("dns:/", "unix:", "unix-abstract:", "ipv4:", "ipv6:", "xds:/")

Parameters = Mapping[str, object] | Sequence[object]

# The messages that take the values of parameters.
WithValues = (
    plait_pb2.ExecuteRequest
    | plait_pb2.SubmitRequest
    | plait_pb2.ValidateRequest
    | plait_pb2.ExplainRequest
    | plait_pb2.PrepareRequest
    | plait_pb2.StartStreamRequest
)


def check(address: str, token: str | None, tls: bool | Tls) -> None:
    """Refuse an address that is not "host:port", and a token that all could read.

    >>> check("localhost:15110", "secret", False)
    >>> check("db.example:15110", "secret", False)
    Traceback (most recent call last):
        ...
    plait.errors.PlaitError: A token would go to db.example:15110 for all to read: say tls=True, \
or tls=Tls(...).
    """
    _check_address(address)
    if not isinstance(tls, bool | Tls):
        raise PlaitError(
            f"tls is True, False or a Tls, not {tls!r}: an authority's file is given by "
            'tls=Tls(ca="ca.pem").'
        )
    if token and not (token.isascii() and token.isprintable()):
        raise PlaitError(
            "A token is sent in a header, where only printable ASCII characters can stand: this "
            "one has others."
        )
    if token and not tls and not _is_local(address):
        raise PlaitError(
            f"A token would go to {address} for all to read: say tls=True, or tls=Tls(...)."
        )


def _check_address(address: str) -> None:
    if address.startswith(RESOLVED):
        return
    host, colon, port = address.rpartition(":")
    if "/" in address:
        wrong = "is a URL or a path"
    elif not colon:
        wrong = "has no port"
    elif not host:
        wrong = "has no host"
    elif not (port.isascii() and port.isdecimal() and 1 <= int(port) <= 65535):
        wrong = "has a port that is no number from 1 to 65535"
    elif ":" in host and not (host.startswith("[") and host.endswith("]")):
        wrong = "has colons in its host, which then stands in brackets, [::1]:15110"
    else:
        return
    raise PlaitError(f'The address {address!r} {wrong}: give it as "host:port".')


def metadata(token: str | None) -> tuple[tuple[str, str], ...]:
    """Make what is sent with each call."""
    return (("authorization", f"Bearer {token}"),) if token else ()


def options(tls: Tls | None, message_bytes: int) -> list[tuple[str, object]]:
    """Make the settings of a channel."""
    named = [("grpc.ssl_target_name_override", tls.server_name)] if tls and tls.server_name else []
    return [
        ("grpc.max_receive_message_length", message_bytes),
        ("grpc.max_send_message_length", message_bytes),
        ("grpc.http2.bdp_probe", 0),
        ("grpc.http2.lookahead_bytes", WINDOW),
        ("grpc.keepalive_time_ms", KEEPALIVE),
        ("grpc.keepalive_timeout_ms", KEEPALIVE),
        *named,
    ]


def of_words(positional: tuple[object, ...], named: dict[str, object]) -> Parameters:
    """Give the parameters that a call of `sql` has, of one kind."""
    if positional and named:
        raise PlaitError("A statement takes `?` or `:name` parameters, not both.")
    return positional or named


def statement(text: str) -> str:
    """Return the text of a statement, or say that it is none."""
    if isinstance(text, str | bytes):
        return text
    raise PlaitError(
        f"A statement is a text in SQL, and {text!r} is of type {type(text).__name__}."
    )


def request(
    session: str, text: str, parameters: Parameters, *, stack: bool
) -> plait_pb2.ExecuteRequest:
    """Make the request to run a statement, under a new id."""
    made = plait_pb2.ExecuteRequest(
        session=session,
        sql=statement(text),
        operation=str(uuid.uuid4()),
        reattachable=True,
        stack=stack,
    )
    fill(made, parameters)
    return made


def call_of(session: str, prepared: str, parameters: Parameters) -> plait_pb2.ExecuteRequest:
    """Make the request to run a prepared statement, under a new id."""
    made = plait_pb2.ExecuteRequest(
        session=session, prepared=prepared, operation=str(uuid.uuid4()), reattachable=True
    )
    fill(made, parameters)
    return made


def fill(made: WithValues, parameters: Parameters) -> None:
    """Put the values into a request; raises ``PlaitError`` for more than the text has marks."""
    if isinstance(parameters, Mapping):
        for name, given in parameters.items():
            made.named[name].CopyFrom(value(f":{name}", given))
    else:
        # A mark in a comment or in quotes counts too: what is refused here has surely no place.
        if made.sql and len(parameters) > (marks := made.sql.count("?")):
            raise PlaitError(f"There are {len(parameters)} values, and the text has {marks} `?`.")
        made.positional.extend(
            value(f"number {place}", given) for place, given in enumerate(parameters, start=1)
        )


def _is_local(address: str) -> bool:
    host = address.rpartition(":")[0].strip("[]")
    return host in ("localhost", "::1") or host.startswith("127.")
