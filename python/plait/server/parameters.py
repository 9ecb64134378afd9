# SPDX-License-Identifier: Apache-2.0
"""The values of a statement's parameters, from the messages of proto/plait/v1 to the JVM's texts.

>>> parameter(plait_pb2.Value(interval_microseconds=1_500_000))
{'type': 'interval', 'value': 'PT1.500000S'}
>>> parameter(plait_pb2.Value()) is None
True
"""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, TypeAlias

from plait._proto import plait_pb2
from plait.server.failure import request

if TYPE_CHECKING:
    from plait.server.engine import Parameter

# The messages that hold a statement and its parameters.
WithStatement: TypeAlias = (
    plait_pb2.ExecuteRequest
    | plait_pb2.SubmitRequest
    | plait_pb2.ValidateRequest
    | plait_pb2.ExplainRequest
    | plait_pb2.PrepareRequest
    | plait_pb2.StartStreamRequest
)

# How Java writes the doubles that are no numbers.
JAVA = {"inf": "Infinity", "-inf": "-Infinity", "nan": "NaN"}


def parameters(
    message: WithStatement,
) -> tuple[dict[str, Parameter], list[Parameter]]:
    """Check and convert the parameters of a request, named and positional."""
    if message.named and message.positional:
        raise request("A statement takes `named` or `positional` parameters, not both.")
    named = {name: _parameter(f":{name}", value) for name, value in message.named.items()}
    positional = [
        _parameter(f"parameter {place}", value)
        for place, value in enumerate(message.positional, start=1)
    ]
    return named, positional


def parameter(value: plait_pb2.Value) -> Parameter:  # noqa: PLR0911 - one a type
    """Convert a value; raises ``ValueError`` if its text is none of its type."""
    kind = value.WhichOneof("kind")
    match kind:
        case None:
            return None
        case "boolean":
            return {"type": kind, "value": "true" if value.boolean else "false"}
        case "long" | "string":
            return {"type": kind, "value": str(getattr(value, kind))}
        case "double":
            return {"type": kind, "value": JAVA.get(repr(value.double), repr(value.double))}
        case "binary":
            return {"type": kind, "value": value.binary.hex()}
        case "decimal":
            return {"type": kind, "value": _decimal(value.decimal)}
        case "date":
            return {"type": kind, "value": date.fromisoformat(value.date).isoformat()}
        case "timestamp":
            return {"type": kind, "value": _instant(value.timestamp)}
        case "timestamp_ntz":
            return {"type": kind, "value": _local(value.timestamp_ntz)}
        case "interval_microseconds":
            sign = "-" if value.interval_microseconds < 0 else ""
            seconds, micros = divmod(abs(value.interval_microseconds), 1_000_000)
            return {"type": "interval", "value": f"PT{sign}{seconds}.{micros:06d}S"}
    raise ValueError(f"a kind that this server does not know, {kind}")


def _parameter(name: str, value: plait_pb2.Value) -> Parameter:
    try:
        return parameter(value)
    except (ValueError, OverflowError, InvalidOperation) as error:
        kind = value.WhichOneof("kind")
        raise request(f"{name} is no {kind}: {error}.") from None


def _decimal(text: str) -> str:
    number = Decimal(text)
    if not number.is_finite():
        raise ValueError(f"{text!r} is not finite")
    digits, exponent = number.as_tuple().digits, int(number.as_tuple().exponent)
    if max(len(digits), -exponent, len(digits) + exponent) > 38:
        raise ValueError(f"{text[:60]!r} has more than 38 digits")
    return f"{number:f}"


def _instant(text: str) -> str:
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError(f"{text!r} has no zone; end it with Z, or send a timestamp_ntz")
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


def _local(text: str) -> str:
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is not None:
        raise ValueError(f"{text!r} has a zone; send a timestamp")
    return moment.isoformat(timespec="microseconds")
