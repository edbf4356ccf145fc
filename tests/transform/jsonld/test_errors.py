from __future__ import annotations

from motherlode.transform.jsonld.errors import ErrorCode, JsonLdError, LimitExceeded, Notes, describe_value


def test_errors_say_code_and_detail() -> None:
    assert str(JsonLdError(ErrorCode.INVALID_ID_VALUE, "7")) == "invalid @id value: 7"
    assert str(LimitExceeded(ErrorCode.CONTEXT_OVERFLOW)) == "context overflow"


def test_containers_are_not_spelled_out() -> None:
    values: list[object] = [[1] * 10**6, {}, 10**5000, 1.5, True]
    assert [describe_value(value) for value in values] == ["an array", "an object", "a number", "1.5", "true"]


# SECTION


def test_each_note_once_and_no_more_than_so_many() -> None:
    notes = Notes(2)
    for message in ("a", "a", "b", "c", "d"):
        notes.add(message)
    assert [note.message for note in notes.all()] == ["a", "b", "2 more problems of this kind"]


def test_messages_are_short() -> None:
    notes = Notes(1)
    notes.add("x" * 10_000)
    assert len(notes.all()[0].message) < 400


def test_messages_can_be_printed() -> None:
    notes = Notes(1)
    notes.add("bad \ud800 é")
    assert notes.all()[0].message.encode() == "bad ? é".encode()
