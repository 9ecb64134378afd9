# SPDX-License-Identifier: Apache-2.0
"""Who comes in: a call's token, and whether there is a place, before its body is read.

    headers  ->  [ token? ]  ->  [ place? ]  ->  body  ->  [ message? ]  ->  the service
                     |               |                          |
              UNAUTHENTICATED  RESOURCE_EXHAUSTED        INVALID_ARGUMENT

1. Where the server has tokens, a call without a known one takes none of the places of the service,
   and nothing of what it sends is read.
2. Health is answered to anybody who asks or watches, and has threads that nothing else takes; who
   does not say for what is cut off. Reflection has a few, for a short time, and asks for the token
   unless `open_reflection` is set. Any other call is UNIMPLEMENTED, and not read.
3. Bytes that are no message of the call are the caller's mistake, and not an error of the server's.
4. A call has a place of the service as soon as its headers have come. One whose message does not
   come within REQUEST_SECONDS is cut off, so that who sends headers alone keeps nobody out.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent import futures
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

import grpc
from google.protobuf.message import DecodeError
from grpc_health.v1 import health
from grpc_reflection.v1alpha import reflection
from grpc_status import rpc_status

from plait.server import messages, sentences
from plait.server.callers import Caller, identify
from plait.server.clock import Clock
from plait.server.failure import Failure
from plait.server.failure import request as wrong

if TYPE_CHECKING:
    from plait.server.config import Config
    from plait.server.registry import Registry

P = ParamSpec("P")
T = TypeVar("T")

# Calls of reflection at a time, and the seconds that one may take.
REFLECTIONS = 4
REFLECTION_SECONDS = 20.0

# Questions for health at a time, the seconds for which one may be on its way, and the watchers, of
# which each holds a thread: where gRPC's own service holds none, it waits for its client while it
# has a lock that the server's only loop wants when a watcher goes, and the server stands still.
CHECKS = 8
CHECK_SECONDS = 5.0
WATCHERS = 64

# Seconds for which the message of a call may be on its way: of the largest, on a slow line.
REQUEST_SECONDS = 30.0

# Threads that turn calls away, and calls that may wait for that.
PORTERS = 2
TURNED_AWAY = 256

# Calls beyond those that have a place in the service.
BESIDE = REFLECTIONS + CHECKS + WATCHERS + TURNED_AWAY

NOBODY = Caller("", "", ())


class Places(futures.ThreadPoolExecutor):
    """Threads for calls, which knows whether all are taken."""

    def __init__(self, threads: int, name: str) -> None:
        """Have so many."""
        super().__init__(threads, thread_name_prefix=f"plait-{name}")
        self.count = threads
        self._taken = 0
        self._turn = threading.Condition()

    @property
    def is_full(self) -> bool:
        """Whether one more call would have to wait."""
        return self._taken >= self.count

    def are_free(self, seconds: float) -> bool:
        """Wait until no thread is taken, so long at most, and tell whether none is."""
        with self._turn:
            return self._turn.wait_for(lambda: not self._taken, seconds)

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> futures.Future[T]:
        """Run something in a thread, which is taken until it has ended."""
        with self._turn:
            self._taken += 1
        try:
            future = super().submit(fn, *args, **kwargs)
        except RuntimeError:  # the server has ended
            self._free()
            raise
        future.add_done_callback(self._free)
        return future

    def _free(self, _: object = None) -> None:
        with self._turn:
            self._taken -= 1
            self._turn.notify_all()


class Gate(grpc.ServerInterceptor):
    """Looks at the headers of each call; see the conventions above."""

    def __init__(self, config: Config, registry: Registry[Any], places: Places) -> None:
        """Stand before a service that has ``places``."""
        self._tokens = config.tokens
        self._open_reflection = config.server.open_reflection
        self._registry = registry
        self._places = places
        self._reflections = Places(REFLECTIONS, "reflection")
        self._checkers = Places(CHECKS, "health")
        self._watchers = Places(WATCHERS, "watch")
        self._porters = Places(PORTERS, "porter")
        self._clock = Clock()
        self._strict: dict[str, Any] = {}

    def intercept_service(self, continuation: Any, handler_call_details: Any) -> Any:
        """Give what is to handle the call."""
        handler = continuation(handler_call_details)
        method = str(handler_call_details.method)
        service = method.split("/")[1] if method.startswith("/") else ""
        if service == health.SERVICE_NAME:
            return self._health(method, handler)
        try:
            if service != reflection.SERVICE_NAME or not self._open_reflection:
                self._identify(handler_call_details.invocation_metadata)
        except Failure as failure:
            return self._turning_away(failure)
        if handler is None:  # gRPC says UNIMPLEMENTED, and reads nothing
            return None
        places = self._reflections if service == reflection.SERVICE_NAME else self._places
        if places.is_full:
            return self._turning_away(sentences.too_many_calls(places.count))
        if places is self._reflections:
            return _on(places, self._within(REFLECTION_SECONDS, handler.stream_stream), handler)
        return self._strictly(method, handler)

    def _identify(self, metadata: Any) -> None:
        told = {name: str(value) for name, value in metadata or ()}
        identify(told.get("authorization"), self._tokens, NOBODY)

    def _health(self, method: str, handler: Any) -> Any:
        match method.removeprefix(f"/{health.SERVICE_NAME}/"):
            case "Check":
                return self._asked(
                    self._checkers, handler, lambda *told: [handler.unary_unary(*told)]
                )
            case "Watch":
                return self._asked(self._watchers, handler, handler.unary_stream)
        return None  # what else there is would be answered in the places of calls

    def _asked(
        self,
        places: Places,
        handler: Any,
        answer: Callable[[Any, grpc.ServicerContext], Iterable[Any]],
    ) -> Any:
        """Make a handler that waits CHECK_SECONDS for the question."""
        if places.is_full:
            return self._turning_away(sentences.too_many_calls(places.count))

        def ask(requests: Iterator[Any], context: grpc.ServicerContext) -> Iterator[Any]:
            yield from answer(self._message(CHECK_SECONDS, requests, context), context)

        return _on(places, ask, handler)

    def _turning_away(self, failure: Failure) -> Any:
        """Make a handler that reads nothing."""

        def turn_away(_: object, context: grpc.ServicerContext) -> Iterator[Any]:
            self._abort(context, failure)
            return iter(())

        return _on(self._porters, turn_away, None)

    def _abort(self, context: grpc.ServicerContext, failure: Failure) -> None:
        self._registry.tally.failed(failure.kind)
        told = messages.status(failure, "", self._registry.incarnation)
        context.abort_with_status(rpc_status.to_status(told))

    def _strictly(self, method: str, handler: Any) -> Any:
        """Have what is no message refused in our words."""
        if method not in self._strict:
            self._strict[method] = self._strict_handler(handler)
        return self._strict[method]

    def _strict_handler(self, handler: Any) -> Any:
        """Make a handler that reads by itself, and answers as the service's own does.

        gRPC would wait for the message of a call, in one of the places, for as long as the client
        likes.
        """
        behaviour = handler.unary_stream or handler.unary_unary

        def strict(requests: Iterator[bytes], context: grpc.ServicerContext) -> Any:
            payload = self._message(REQUEST_SECONDS, requests, context)
            try:
                request = handler.request_deserializer(payload)
            except DecodeError:
                self._abort(context, wrong("The bytes of the request are no message of this call."))
            return behaviour(request, context)

        make: Any = (
            grpc.stream_stream_rpc_method_handler
            if handler.unary_stream
            else grpc.stream_unary_rpc_method_handler
        )
        return make(strict, response_serializer=handler.response_serializer)

    def _message(
        self, seconds: float, requests: Iterator[Any], context: grpc.ServicerContext
    ) -> Any:
        """Wait so long for the one message of a call."""
        with self._clock.within(seconds, context):
            request = next(requests, None)
        if request is None:
            self._abort(context, wrong("The call has no message."))
        return request

    def _within(
        self, seconds: float, behaviour: Callable[[Any, Any], Iterator[Any]]
    ) -> Callable[[Any, grpc.ServicerContext], Iterator[Any]]:
        def run(requests: Any, context: grpc.ServicerContext) -> Iterator[Any]:
            with self._clock.within(seconds, context):
                yield from behaviour(requests, context)

        return run


def _on(places: Places, behaviour: Callable[[Any, Any], Any], handler: Any) -> Any:
    """Make a handler that runs in threads of its own, and reads when it wants to."""

    def run(requests: Any, context: grpc.ServicerContext) -> Any:
        return behaviour(requests, context)

    run.experimental_thread_pool = places  # type: ignore[attr-defined]
    return grpc.stream_stream_rpc_method_handler(
        run,
        request_deserializer=handler and handler.request_deserializer,
        response_serializer=handler and handler.response_serializer,
    )
