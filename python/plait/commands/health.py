# SPDX-License-Identifier: Apache-2.0
"""The command `plait health`: asks a server whether it takes calls.

    $ plait health 127.0.0.1:15110
    SERVING

1. It asks by grpc.health.v1, for the service plait.v1.PlaitService; no token is needed.
2. SERVING says that calls are taken, not that Spark has room for another statement.
3. A server that is about to stop answers NOT_SERVING while what runs comes to its end.

Exit codes: 0, SERVING; 1, anything else, or no answer; 2, a wrong call.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from plait.commands import place
from plait.errors import PlaitError

if TYPE_CHECKING:
    import grpc

SERVICE = "plait.v1.PlaitService"

EXAMPLES = """\
examples:
  plait health 127.0.0.1:15110
  plait health 127.0.0.1:15110 --ca ca.pem --server-name db.example

exit codes: 0 SERVING; 1 anything else, or no answer; 2 wrong call
"""


def main(argv: Sequence[str]) -> int:
    """Run the command."""
    status = _asked(_parser().parse_args(argv))
    print(status)
    return 0 if status == "SERVING" else 1


def _asked(told: argparse.Namespace) -> str:
    import grpc
    from grpc_health.v1 import health_pb2, health_pb2_grpc

    request = health_pb2.HealthCheckRequest(service=SERVICE)
    with _channel(told) as channel:
        stub: Any = health_pb2_grpc.HealthStub(channel)  # its types leave the calls out
        try:
            answer = stub.Check(request, timeout=told.timeout)
        except grpc.RpcError as error:
            raise _failure(error, told) from None
    return str(health_pb2.HealthCheckResponse.ServingStatus.Name(answer.status))


def _channel(told: argparse.Namespace) -> grpc.Channel:
    import grpc

    from plait.client.call import check, options

    check(told.server, None, False)
    tls = place.tls(told)
    settings = options(tls, 1 << 16)
    if tls is None:
        return grpc.insecure_channel(told.server, settings)
    return grpc.secure_channel(told.server, tls.credentials(), settings)


def _failure(error: grpc.RpcError, told: argparse.Namespace) -> PlaitError:
    from plait.client.failure import from_rpc

    match error.code().name:
        case "NOT_FOUND" | "UNIMPLEMENTED":
            return PlaitError(f"{told.server} answers, and is no Plait server.")
        case "DEADLINE_EXCEEDED":
            return PlaitError(f"{told.server} has not answered within {told.timeout:g} s.")
    return from_rpc(error, told.server)


def _seconds(text: str) -> float:
    seconds = float(text)
    if not 0 < seconds < float("inf"):
        raise argparse.ArgumentTypeError(f"{text} is no number of seconds above 0")
    return seconds


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="plait health",
        description="Ask a server whether it takes calls, and print its answer.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("server", metavar="HOST:PORT", help="the server")
    parser.add_argument(
        "--timeout", type=_seconds, default=5.0, metavar="SECONDS", help="to wait (5 if not told)"
    )
    group = parser.add_argument_group("TLS", "Each option that takes a value means --tls.")
    place.add_tls_options(group)
    return parser
