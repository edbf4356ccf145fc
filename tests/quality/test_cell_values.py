"""Types of values, and their conversion."""

from datetime import UTC, date, datetime, timedelta

import pyoxigraph as ox
import pytest

from motherlode.quality.cell_values import FITTING, allows, convert, kind_of, parse_duration, parse_money


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("12", "integer", 12),
        ("-1.5e3", "number", -1500.0),
        ("true", "boolean", True),
        ("https://schema.org/False", "boolean", False),
        ("2026-01-02", "date", date(2026, 1, 2)),
        ("2026-01-02T03:04", "local time", datetime(2026, 1, 2, 3, 4)),
        ("2026-01-02T03:04:05+02:00", "time", datetime(2026, 1, 2, 1, 4, 5, tzinfo=UTC)),
        ("PT1H30M", "duration", timedelta(minutes=90)),
        ("P2W", "duration", timedelta(weeks=2)),
        ("https://a.example/x", "url", "https://a.example/x"),
        ("12,50 €", "money", 12.5),
        ("https://schema.org/InStock", "string", "InStock"),
        ("  white space \n", "string", "white space"),
    ],
)
def test_value_has_the_narrowest_type_and_is_converted_to_it(text: str, kind: str, value: object) -> None:
    literal = ox.Literal(text)
    assert kind_of(literal) == kind
    assert convert(literal, kind) == value


@pytest.mark.parametrize(
    "text", ["007", "1234567890123456", "2026-02-31", "P1Y", "P", "PT", "12 kg", "+49 30 1234", "1.299 €"]
)
def test_text_that_is_unclear_stays_text(text: str) -> None:
    assert kind_of(ox.Literal(text)) == "string"


def test_types_of_columns_follow_from_the_property_too() -> None:
    assert not allows("postalCode", "integer")
    assert not allows("telephone", "number")
    assert not allows("price", "integer")
    assert allows("price", "money")
    assert allows("totalTime", "duration")
    assert not allows("name", "date")
    assert allows("dcterms:issued", "date")


def test_wider_types_include_the_narrower_ones() -> None:
    assert set(FITTING["integer"]) < set(FITTING["number"]) < set(FITTING["money"])
    assert set(FITTING["date"]) < set(FITTING["local time"]) < set(FITTING["time"])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("EUR 1.299,00", (1299.0, "EUR")),
        ("US$1,299", (1299.0, "US$")),
        ("1 299,50 zł", (1299.5, "PLN")),
        ("£5", (5.0, "GBP")),
        ("12.50", None),
        ("$5 USD", None),
        ("about $5", None),
    ],
)
def test_parse_money_reads_amount_and_currency(text: str, expected: tuple[float, str] | None) -> None:
    assert parse_money(text) == expected


def test_parse_duration_of_another_text_is_an_error() -> None:
    with pytest.raises(ValueError, match="is not a duration"):
        parse_duration("one hour")
