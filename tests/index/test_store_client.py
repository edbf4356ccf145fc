"""Calls and answers arrive as they were sent."""

from __future__ import annotations

import msgspec
import pytest

from motherlode.index.page_record import RunRecord
from motherlode.index.store_client import (
    Backup,
    Begin,
    Call,
    CallResult,
    Close,
    Finish,
    Flush,
    Has,
    IndexWords,
    OpenStore,
    Write,
)

from .fakes import A, record, says

CALLS: list[Call] = [
    OpenStore("/store"),
    Has(A),
    Begin(RunRecord(identifier="r", started_at=1.5, version="1", own_hosts=("a.example",))),
    IndexWords("/words"),
    Write([record(A, says("näme", 'say "hi"'))]),
    Flush(),
    Finish(2.5),
    Backup("/copy"),
    Close(),
]


@pytest.mark.parametrize("call", CALLS, ids=lambda call: type(call).__name__)
def test_a_call_arrives_as_it_was_sent(call: Call) -> None:
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(call), type=Call) == call


def test_an_answer_arrives_as_it_was_sent() -> None:
    answer = CallResult(error="No space left on device", errno=28, is_os_error=True)
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(answer), type=CallResult) == answer
