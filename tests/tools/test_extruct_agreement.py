"""Comparison of our drop-in with extruct: pairs of items, smallest differences, classes."""

from __future__ import annotations

from typing import Any

import pytest
from tools.extruct_agreement import Tally, add_page, canonical, compare, find_differences, print_table
from tools.extruct_classes import CLASSES, UNEXPLAINED, Difference, PageFeatures, classify

URL = "http://e.example/"


def test_canonical_ignores_names_of_blank_nodes_and_order_of_values() -> None:
    first = [{"@id": "_:a", "p": [{"@value": "1"}, {"@value": "2"}]}, {"@id": URL, "q": [{"@id": "_:a"}]}]
    second = [{"@id": "_:x", "p": [{"@value": "2"}, {"@value": "1"}]}, {"@id": URL, "q": [{"@id": "_:x"}]}]
    assert canonical(first, "rdfa") == canonical(second, "rdfa")
    second[0]["p"][0]["@value"] = "3"  # type: ignore[index]
    assert canonical(first, "rdfa") != canonical(second, "rdfa")


def test_compare_pairs_items_of_the_same_type() -> None:
    theirs, mine = [{"type": "A", "x": 1}, {"type": "B"}], [{"type": "B"}, {"type": "A", "x": 2}, {"type": "C"}]
    equal, pairs = compare(theirs, mine)
    assert equal == 1
    assert pairs == [(theirs[0], mine[1]), (None, mine[2])]


def test_find_differences_yields_the_smallest_parts() -> None:
    found = list(find_differences({"a": {"b": [1, 2]}, "c": 1}, {"a": {"b": [1, 3]}, "d": 1}))
    assert found == [
        Difference(path=("a", "b", "1"), theirs=2, mine=3),
        Difference(path=("c",), theirs=1, mine=None),
        Difference(path=("d",), theirs=None, mine=1),
    ]


def test_find_differences_of_order_is_one_difference() -> None:
    assert list(find_differences({"a": [1, 2]}, {"a": [2, 1]})) == [Difference(path=("a",), theirs=[1, 2], mine=[2, 1])]


@pytest.mark.parametrize(
    ("theirs", "mine", "name"),
    [
        (["1", "2"], ["2", "1"], "order of itemref properties"),
        (["1", "2"], ["1"], "itemref to an item"),
        (["1", "2"], ["1", "3"], UNEXPLAINED),
    ],
)
def test_classify_itemref_needs_the_same_values(theirs: list[str], mine: list[str], name: str) -> None:
    page = PageFeatures(URL, b'<p itemscope itemref="x">')
    assert classify(page, "microdata", [Difference(path=("a",), theirs=theirs, mine=mine)]) == name


@pytest.mark.parametrize(
    ("syntax", "difference", "name"),
    [
        ("rdfa", Difference(path=("p", "0", "@language"), theirs=None, mine="en"), "language of the lang attribute"),
        ("rdfa", Difference(path=("p", "0", "@value"), theirs="a", mine="b"), UNEXPLAINED),
        ("microdata", Difference(path=("name",), theirs="a b", mine="a\nb"), "end tag </br>"),
        ("microdata", Difference(path=("name",), theirs="a b", mine="a c"), UNEXPLAINED),
        ("opengraph", Difference(path=(), theirs=None, mine={}), UNEXPLAINED),
        ("json-ld", Difference(path=(), theirs="JSONDecodeError()", mine=[{}]), "broken JSON-LD block kept"),
    ],
)
def test_classify_needs_evidence(syntax: str, difference: Difference, name: str) -> None:
    assert classify(PageFeatures(URL, b'<p lang="en">a</br>b'), syntax, [difference]) == name


def test_classify_item_with_one_unexplained_difference_is_unexplained() -> None:
    known = Difference(path=("p", "0", "@language"), theirs=None, mine="en")
    other = Difference(path=("p", "0", "@value"), theirs="a", mine="b")
    assert classify(PageFeatures(URL, b'<p lang="en">'), "rdfa", [known, other]) == UNEXPLAINED


def test_unexplained_differences_count_against_us(capsys: pytest.CaptureFixture[str]) -> None:
    body = b'<p itemscope><b itemprop="a">1</b></p>'
    theirs: dict[str, Any] = {"microdata": [{"properties": {"a": "2"}}]}
    tallies = {"microdata": Tally()}
    add_page(tallies, URL, body, theirs, "")
    assert tallies["microdata"].classes == {UNEXPLAINED: 1}
    assert not print_table(tallies)
    assert "| microdata | 1 | 0 | 0 | 1 | 0.00% |" in capsys.readouterr().out


def test_classes_without_citation_are_the_ones_that_count() -> None:
    assert {name for name, it in CLASSES.items() if not it.citation} == {UNEXPLAINED, "broken JSON-LD block kept"}
