# SPDX-License-Identifier: Apache-2.0
"""A connection to a server, and the session that its statements run in."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from types import TracebackType

import grpc

from plait._proto import plait_pb2, plait_pb2_grpc
from plait.client.cursor import Cursor
from plait.client.failure import from_rpc
from plait.client.progress import Show
from plait.client.tls import Tls
from plait.client.values import value
from plait.errors import PlaitError

# Bytes that may be on their way to a statement's reader. Less than what a server keeps of sent
# batches (8 MiB if not told otherwise), so that what a broken connection loses is still there;
# gRPC would else let it grow with the speed of the network.
WINDOW = 4 << 20

# Milliseconds without a sign of life after which the connection is taken for broken.
KEEPALIVE = 20_000


class Client:
    """Runs SQL on a Plait server; threads may share it.

    Temporary views, variables and settings live in the client's session, on the server, until it
    has been idle for the server's time-out. To be closed, or used in a `with`.
    """

    def __init__(  # noqa: PLR0913 - a client's settings, by name
        self,
        address: str,
        *,
        token: str | None = None,
        tls: bool | Tls = False,
        session: str | None = None,
        timeout: float | None = None,
        progress: Show = Show.ON_TERMINAL,
        message_bytes: int = 64 << 20,
    ) -> None:
        """Make a client of the server at ``address``, "host:port"; it connects at its first call.

        ``token`` is sent with each call, so it needs ``tls`` (True, or the files of a ``Tls``)
        unless the server is on this machine. ``session`` names the session, to come back to one;
        ``timeout`` is the seconds that a statement may take, if it says none itself.
        """
        if ":" not in address:
            raise PlaitError(f'The address {address!r} has no port: give it as "host:port".')
        if token and not tls and not _is_local(address):
            raise PlaitError(
                f"A token would go to {address} for all to read: say tls=True, or tls=Tls(...)."
            )
        self.address = address
        self.session = session or str(uuid.uuid4())
        self.timeout = timeout
        self.progress = progress
        self._metadata = (("authorization", f"Bearer {token}"),) if token else ()
        self._channel = _channel(address, Tls() if tls is True else tls or None, message_bytes)
        self._stub = plait_pb2_grpc.PlaitServiceStub(self._channel)

    def sql(self, text: str, /, *positional: object, **named: object) -> Cursor:
        """Run a statement with the values of its `?` or `:name` parameters.

        The statement begins at once; the cursor gives its rows while they come.
        """
        if positional and named:
            raise PlaitError("A statement takes `?` or `:name` parameters, not both.")
        return self.execute(text, positional or named)

    def execute(
        self,
        text: str,
        parameters: Mapping[str, object] | Sequence[object] = (),
        *,
        timeout: float | None = None,
        stack: bool = False,
    ) -> Cursor:
        """Run a statement, as `sql` does.

        ``timeout`` is in seconds; with ``stack`` errors carry the JVM's, if the server gives it.
        """
        request = plait_pb2.ExecuteRequest(
            session=self.session,
            sql=text,
            operation=str(uuid.uuid4()),
            reattachable=True,
            stack=stack,
        )
        if isinstance(parameters, Mapping):
            for name, given in parameters.items():
                request.named[name].CopyFrom(value(f":{name}", given))
        else:
            request.positional.extend(
                value(f"number {place}", given) for place, given in enumerate(parameters, start=1)
            )
        seconds = self.timeout if timeout is None else timeout
        return Cursor(
            self._stub,
            request,
            metadata=self._metadata,
            address=self.address,
            timeout=seconds,
            progress=self.progress,
        )

    def info(self) -> plait_pb2.ServerInfoResponse:
        """Ask for the server's versions, limits, and what the token allows."""
        try:
            answer: plait_pb2.ServerInfoResponse = self._stub.ServerInfo(
                plait_pb2.ServerInfoRequest(), metadata=self._metadata, timeout=self.timeout or 30.0
            )
        except grpc.RpcError as error:
            raise from_rpc(error, self.address) from None
        return answer

    def close(self) -> None:
        """Close the connection; statements that still run are cancelled by the server."""
        self._channel.close()

    def __enter__(self) -> Client:
        """Give the client."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close it."""
        self.close()


def _channel(address: str, tls: Tls | None, message_bytes: int) -> grpc.Channel:
    options: list[tuple[str, object]] = [
        ("grpc.max_receive_message_length", message_bytes),
        ("grpc.max_send_message_length", message_bytes),
        ("grpc.http2.bdp_probe", 0),
        ("grpc.http2.lookahead_bytes", WINDOW),
        ("grpc.keepalive_time_ms", KEEPALIVE),
        ("grpc.keepalive_timeout_ms", KEEPALIVE),
    ]
    if tls is None:
        return grpc.insecure_channel(address, options)
    if tls.server_name:
        options.append(("grpc.ssl_target_name_override", tls.server_name))
    return grpc.secure_channel(address, tls.credentials(), options)


def _is_local(address: str) -> bool:
    host = address.rpartition(":")[0].strip("[]")
    return host in ("localhost", "::1") or host.startswith("127.")
