# SPDX-License-Identifier: Apache-2.0
"""A connection to a server, and the session that its statements run in."""

from __future__ import annotations

import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Unpack
from weakref import WeakSet

import grpc

from plait._proto import plait_pb2, plait_pb2_grpc
from plait.client import asked
from plait.client.aside import aside
from plait.client.call import GOODBYE, Parameters, of_words, options, request
from plait.client.closing import Closing
from plait.client.connection import Connection
from plait.client.cursor import Cursor, await_farewells
from plait.client.progress import Show
from plait.client.questions import Questions
from plait.client.stream import Stream
from plait.client.tls import Tls

if TYPE_CHECKING:
    from plait.client.asked import Question, T
    from plait.client.dialogue import Request
    from plait.client.streams import StreamSettings, StreamStatus


class Client(Connection, Questions, Closing):
    """Runs SQL on a Plait server; threads may share it.

    Temporary views, variables and settings live in the client's session, on the server. One that
    has no name ends with the client, one with a name when it has been idle for the server's
    time-out. To be closed, or used in a `with`.
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
        super().__init__(
            address, token=token, tls=tls, session=session, timeout=timeout, progress=progress
        )
        self._channel = _channel(address, Tls() if tls is True else tls or None, message_bytes)
        self._stub = plait_pb2_grpc.PlaitServiceStub(self._channel)
        self._cursors: WeakSet[Cursor] = WeakSet()
        self._turn = threading.Lock()

    def sql(self, text: str, /, *positional: object, **named: object) -> Cursor:
        """Run a statement with the values of its `?` or `:name` parameters.

        The statement begins at once; the cursor gives its rows while they come.
        """
        return self.execute(text, of_words(positional, named))

    def execute(
        self,
        text: str,
        parameters: Parameters = (),
        *,
        timeout: float | None = None,
        stack: bool = False,
    ) -> Cursor:
        """Run a statement, as `sql` does.

        ``timeout`` is in seconds; with ``stack`` errors carry the JVM's, if the server gives it.
        """
        return self._cursor(request(self.session, text, parameters, stack=stack), timeout)

    def start_stream(
        self, text: str, parameters: Parameters = (), **settings: Unpack[StreamSettings]
    ) -> Stream:
        """Start a query over streams, which lives on when the client has gone, until it is stopped.

        Its rows go to ``table``, to the folder ``path`` as files of ``format`` with ``options``, or
        ``nowhere``; the ``checkpoint`` is a folder. ``trigger`` is an interval ("5 seconds") or
        "available now"; without it, batches follow one another. ``mode`` is append, update or
        complete. A CREATE STREAMING TABLE ... AS takes a trigger and a ``name`` alone.
        """
        question = asked.start_stream(self.session, text, parameters, **settings)
        return Stream(self, *self._ask(question))

    def stream(self, name: str) -> Stream:
        """Come back to a stream by its name."""
        return Stream(self, name)

    def streams(self, *, limit: int = 100) -> list[StreamStatus]:
        """Tell of the caller's streams, the newest first."""
        return self._ask(asked.list_streams(limit))

    def info(self) -> plait_pb2.ServerInfoResponse:
        """Ask for the server's versions, limits, and what the token allows."""
        return self._ask(asked.info())

    def _cursor(self, request: Request, timeout: float | None) -> Cursor:
        cursor = Cursor(self._stub, request, **self._told(timeout))
        with self._turn:
            self._cursors.add(cursor)
        return cursor

    def _ask(self, question: Question[T]) -> T:
        self._calls()
        method = getattr(self._stub, question.method)
        metadata = (*self._metadata, *self._met.metadata)
        call = aside(
            lambda: method.future(question.request, metadata=metadata, timeout=self._patience)
        )
        try:
            answer, told = aside(lambda: (call.result(), call.initial_metadata()))
        except grpc.RpcError as error:
            raise self._failed(error) from None
        except BaseException:
            aside(call.cancel)
            raise
        self._met.hear(told)
        return question.read(answer)

    def close(self) -> None:
        """Close the connection, and cancel statements that still run.

        The session ends too, unless it has a name. What was submitted, and streams, go on.
        """
        if self._closed:
            return
        self._closed = True
        with self._turn:
            cursors = list(self._cursors)
        for cursor in cursors:
            cursor.close()
        await_farewells(self._stub)
        if self._owes_farewell:
            goodbye = asked.close_session(self.session).request
            with suppress(grpc.RpcError):  # the server finds out by itself
                aside(
                    lambda: self._stub.CloseSession(
                        goodbye, metadata=self._metadata, timeout=GOODBYE
                    )
                )
        aside(self._channel.close)


def _channel(address: str, tls: Tls | None, message_bytes: int) -> grpc.Channel:
    if tls is None:
        return grpc.insecure_channel(address, options(tls, message_bytes))
    return grpc.secure_channel(address, tls.credentials(), options(tls, message_bytes))
