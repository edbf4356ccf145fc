"""Dates, times and durations."""

from __future__ import annotations

import pytest

from motherlode.model.terms import XSD
from motherlode.transform.microformats.dates import find_date, join_date_parts, read_time, to_typed_value

from .pages import properties


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        (["2009-06-26", "19:00:00-08:00"], "2009-06-26 19:00:00-0800"),
        (["2009-06-26", "19:00z"], "2009-06-26 19:00Z"),
        (["2009-06-26", "12am"], "2009-06-26 00:00"),
        (["2009-06-26", "12:30 P.M."], "2009-06-26 12:30"),
        (["2009-06-26", "7pm", "-8"], "2009-06-26 19:00-0800"),
        (["19:00", "2009-177"], "2009-177 19:00"),
        (["2009-06-26T19:00", "+0100"], "2009-06-26T19:00+0100"),
        (["2009-06-26T19:00-08:00", "20:00"], "2009-06-26T19:00-08:00"),
        (["2009-06-26", "2010-01-01"], "2009-06-26"),
        (["00:00:00", "2099-12-31 23:59:59", "2000-01-01"], "2000-01-01 00:00:00"),
        (["+0100"], None),
        (["13pm"], None),
        ([], None),
        (["2" * 100_000], None),
    ],
)
def test_join_date_parts_returns_date_and_time_or_none(parts: list[str], expected: str | None) -> None:
    assert join_date_parts(parts) == expected


@pytest.mark.parametrize(
    ("value", "lexical", "datatype"),
    [
        ("2012-10-30T11:45:00-08:00", "2012-10-30T11:45:00-08:00", "dateTime"),
        ("2012-10-30 11:45", "2012-10-30T11:45:00", "dateTime"),
        ("2012-10-30T11:45:00.5Z", "2012-10-30T11:45:00.5Z", "dateTime"),
        ("2009-06-26 19:00-0800", "2009-06-26T19:00:00-08:00", "dateTime"),
        ("2013-034", "2013-02-03", "date"),
        ("19:30", "19:30:00", "time"),
        ("1999", "1999", "gYear"),
        ("--12-24", "--12-24", "gMonthDay"),
        ("P2Y11M", "P2Y11M", "duration"),
        ("P2W", "P14D", "duration"),
    ],
)
def test_valid_value_has_a_datatype(value: str, lexical: str, datatype: str) -> None:
    assert to_typed_value(value) == (lexical, XSD + datatype)


@pytest.mark.parametrize(
    "value",
    [
        "",
        "P",
        "PT",
        "2013-02-30",
        "2013-366",
        "25:00",
        "2012-13",
        "2012-10-30T24:61",
        "2012-01-01T10:00+99:00",
        "½",
        "soon",
    ],
)
def test_other_value_has_no_datatype(value: str) -> None:
    assert to_typed_value(value) is None


def test_time_gets_the_date_before_it_otherwise_the_next() -> None:
    html = (
        '<p class="h-event"><i class="dt-a">19:00</i><i class="dt-b">2020-01-01T10:00</i><i class="dt-c">22:00</i></p>'
    )
    found = properties(html)
    assert found["a"] == ["2020-01-01 19:00"]
    assert found["c"] == ["2020-01-01 22:00"]


def test_time_does_not_get_the_date_of_another_item() -> None:
    html = '<p class="h-event"><i class="p-x h-event"><b class="dt-a">2020-01-01</b></i><i class="dt-c">22:00</i></p>'
    assert properties(html)["c"] == ["22:00"]


def test_find_date_on_examples_gives_expected_values() -> None:
    assert (find_date("2012-10-30T11:45:00-08:00"), find_date("2013-034"), find_date("tomorrow")) == (
        "2012-10-30",
        "2013-034",
        "",
    )


def test_read_time_on_examples_gives_expected_values() -> None:
    assert (read_time("7:30pm"), read_time("22:00-06:00"), read_time("2012"), read_time("2012-10-30")) == (
        "19:30",
        "22:00-0600",
        "",
        "",
    )
