"""Lexical forms of dates and times."""

from __future__ import annotations

from datetime import date

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


@pytest.mark.parametrize("year", ["2024", "2000", "1600", "12004", "0004", "-0004"])
def test_date_datatype_of_leap_day_is_date(year: str) -> None:
    assert date_datatype(f"{year}-02-29") == "http://www.w3.org/2001/XMLSchema#date"


@pytest.mark.parametrize("day", ["2021-02-29", "1900-02-29", "2024-02-30", "2024-04-31", "2024-11-31", "-0100-02-29"])
def test_date_datatype_of_impossible_day_is_none(day: str) -> None:
    assert date_datatype(day) is None
    assert date_datatype(f"{day}T10:00:00Z") is None


def test_date_datatype_knows_the_days_of_each_month() -> None:
    days = (
        f"{year}-{month:02}-{day:02}" for year in (1900, 2000, 2023, 2024) for month in range(14) for day in range(33)
    )
    assert all((date_datatype(day) is not None) == _is_day(day) for day in days)


def _is_day(text: str) -> bool:
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False
