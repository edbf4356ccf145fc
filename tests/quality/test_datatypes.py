"""Tests of lexical forms and the order of literals."""

import pytest

from motherlode.model.terms import XSD, literal
from motherlode.quality.datatypes import compare, is_well_formed


@pytest.mark.parametrize(
    ("text", "name", "expected"),
    [
        ("12", "integer", True),
        ("1.5", "integer", False),
        ("300", "byte", False),
        ("-1", "nonNegativeInteger", False),
        ("2026-02-30", "date", False),
        ("2024-02-29Z", "date", True),
        ("2026-01-01T24:00:00", "dateTime", True),
        ("PT1H30M", "duration", True),
        ("P", "duration", False),
        ("yes", "boolean", False),
        ("1e3", "double", True),
        ("anything", "string", True),
        ("9" * 5000, "integer", False),
    ],
)
def test_is_well_formed_follows_the_lexical_space(text: str, name: str, *, expected: bool) -> None:
    assert is_well_formed(text, XSD + name) is expected


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        (("2", "integer"), ("10.5", "decimal"), -1),
        (("2026-01-01T00:00:00Z", "dateTime"), ("2025-12-31T23:00:00-01:00", "dateTime"), 0),
        (("2026-01-01T00:00:00", "dateTime"), ("2026-01-01T00:00:00Z", "dateTime"), None),
        (("b", "string"), ("a", "string"), 1),
        (("b", "string"), ("1", "integer"), None),
        (("NaN", "double"), ("1", "integer"), None),
    ],
)
def test_compare_orders_values_of_one_kind(left: tuple[str, str], right: tuple[str, str], expected: int | None) -> None:
    first, second = (literal(text, datatype=XSD + name) for text, name in (left, right))
    assert compare(first, second) == expected
