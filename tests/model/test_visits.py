"""Visit records can be serialized, and records of older versions can be parsed."""

from __future__ import annotations

import msgspec

from motherlode.model import FailureKind, Problem, Syntax, Visit

FULL = Visit(
    number=7,
    url="http://a.example/é",
    host="a.example",
    arm="a\tb",
    depth=3,
    parent_url="http://a.example/",
    score=float("-inf"),
    at=1.5,
    failure=FailureKind.REDIRECT,
    detail="moved",
    status=301,
    counts={"rdfa": 3},
    problems=(Problem(syntax=Syntax.RDFA, message="x", line=1), Problem(syntax=None, message="y")),
    location="http://b.example/",
    refresh="gone",
    relevant_before=True,
    quads_before=3,
    value=0.25,
)


def test_visit_serialized_and_parsed_is_equal() -> None:
    decode = msgspec.msgpack.Decoder(Visit).decode
    for visit in (FULL, Visit(number=1, url="http://a.example/", host="a.example")):
        assert decode(msgspec.msgpack.encode(visit)) == visit


def test_visit_record_of_older_version_is_parsed_with_defaults() -> None:
    fields = msgspec.to_builtins(FULL)
    for name in ("value", "refresh", "relevant_before", "quads_before"):
        del fields[name]
    old = msgspec.msgpack.decode(msgspec.msgpack.encode(fields), type=Visit)
    assert (old.number, old.failure, old.counts) == (7, FailureKind.REDIRECT, {"rdfa": 3})
    assert (old.value, old.refresh, old.relevant_before, old.quads_before) == (None, "", False, 0)


def test_visits_do_not_share_default_counts() -> None:
    first, second = (Visit(number=number, url="u", host="h") for number in (1, 2))
    assert first.counts is not second.counts
