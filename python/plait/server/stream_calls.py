# SPDX-License-Identifier: Apache-2.0
"""The calls of streams: StartStream, ListStreams, StreamProgress and StopStream.

A call of StreamProgress that waits holds a thread of the server, and nothing else: records are
kept once for all readers, the newest, where the stream is.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from plait._proto import plait_pb2
from plait.server import messages, sentences, stream_messages
from plait.server.call import Call, Calls
from plait.server.stream_order import StreamOrder

if TYPE_CHECKING:
    import grpc

    from plait.server.callers import Caller
    from plait.server.config import Config
    from plait.server.engine import Engine
    from plait.server.registry import Registry

log = logging.getLogger("plait.server")

# Seconds after which a call that waits looks whether anybody still wants it.
TICK = 0.5


class StreamCalls(Calls):
    """Queries that run without their clients."""

    def __init__(self, config: Config, engine: Engine, registry: Registry[Any]) -> None:
        """Serve as all calls do."""
        super().__init__(config, engine, registry)
        self._subscriptions = threading.BoundedSemaphore(config.server.subscriptions)

    def StartStream(
        self, request: plait_pb2.StartStreamRequest, context: grpc.ServicerContext
    ) -> plait_pb2.StartStreamResponse:
        """Start a stream."""
        with self._call(context, "StartStream") as call:
            caller = self._caller(context)
            session = messages.session_name(request.session)
            order = StreamOrder(
                self._statement(caller, uuid4().hex, request),
                messages.new_name("stream", request.stream),
                stream_messages.sink(request),
                messages.text("checkpoint", request.checkpoint, stream_messages.PATH),
                stream_messages.every(request),
                stream_messages.mode(request),
            )
            with (
                self._desks.sit(call, order.statement.operation),
                self._registry.using(caller, session) as spark,
            ):
                told = self._engine.start_stream(spark, order)
            _log("start stream", caller, told["name"])
            return plait_pb2.StartStreamResponse(stream=stream_messages.stream(told))

    def ListStreams(
        self, request: plait_pb2.ListStreamsRequest, context: grpc.ServicerContext
    ) -> plait_pb2.ListStreamsResponse:
        """Tell of the caller's streams."""
        with self._call(context, "ListStreams"):
            caller = self._caller(context)
            most = messages.count("limit", request.limit, 100)
            found = self._engine.streams(caller.key)
            told = [stream_messages.stream(each) for each in found[:most]]
            return plait_pb2.ListStreamsResponse(streams=told, more=len(found) > most)

    def StreamProgress(
        self, request: plait_pb2.StreamProgressRequest, context: grpc.ServicerContext
    ) -> Iterator[plait_pb2.StreamProgressResponse]:
        """Stream what a stream does."""
        with self._call(context, "StreamProgress") as call:
            caller = self._caller(context)
            name = messages.name_of("stream", request.stream)
            with self._subscription():
                seconds = 0.0 if request.kept_only else TICK
                yield from self._progress(call, caller, name, request, seconds)

    def _progress(
        self,
        call: Call,
        caller: Caller,
        name: str,
        request: plait_pb2.StreamProgressRequest,
        seconds: float,
    ) -> Iterator[plait_pb2.StreamProgressResponse]:
        gone = threading.Event()
        call.when_gone(gone.set)
        after, started = min(request.after, (1 << 63) - 1), request.started
        # One who has seen another stream of this name must not wait for a number of that.
        patience = 0.0 if started else seconds
        # Invariant: what the stream that was `started` then has numbered up to `after` has been
        # sent, or is not kept any more.
        while not gone.is_set():
            news = self._engine.stream_news(caller.key, name, after, patience)
            patience = seconds
            if started not in (0, news["stream"]["started"]):
                after, started = 0, news["stream"]["started"]
                continue
            started = news["stream"]["started"]
            for told in news["records"]:
                record = stream_messages.record(told, started)
                yield plait_pb2.StreamProgressResponse(record=record)
                after = told["number"]
            if seconds == 0 or news["over"]:
                last = stream_messages.stream(news["stream"])
                yield plait_pb2.StreamProgressResponse(stream=last)
                return

    def StopStream(
        self, request: plait_pb2.StopStreamRequest, context: grpc.ServicerContext
    ) -> plait_pb2.StopStreamResponse:
        """End a stream."""
        with self._call(context, "StopStream"):
            caller = self._caller(context)
            name = messages.name_of("stream", request.stream)
            told = self._engine.stop_stream(caller.key, name)
            _log("stop stream", caller, name)
            return plait_pb2.StopStreamResponse(stream=stream_messages.stream(told))

    @contextmanager
    def _subscription(self) -> Iterator[None]:
        if not self._subscriptions.acquire(blocking=False):
            raise sentences.too_many_subscriptions(self._config.server)
        try:
            yield
        finally:
            self._subscriptions.release()


def _log(what: str, caller: Caller, name: str) -> None:
    log.info(what, extra={"caller": caller.name, "stream": name})
