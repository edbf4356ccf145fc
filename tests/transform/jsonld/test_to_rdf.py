from __future__ import annotations

import pytest

from motherlode.transform.jsonld.to_rdf import canonical_double, canonical_json

# Appendix B of RFC 8785, and the seams between Python's and ECMAScript's notation.
NUMBERS = {
    -0.0: "0",
    5e-324: "5e-324",
    1.7976931348623157e308: "1.7976931348623157e+308",
    9007199254740992: "9007199254740992",
    295147905179352830000: "295147905179352830000",
    9.999999999999997e22: "9.999999999999997e+22",
    1e23: "1e+23",
    999999999999999700000.0: "999999999999999700000",
    1e21: "1e+21",
    0.000001: "0.000001",
    0.0000012: "0.0000012",
    1e-7: "1e-7",
    333333333.33333325: "333333333.33333325",
    -0.0000033333333333333333: "-0.0000033333333333333333",
    1424953923781206.2: "1424953923781206.2",
    4.5: "4.5",
    10**400: "1" + "0" * 400,
    -(10**4000): "-1" + "0" * 4000,
}


@pytest.mark.parametrize(("number", "expected"), NUMBERS.items())
def test_numbers_are_spelled_as_ecmascript_does(number: float, expected: str) -> None:
    assert canonical_json(number) == expected


def test_keys_are_ordered_by_utf_16() -> None:
    # U+1F600 is two code units from D83D on, so it comes before U+FB33.
    assert canonical_json({"\ufb33": 1, "\U0001f600": 2, "a": 3}) == '{"a":3,"\U0001f600":2,"\ufb33":1}'


def test_strings_escape_only_what_they_must() -> None:
    assert canonical_json('\u2028é"\\\x07\x7f\n') == '"\u2028é\\"\\\\\\u0007\x7f\\n"'


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (1, "1.0E0"),
        (1e21, "1.0E21"),
        (0.1, "1.0E-1"),
        (123.456, "1.23456E2"),
        (float("-inf"), "-INF"),
        (float("nan"), "NaN"),
    ],
)
def test_doubles_have_one_digit_before_the_point(number: float, expected: str) -> None:
    assert canonical_double(number) == expected
