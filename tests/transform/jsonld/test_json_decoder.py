"""Strict and tolerant decoding of JSON, and the recorded repairs."""

from __future__ import annotations

import time
from typing import Any

import pytest

from motherlode.transform.jsonld import json_decoder
from motherlode.transform.jsonld.json_decoder import TolerantDecoder, decode

REPAIRED: dict[str, tuple[Any, str]] = {
    '<!-- {"a":1} -->': ({"a": 1}, "comment or CDATA wrapper"),
    '//<![CDATA[\n{"a":1}\n//]]>': ({"a": 1}, "comment or CDATA wrapper"),
    '/*<![CDATA[*/{"a":1}/*]]>*/': ({"a": 1}, "comment or CDATA wrapper"),
    '<![CDATA[{"a":1}]]>': ({"a": 1}, "comment or CDATA wrapper"),
    '{"a":1, // one\n"b":2 /* two */}': ({"a": 1, "b": 2}, "comment or CDATA wrapper"),
    '{"a":1 <!-- "x": 2, -->}': ({"a": 1}, "comment or CDATA wrapper"),
    '{"a":[1,2,],}': ({"a": [1, 2]}, "trailing comma"),
    '{"a":1,,"b":2}': ({"a": 1, "b": 2}, "stray ,"),
    '{"a":1};': ({"a": 1}, "stray ;"),
    '{"a":1}}': ({"a": 1}, "stray }"),
    '{"a":1 "b":2}': ({"a": 1, "b": 2}, "missing comma"),
    '{"a" 1}': ({"a": 1}, "missing colon"),
    '{"a":"x\ny\tz"}': ({"a": "x\ny\tz"}, "raw control character in a string"),
    '{"a":"b\\\'c"}': ({"a": "b'c"}, "bad escape in a string"),
    '{"a":"\\\\q\\x"}': ({"a": "\\qx"}, "bad escape in a string"),
    '{"a":"say "hi" now","b":1}': ({"a": 'say "hi" now', "b": 1}, "unescaped quotation mark"),
    '{"a":"say "hi", and go","b":1}': ({"a": 'say "hi", and go', "b": 1}, "unescaped quotation mark"),
    '{"a":"b", c: "d"}': ({"a": "b", "c": "d"}, "key without quotation marks"),
    "{'a':'b'}": ({"a": "b"}, "wrong quotation marks"),
    "{“a”: “b”}": ({"a": "b"}, "wrong quotation marks"),
    '{a: "b"}': ({"a": "b"}, "key without quotation marks"),
    '{"a": 01234}': ({"a": "01234"}, "number that is not valid JSON, read as text"),
    '{"a": undefined}': ({"a": None}, "undefined is not JSON"),
    '{"a":, "b":1}': ({"b": 1}, "key without a value"),
    '{"a": $x, "b":1}': ({"a": None, "b": 1}, "unreadable value"),
    '{"a":{"b":1}': ({"a": {"b": 1}}, "the text ends inside 1 open brackets"),
    '{"a":1, "b": "tex': ({"a": 1}, "the text ends inside a string"),
    '{"a":[1,2}': ({"a": [1, 2]}, "stray }"),
    'var data = {"a":1};': ({"a": 1}, "text outside the JSON was skipped"),
    '\ufeff{"a":1}': ({"a": 1}, "byte-order mark or NUL between values"),
}


@pytest.mark.parametrize(("text", "expected"), REPAIRED.items())
def test_decode_tolerantly_repairs_are_recorded(text: str, expected: tuple[Any, str]) -> None:
    decoded = TolerantDecoder(text).decode()
    assert decoded.values == [expected[0]]
    assert expected[1] in [repair.message for repair in decoded.repairs]
    assert decoded.failure is None


def test_decode_tolerantly_valid_json_needs_no_repair() -> None:
    text = '{"a": ["x\\n\\u00e9\\"", -1.5e3, true, null, {}, []], "b/": "//no comment <!-- -->"}'
    decoded = TolerantDecoder(text).decode()
    assert decoded.values == [{"a": ['x\né"', -1500.0, True, None, {}, []], "b/": "//no comment <!-- -->"}]
    assert not decoded.repairs


def test_decode_tolerantly_several_values_are_returned() -> None:
    decoded = TolerantDecoder('{"a":1}\n[2]\n{"b":3}').decode()
    assert decoded.values == [{"a": 1}, [2], {"b": 3}]
    assert [(repair.offset, repair.message) for repair in decoded.repairs] == [
        (8, "one more JSON value in the same block"),
        (12, "one more JSON value in the same block"),
    ]


def test_decode_tolerantly_repairs_have_offsets() -> None:
    assert [repair.offset for repair in TolerantDecoder('{"a":1,\n}').decode().repairs] == [8]


def test_decode_tolerantly_non_json_text_fails() -> None:
    decoded = TolerantDecoder("[" + "$ % & " * 50).decode()
    assert decoded.failure is not None
    assert decoded.failure.message == "not JSON"


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        '{"a":' * 100_000,
        '"' * 500_000,
        '{"a":"' + 'x" y ' * 100_000,
        '{"a":"' + "\\" * 500_001,
        "<!--" * 100_000,
        "/*" * 200_000,
        '{"a":1},' * 30_000,
        "{" + "}" * 200_000,
        "[" * 400 + "]}" * 100_000,
        "{“" + "“" * 200_000,
        '["' + "a" * 1_000_000,
        "{" + '"a":1 ' * 50_000,
    ],
    ids=lambda text: repr(text[:8]),
)
def test_decode_tolerantly_hostile_text_is_read_in_time(text: str) -> None:
    started = time.process_time()
    TolerantDecoder(text).decode()
    assert time.process_time() - started < 5


# Strict decoding with repair as the fallback


def test_decode_valid_json_is_decoded_strictly() -> None:
    decoded = decode(' {"a": [1, "\\u00e9", 12345678901234567890123]} ')
    assert decoded.values == [{"a": [1, "é", 12345678901234567890123]}]
    assert not decoded.repairs


@pytest.mark.parametrize("text", ["", " \n ", "\ufeff", "\x00"])
def test_decode_empty_block_is_not_a_failure(text: str) -> None:
    decoded = decode(text)
    assert not decoded.values
    assert decoded.failure is None
    assert [repair.message for repair in decoded.repairs] == ["empty block"]


def test_decode_html_entities_are_unescaped_only_if_json_results() -> None:
    assert decode("{&quot;a&quot;: &#34;b &amp; c&#x22;}").values == [{"a": "b & c"}]
    assert decode('{"a": "b &amp; &quot;c&quot;"}').values == [{"a": "b &amp; &quot;c&quot;"}]
    assert decode('{"a": "b &quot;c&quot;",}').values == [{"a": "b &quot;c&quot;"}]


def test_decode_typographic_entities_around_keys_are_quotation_marks() -> None:
    block = "<p>{<br />\n&#8220;a&#8221;: &#8220;b &amp; c 5&#8243;,<br />\n&ldquo;d&rdquo;: 1</p>\n<p>}</p>"
    assert decode(block).values == [{"a": "b & c 5", "d": 1}]
    assert decode('{"a": "b, &#8220;c&#8221;",}').values == [{"a": "b, &#8220;c&#8221;"}]


@pytest.mark.parametrize(
    "text", ['"{\\"a\\": \\"b \\\\\\"c\\"}"', '{\\"a\\":\n\\"b \\\\\\"c\\"}', ' [ {\\"a\\":\\"b \\\\\\"c\\"}]']
)
def test_decode_escaped_json_is_decoded_twice(text: str) -> None:
    decoded = decode(text)
    assert decoded.values in ([{"a": 'b "c'}], [[{"a": 'b "c'}]])
    assert [repair.message for repair in decoded.repairs] == ["JSON inside a JSON string"]


def test_decode_unfinished_escaped_json_is_decoded_with_repairs() -> None:
    assert decode('{\\"a\\": \\"b\\"').values == [{"a": "b"}]
    assert decode('{\\"a\\": "b"}').repairs


def test_decode_non_json_text_has_failure_reason() -> None:
    failure = decode("Error 500").failure
    assert failure is not None
    assert failure.message == "no JSON in the block"


def test_decode_numbers_beyond_double_are_kept() -> None:
    assert decode("[1e400]").values == [[float("inf")]]
    assert len(decode(f"[{'9' * 10_000}]").values) == 1


def test_decode_lone_surrogates_are_accepted() -> None:
    assert decode('["\\ud800"]').values == [["\ud800"]]
    assert decode('["\ud800"]').values == [["\ud800"]]


def test_decode_deep_nesting_has_failure_reason() -> None:
    failure = decode("[" * 100_000 + "]" * 100_000).failure
    assert failure is not None
    assert failure.message == "nested too deep"


def test_decode_length_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_decoder, "MAX_CHARACTERS", 10)
    monkeypatch.setattr(json_decoder, "MAX_REPAIRED_CHARACTERS", 5)
    assert decode("[1,2,3,4,5]").failure is not None
    assert decode("[1,2,3,]").failure is not None
    assert decode("[1,]").values == [[1]]


def test_decode_on_examples_gives_expected_values() -> None:
    assert (decode('{"a": 1}').values, decode("{&quot;a&quot;: 1}").values) == ([{"a": 1}], [{"a": 1}])
