"""Blank nodes are unique to a page and a syntax, and the same on every run."""

from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from motherlode.model import Syntax
from motherlode.transform.bnodes import BlankNames

URL = "http://example.org/"


@settings(max_examples=60, deadline=None)
@given(st.lists(st.none() | st.text(max_size=4), max_size=15))
def test_blank_names_same_label_gives_same_node_and_others_differ(asked: list[str | None]) -> None:
    names = BlankNames(URL, Syntax.RDFA)
    made = [names.fresh() if label is None else names.for_label(label) for label in asked]
    assert len(set(made)) == asked.count(None) + len({label for label in asked if label is not None})
    assert all(re.fullmatch(r"_:[A-Za-z][A-Za-z0-9]*", term) for term in made), "as N-Triples wants them"


def test_blank_names_pages_and_syntaxes_share_no_node() -> None:
    made = [
        BlankNames(url, syntax).for_label("x") for url in (URL, f"{URL}?", "http://example.org") for syntax in Syntax
    ]
    assert len(set(made)) == len(made)


def test_blank_names_are_the_same_in_every_process() -> None:
    """A page that is crawled again replaces its old statements, so its blank nodes must not depend on the run."""
    assert BlankNames(URL, Syntax.JSON_LD).fresh() == "_:jsonldb73dc5b066f53581n1"


def test_blank_names_non_ascii_url_is_accepted() -> None:
    assert BlankNames("http://例え.example/é", Syntax.TURTLE).fresh().isascii()


def test_blanknames_on_examples_gives_expected_values() -> None:
    names = BlankNames("http://example.org/", Syntax.RDFA)
    assert (names.fresh() != names.fresh(), names.for_label("x") == names.for_label("x")) == (True, True)
    assert (
        BlankNames("http://example.org/", Syntax.RDFA).fresh() == BlankNames("http://example.org/", Syntax.RDFA).fresh()
    )
