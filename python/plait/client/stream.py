# SPDX-License-Identifier: Apache-2.0
"""A stream on a server, and its progress as it comes.

with client.start_stream("SELECT * FROM STREAM t", nowhere=True) as stream:
    for record in stream.progress():
        print(record.batch, record.rows_in)

Leaving the `with` stops the stream; without it, the stream runs on when its client has gone.
"""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING, Any, Self

import grpc

from plait._proto import plait_pb2
from plait.client import asked
from plait.client.aside import aside
from plait.client.closing import Closing
from plait.client.dialogue import PAUSES
from plait.client.failure import detail_of, from_rpc
from plait.client.farewell import CLOSER
from plait.client.streams import StreamRecord, StreamStatus, progress_request
from plait.errors import RemoteError

if TYPE_CHECKING:
    from plait.client.client import Client


class Stream(Closing):
    """A stream by its name; any client of the same token may hold one."""

    def __init__(self, client: Client, name: str, table: str = "") -> None:
        """Hold the stream of that name; nothing is asked yet."""
        self._client = client
        self.name = name
        self.table = table

    def status(self) -> StreamStatus:
        """Ask how it is, what it did last, and why it failed if it has."""
        request = plait_pb2.StreamProgressRequest(stream=self.name, kept_only=True, after=LAST)
        with StreamProgress(self._client, request) as news:
            list(news)
        assert news.status is not None
        return news.status

    def progress(self, *, after: int | StreamRecord = 0, follow: bool = True) -> StreamProgress:
        """Give the records after one, those that are kept, then each as it comes.

        ``after`` is a record, or the number of one: numbers begin anew where the stream is started
        again, which is seen by a record alone. It ends with the stream, and raises the error that
        the stream has failed with. Without ``follow`` it ends with what is kept.
        """
        request = progress_request(self.name, after, kept_only=not follow)
        return StreamProgress(self._client, request)

    def stop(self) -> StreamStatus:
        """End it; its checkpoint stays. One that has ended is forgotten by the server."""
        return self._client._ask(asked.stop_stream(self.name))

    def close(self) -> None:
        """Stop it, unless it is gone, or fills a table, which lives until it is dropped."""
        if self.table:
            return
        try:
            self.stop()
        except RemoteError as error:
            if error.condition != "STREAM_NOT_FOUND":
                raise

    def __repr__(self) -> str:
        """Show the name."""
        return f"Stream({self.name!r})"


# The number of no record: none comes after it.
LAST = (1 << 63) - 1


class StreamProgress(Closing):
    """Records of a stream, to be iterated once; ``status`` is how it was at the end.

    A connection that breaks is made again, and no record comes twice; if the stream was started
    again meanwhile, its records come from the first.
    """

    def __init__(self, client: Client, request: plait_pb2.StreamProgressRequest) -> None:
        """Ask for them."""
        client._check_open()
        self.status: StreamStatus | None = None
        self._client = client
        self._request = request
        self._pauses = iter(PAUSES)
        CLOSER.expect()
        self._call = self._send()
        self._closed = False

    def __iter__(self) -> Self:
        """Give itself."""
        return self

    def __next__(self) -> StreamRecord:
        """Wait for the next record."""
        # Invariant: the records up to the number in the request have been given.
        while not self._closed:
            try:
                message = aside(partial(next, self._call))
            except StopIteration:
                break
            except grpc.RpcError as error:
                if not self._closed:
                    self._go_on(error)
                continue
            except BaseException:
                # Somebody waits for the next record already: it cannot be asked for again.
                self.close()
                raise
            self._pauses = iter(PAUSES)
            if message.WhichOneof("content") == "record":
                self._request.after = message.record.number
                self._request.started = message.record.started
                return StreamRecord.of(message.record)
            self.status = StreamStatus.of(message.stream)
        self.close()
        if self.status is not None and self.status.error and not self._request.kept_only:
            raise self.status.error
        raise StopIteration

    def close(self) -> None:
        """Ask for no more; the stream goes on."""
        self._closed = True
        aside(self._call.cancel)

    def __del__(self) -> None:
        """Let the server know that nobody reads, and have the call let go of."""
        if hasattr(self, "_call"):
            CLOSER.drop(self)

    def _send(self) -> Any:
        stub: Any = self._client._stub
        metadata = self._client._metadata
        return aside(lambda: stub.StreamProgress(self._request, metadata=metadata))

    def _go_on(self, error: grpc.RpcError) -> None:
        pause = next(self._pauses, None)
        if pause is None or error.code() != grpc.StatusCode.UNAVAILABLE or detail_of(error):
            self.close()
            raise from_rpc(error, self._client.address) from None
        time.sleep(pause)
        self._call = self._send()
