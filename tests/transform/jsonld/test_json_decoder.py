"""JSON as people write it: what is understood, and what is said about it."""

from __future__ import annotations

import time
from typing import Any

import pytest

from motherlode.transform.jsonld.json_decoder import decode_tolerantly

MENDED: dict[str, tuple[Any, str]] = {
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


@pytest.mark.parametrize(("text", "expected"), MENDED.items())
def test_what_is_mended_is_told(text: str, expected: tuple[Any, str]) -> None:
    reading = decode_tolerantly(text)
    assert reading.values == [expected[0]]
    assert expected[1] in [repair.message for repair in reading.repairs]
    assert reading.failure is None


def test_good_json_needs_no_repair() -> None:
    text = '{"a": ["x\\n\\u00e9\\"", -1.5e3, true, null, {}, []], "b/": "//no comment <!-- -->"}'
    reading = decode_tolerantly(text)
    assert reading.values == [{"a": ['x\né"', -1500.0, True, None, {}, []], "b/": "//no comment <!-- -->"}]
    assert not reading.repairs


def test_several_values_are_several_values() -> None:
    reading = decode_tolerantly('{"a":1}\n[2]\n{"b":3}')
    assert reading.values == [{"a": 1}, [2], {"b": 3}]
    assert [(repair.offset, repair.message) for repair in reading.repairs] == [
        (8, "one more JSON value in the same block"),
        (12, "one more JSON value in the same block"),
    ]


def test_repairs_say_where() -> None:
    assert [repair.offset for repair in decode_tolerantly('{"a":1,\n}').repairs] == [8]


def test_text_that_is_no_json_is_given_up() -> None:
    reading = decode_tolerantly("[" + "$ % & " * 50)
    assert reading.failure is not None
    assert reading.failure.message == "not JSON"


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
def test_no_text_takes_long(text: str) -> None:
    started = time.process_time()
    decode_tolerantly(text)
    assert time.process_time() - started < 5
