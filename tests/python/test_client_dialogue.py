# SPDX-License-Identifier: Apache-2.0
"""Examples: what a client says next, by what has come; nothing is sent."""

from __future__ import annotations

from typing import Any

import grpc
import pytest
from grpc import aio
from tests.python.fake_engine import SCHEMA, batch

from plait._proto import plait_pb2
from plait.client import RemoteError
from plait.client.dialogue import FIRST_PAUSES, PAUSES, Dialogue, Met
from plait.server import messages, sentences
from plait.server.failure import Failure, missing

FIRST = plait_pb2.ExecuteRequest(session="s", sql="SELECT 1", operation="o")
COLUMNS = plait_pb2.ExecuteResponse(schema={"arrow": SCHEMA.serialize().to_pybytes()})


def rows(offset: int) -> plait_pb2.ExecuteResponse:
    arrow = batch(offset).serialize().to_pybytes()
    return plait_pb2.ExecuteResponse(batch={"offset": offset, "rows": 3, "arrow": arrow})


def cut() -> grpc.RpcError:
    """The connection broke."""
    return aio.AioRpcError(grpc.StatusCode.UNAVAILABLE, aio.Metadata(), aio.Metadata(), "cut")


REFUSED = "failed to connect to all addresses; last error: UNKNOWN: Connection refused"


def refused(details: str = REFUSED) -> grpc.RpcError:
    """Nobody could be connected to."""
    return aio.AioRpcError(grpc.StatusCode.UNAVAILABLE, aio.Metadata(), aio.Metadata(), details)


def said(failure: Failure, server: str = "one") -> grpc.RpcError:
    """The server itself refused."""
    told = messages.status(failure, "o", server)
    packed = aio.Metadata(("grpc-status-details-bin", told.SerializeToString()))
    code = messages.STATUS[failure.kind]
    return aio.AioRpcError(code, aio.Metadata(), packed, told.message)


def dialogue() -> Dialogue:
    return Dialogue(FIRST, "h:1", None)


def test_a_cut_before_anything_came_attaches_at_the_first_batch() -> None:
    pause, request = dialogue().after(cut())
    assert (pause, request) == (
        FIRST_PAUSES[0],
        plait_pb2.AttachRequest(session="s", operation="o", next_offset=0),
    )


def test_a_cut_attaches_behind_the_last_batch_that_came() -> None:
    talk = dialogue()
    for message in (COLUMNS, rows(0), rows(1)):
        talk.take(message)
    request = talk.after(cut())[1]
    assert isinstance(request, plait_pb2.AttachRequest)
    assert request.next_offset == 2


def test_a_call_that_was_cut_off_without_a_word_is_taken_up_again() -> None:
    talk = dialogue()
    for message in (COLUMNS, rows(0)):
        talk.take(message)
    nothing = aio.Metadata()
    error = aio.AioRpcError(grpc.StatusCode.CANCELLED, nothing, nothing, "CANCELLED")
    request = talk.after(error)[1]
    assert isinstance(request, plait_pb2.AttachRequest)
    assert request.next_offset == 1


def test_the_answer_to_attach_is_taken_as_that_to_execute() -> None:
    talk = dialogue()
    for message in (COLUMNS, rows(0)):
        talk.take(plait_pb2.AttachResponse(response=message))
    assert (talk.schema, talk.batch) == (SCHEMA, batch(0))


def meant_for(server: str) -> Dialogue:
    """Begin, where that server has answered before."""
    return Dialogue(
        plait_pb2.ExecuteRequest.FromString(FIRST.SerializeToString()), "h:1", None, Met(server)
    )


def test_a_statement_is_sent_again_where_nobody_could_be_connected_to() -> None:
    talk = dialogue()
    assert talk.after(refused())[1] == FIRST
    assert isinstance(talk.after(cut())[1], plait_pb2.AttachRequest)
    assert isinstance(talk.after(refused())[1], plait_pb2.AttachRequest)


@pytest.mark.parametrize(
    "details",
    [
        "DNS resolution failed for h:1: C-ares status is not ARES_SUCCESS",
        "errors resolving h:1: [field:hostname lookup error:address lookup failed for h:1]",
        "empty address list: h",
    ],
)
def test_of_a_name_that_no_address_is_known_of_nothing_was_sent(details: str) -> None:
    talk = dialogue()
    for _ in FIRST_PAUSES:
        assert talk.after(refused(details))[1] == FIRST
    with pytest.raises(RemoteError, match="Nothing was sent") as caught:
        talk.after(refused(details))
    assert "may have run" not in str(caught.value)
    talk = dialogue()
    talk.after(cut())
    assert isinstance(talk.after(refused(details))[1], plait_pb2.AttachRequest)


def test_a_statement_is_sent_again_where_the_server_that_was_meant_would_know_it() -> None:
    talk = meant_for("one")
    assert isinstance(talk.after(cut())[1], plait_pb2.AttachRequest)
    request = talk.after(said(missing("o", 30.0)))[1]
    assert isinstance(request, plait_pb2.ExecuteRequest)
    assert (request.operation, request.server) == ("o", "one")


@pytest.mark.parametrize(
    ("meant", "remembered"),
    [("", 30.0), ("another", 30.0), ("one", 0.0)],
    ids=["nobody was meant", "another one was meant", "it may be forgotten"],
)
def test_a_statement_that_may_have_run_is_not_sent_again(meant: str, remembered: float) -> None:
    talk = meant_for(meant)
    talk.after(cut())
    with pytest.raises(RemoteError, match="It may have run, or not") as caught:
        talk.after(said(missing("o", remembered)))
    assert (caught.value.condition, caught.value.operation) == ("OPERATION_NOT_FOUND", "o")


@pytest.mark.parametrize(
    "known",
    [
        plait_pb2.ExecuteResponse(progress={"stages": 1}),
        COLUMNS,
        (("plait-server", "one"),),
    ],
    ids=["progress", "columns", "initial metadata"],
)
def test_a_statement_that_a_server_has_known_is_not_sent_again(known: Any) -> None:
    talk = meant_for("one")
    if isinstance(known, tuple):
        talk.hear(known)
    else:
        talk.take(known)
    talk.after(cut())
    with pytest.raises(RemoteError, match=r"has lost the operation|does not know the operation"):
        talk.after(said(missing("o", 30.0)))


def test_a_server_that_was_not_meant_is_from_then_on() -> None:
    talk = meant_for("one")
    request = talk.after(said(sentences.other_server(), "two"))[1]
    assert isinstance(request, plait_pb2.ExecuteRequest)
    assert request.server == "two"
    assert talk.after(said(missing("o", 30.0), "two"))[1] == request


def test_who_answers_nobody_says_that_the_statement_may_have_run() -> None:
    talk = dialogue()
    for _ in FIRST_PAUSES:
        talk.after(cut())
    with pytest.raises(RemoteError, match=r"No Plait server answers .* It may have run, or not"):
        talk.after(refused())
    talk = dialogue()
    for _ in FIRST_PAUSES:
        talk.after(refused())
    with pytest.raises(RemoteError) as caught:
        talk.after(refused())
    assert "may have run" not in str(caught.value)
    assert "Nothing was sent" in str(caught.value)


def test_what_comes_too_late_or_is_cancelled_on_the_clients_side_has_its_sql_state() -> None:
    nothing = aio.Metadata()
    late = aio.AioRpcError(grpc.StatusCode.DEADLINE_EXCEEDED, nothing, nothing, "too late")
    for run in (lambda: dialogue().after(late), dialogue().check_whole):
        with pytest.raises(RemoteError) as caught:
            run()
        assert caught.value.sql_state == "57014"


def test_what_the_server_says_is_final() -> None:
    with pytest.raises(RemoteError, match="no x") as caught:
        dialogue().after(said(Failure("statement", "X", "no x", "42703")))
    assert (caught.value.status, caught.value.sql_state) == ("INVALID_ARGUMENT", "42703")


def test_a_result_for_which_the_server_has_no_place_is_asked_for_again() -> None:
    busy = said(sentences.too_many_calls(160))
    talk = dialogue()
    talk.take(COLUMNS)
    talk.take(rows(0))
    attach = talk.after(cut())[1]
    assert [talk.after(busy)[0] for _ in PAUSES[1:]] == list(PAUSES[1:])
    with pytest.raises(RemoteError, match="busy with 160 calls") as caught:
        talk.after(busy)
    assert caught.value.condition == "TOO_MANY_CALLS"
    submitted = Dialogue(attach, "h:1", None)
    assert submitted.after(busy)[1] == attach


def test_a_statement_for_which_the_server_has_no_place_is_not_sent_again() -> None:
    with pytest.raises(RemoteError, match="busy with 160 calls"):
        dialogue().after(said(sentences.too_many_calls(160)))


def test_pauses_grow_up_to_the_last_and_begin_anew_with_an_answer() -> None:
    talk = dialogue()
    assert [talk.after(cut())[0] for _ in FIRST_PAUSES] == list(FIRST_PAUSES)
    with pytest.raises(RemoteError, match="No Plait server answers at h:1"):
        talk.after(cut())
    talk.take(COLUMNS)
    assert [talk.after(cut())[0] for _ in PAUSES] == list(PAUSES)


def test_a_deadline_leaves_ever_less_time() -> None:
    talk = Dialogue(FIRST, "h:1", 0.0)
    assert talk.seconds_left == 0.001
    assert dialogue().seconds_left is None
