"""Lexical forms of dates and times."""

from __future__ import annotations

import pytest

from motherlode.www.html_ancestors import date_datatype


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("2012-03-18", "date"),
        ("2012-03-18Z", "date"),
        ("2012-03-18-06:00", "date"),
        ("00:00:00", "time"),
        ("24:00:00", "time"),
        ("23:59:59.5+14:00", "time"),
        ("2012-03-18T00:00:00Z", "dateTime"),
        ("-0044-03-15T12:00:00", "dateTime"),
        ("P2011Y06M28DT00H00M00S", "duration"),
        ("-P1D", "duration"),
        ("PT0.5S", "duration"),
        ("2012", "gYear"),
        ("12012", "gYear"),
        ("2012-03", "gYearMonth"),
    ],
)
def test_date_datatype_of_valid_forms(text: str, name: str) -> None:
    assert date_datatype(text) == f"http://www.w3.org/2001/XMLSchema#{name}"


@pytest.mark.parametrize(
    "text",
    ["", "P", "PT", "P1", "2012-13", "2012-3", "2012-03-32", "24:00:01", "2012-03-18T00:00", "18 March", "123", "٢٠١٢"],
)
def test_date_datatype_of_other_text_is_none(text: str) -> None:
    assert date_datatype(text) is None
