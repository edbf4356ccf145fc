"""Types of columns, and values that do not fit them."""

import pyoxigraph as ox
import pytest

from motherlode.quality.cell_values import convert, kind_of
from motherlode.quality.tables import MIN_TYPE_SHARE, TableColumn, find_coordinates, read_profile


@pytest.mark.parametrize(
    ("kinds", "expected"),
    [
        ({"integer": 3}, "integer"),
        ({"integer": 3, "number": 1}, "number"),
        ({"date": 2, "time": 2}, "time"),
        ({"integer": 96, "string": 4}, "integer"),
        ({"integer": 90, "string": 10}, "string"),
        ({"boolean": 2}, "boolean"),
        ({"string": 1}, "string"),
    ],
)
def test_column_has_the_type_that_nearly_all_values_fit(kinds: dict[str, int], expected: str) -> None:
    column = TableColumn(path="x")
    column.kinds.update(kinds)
    assert column.kind == expected
    assert 0.9 < MIN_TYPE_SHARE < 0.96


def test_number_with_a_leading_zero_is_text_and_a_language_does_not_matter() -> None:
    assert [kind_of(ox.Literal("007")), kind_of(ox.Literal("12", language="en"))] == ["string", "integer"]


def test_impossible_date_is_text() -> None:
    assert kind_of(ox.Literal("2026-02-31")) == "string"


def test_convert_gives_times_without_zone_in_utc() -> None:
    assert str(convert(ox.Literal("2026-01-02T03:04"), "time")) == "2026-01-02 03:04:00+00:00"


def test_find_coordinates_prefers_the_shortest_path() -> None:
    columns = ["location.geo.longitude", "location.geo.latitude", "geo.longitude", "geo.latitude", "name"]
    assert find_coordinates(columns) == ("geo.longitude", "geo.latitude")
    assert find_coordinates(["geo.longitude"]) is None


def test_profile_of_a_known_type_names_its_first_columns() -> None:
    assert read_profile("http://schema.org/Product").columns[0] == "name"
    assert read_profile("http://a.example/Thing").columns == ()
