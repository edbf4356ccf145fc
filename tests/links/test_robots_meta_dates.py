"""Dates in directives."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from motherlode.links.robots_meta import parse_date


@pytest.mark.parametrize(
    "value",
    [
        "Wed, 25 Jun 2031 15:00:00 GMT",
        "Wednesday, 25-Jun-31 15:00:00 UTC",
        "25-Jun-2031 15:00:00",
        "25 June 2031 15:00",
        "25 jun 2031 11:00:00 edt",
        "25 Jun 2031 17:00:00 +0200",
        "Wed Jun 25 15:00:00 2031",
        "2031-06-25T15:00:00Z",
        "2031-06-25t17:00+02:00",
        "20310625T150000",
        "2031-W26-3 15:00",
        " 2031-06-25 15:00 ",
        "2031-06-25T15:00:00.75Z",
    ],
)
def test_parse_date_formats_give_same_time(value: str) -> None:
    assert parse_date(value) == datetime(2031, 6, 25, 15, tzinfo=UTC).timestamp()


@pytest.mark.parametrize("value", ["2031-06-25", "25-Jun-2031", "25 Jun 31", "2031-06-25 15:00:00 PST"])
def test_parse_date_day_starts_at_midnight_utc(value: str) -> None:
    assert parse_date(value) == datetime(2031, 6, 25, tzinfo=UTC).timestamp()


def test_parse_date_month_starts_at_first_day() -> None:
    assert parse_date("2031-06") == datetime(2031, 6, 1, tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    "value",
    ["", "soon", "-1", "2031", "1 Foo 2031", "25 Jun 99999 1:2", "25 Jun", "9" * 10_000],
)
def test_parse_date_invalid_text_is_none(value: str) -> None:
    assert parse_date(value) is None


@pytest.mark.parametrize("value", ["0001-01-01T00:00+14:00", "9999-12-31T23:59:59-14:00", "0 Jan 00 99:99:99 +9999"])
def test_parse_date_extreme_dates_do_not_raise(value: str) -> None:
    assert isinstance(parse_date(value), float)
