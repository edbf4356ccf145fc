"""Errors and notes."""

from __future__ import annotations

from motherlode.transform.jsonld.jsonld_errors import JsonLdError, LimitExceeded, Notes, describe_value


def test_jsonld_error_message_has_code_and_detail() -> None:
    assert str(JsonLdError("invalid @id value", "7")) == "invalid @id value: 7"
    assert str(LimitExceeded("context overflow")) == "context overflow"


def test_describe_value_containers_are_named_only() -> None:
    values: list[object] = [[1] * 10**6, {}, 10**5000, 1.5, True]
    assert [describe_value(value) for value in values] == ["an array", "an object", "a number", "1.5", "true"]


# Notes


def test_notes_are_distinct_and_limited() -> None:
    notes = Notes(strict=False, limit=2)
    for message in ("a", "a", "b", "c", "d"):
        notes.add(message)
    assert [note.message for note in notes.all()] == ["a", "b", "2 more problems of this kind"]


def test_notes_long_messages_are_shortened() -> None:
    notes = Notes(strict=False, limit=1)
    notes.add("x" * 10_000)
    assert len(notes.all()[0].message) < 400


def test_shorten_lone_surrogates_are_replaced() -> None:
    notes = Notes(strict=False, limit=1)
    notes.add("bad \ud800 é")
    assert notes.all()[0].message.encode() == "bad ? é".encode()
