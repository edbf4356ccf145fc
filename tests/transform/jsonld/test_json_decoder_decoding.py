from __future__ import annotations

import pytest

from motherlode.transform.jsonld import json_decoder as decoding
from motherlode.transform.jsonld.json_decoder import decode


def test_json_is_read_strictly_where_it_can_be() -> None:
    reading = decode(' {"a": [1, "\\u00e9", 12345678901234567890123]} ')
    assert reading.values == [{"a": [1, "é", 12345678901234567890123]}]
    assert not reading.repairs


@pytest.mark.parametrize("text", ["", " \n ", "\ufeff", "\x00"])
def test_an_empty_block_is_no_failure(text: str) -> None:
    reading = decode(text)
    assert not reading.values
    assert reading.failure is None
    assert [repair.message for repair in reading.repairs] == ["empty block"]


def test_entities_are_undone_only_where_they_make_json() -> None:
    assert decode("{&quot;a&quot;: &#34;b &amp; c&#x22;}").values == [{"a": "b & c"}]
    assert decode('{"a": "b &amp; &quot;c&quot;"}').values == [{"a": "b &amp; &quot;c&quot;"}]
    assert decode('{"a": "b &quot;c&quot;",}').values == [{"a": "b &quot;c&quot;"}]


def test_what_is_no_json_fails_with_a_reason() -> None:
    failure = decode("Error 500").failure
    assert failure is not None
    assert failure.message == "no JSON in the block"


def test_numbers_beyond_doubles_are_read() -> None:
    assert decode("[1e400]").values == [[float("inf")]]
    assert len(decode(f"[{'9' * 10_000}]").values) == 1


def test_lone_surrogates_are_read() -> None:
    assert decode('["\\ud800"]').values == [["\ud800"]]
    assert decode('["\ud800"]').values == [["\ud800"]]


def test_deep_nesting_fails_with_a_reason() -> None:
    failure = decode("[" * 100_000 + "]" * 100_000).failure
    assert failure is not None
    assert failure.message == "nested too deep"


def test_length_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decoding, "MAX_CHARACTERS", 10)
    monkeypatch.setattr(decoding, "MAX_REPAIRED_CHARACTERS", 5)
    assert decode("[1,2,3,4,5]").failure is not None
    assert decode("[1,2,3,]").failure is not None
    assert decode("[1,]").values == [[1]]
