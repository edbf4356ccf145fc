"""From typed words to queries; what they find is the matter of `test_searching`."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from motherlode.index.fulltext.query_parser import QueryPart, Search, build_queries, iri_variants, parse_words
from motherlode.model.terms import PREFIXES


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("tomato soup", [QueryPart(("tomato",)), QueryPart(("soup",))]),
        ('"Tomato soup"', [QueryPart(("tomato", "soup"), exact=True)]),
        ('soup -"san marzano"', [QueryPart(("soup",)), QueryPart(("san", "marzano"), excluded=True, exact=True)]),
        ("soup -basil", [QueryPart(("soup",)), QueryPart(("basil",), excluded=True)]),
        ("well-known", [QueryPart(("well", "known"))]),
        ('"left open', [QueryPart(("left", "open"), exact=True)]),
        ('"" - -- -""', []),
        ("  \t\n ", []),
        ("", []),
    ],
)
def test_words_phrases_and_what_must_be_absent(typed: str, found: list[QueryPart]) -> None:
    assert parse_words(typed) == found


@pytest.mark.parametrize("typed", ["-basil", '-"san marzano" -basil', "-a-b"])
def test_where_everything_is_excluded_the_sign_meant_something_else(typed: str) -> None:
    found = parse_words(typed)
    assert found
    assert not any(part.excluded for part in found)
    assert build_queries(Search(words=typed)), "there is something to look for"


def test_what_is_typed_is_bounded() -> None:
    assert len(parse_words("a " * 600)) == 32
    (phrase,) = parse_words('"' + "word " * 150 + '"')
    assert len(phrase.tokens) == 40
    assert sum(len(part.tokens) for part in parse_words("b" * 900 + " x" * 500)) == 32
    assert parse_words(" " * 1_000 + "beyond") == []


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=60) | st.text(alphabet='-" ab', max_size=30))
def test_every_part_has_words_and_something_is_wanted_if_anything_is_found(typed: str) -> None:
    found = parse_words(typed)
    assert all(part.tokens for part in found)
    assert not found or any(not part.excluded for part in found)
    assert len(build_queries(Search(words=typed))) == (3 if found else 0)


@pytest.mark.parametrize(
    "asked",
    [
        Search(words="soup", type="no such prefix:x", predicate="<>", host="A.B", language="x-y-z"),
        Search(words="soup", type="::", predicate=" ", host=" ", language="-"),
        Search(words="soup", limit=0),
    ],
)
def test_no_filter_is_an_error(asked: Search) -> None:
    assert len(build_queries(asked)) == 3


@pytest.mark.parametrize("name", ["", "schema:Recipe", "<foo:Bar>", "http://a.test/x", "x://y", "URN:isbn:1", " "])
def test_names_that_may_be_meant(name: str) -> None:
    assert Search(words="", type=name, predicate=name).problem == ""


def test_names_that_can_never_fit_are_told_with_what_is_known() -> None:
    unknown = Search(words="", type="foo:Bar").problem
    assert unknown.startswith("type: the prefix of 'foo:Bar' is not known")
    assert "dcterms, doap, foaf" in unknown
    assert Search(words="", predicate="name").problem.startswith("predicate: 'name' is no IRI")


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("schema:Recipe", ["http://schema.org/Recipe", "https://schema.org/Recipe"]),
        ("https://schema.org/Recipe", ["https://schema.org/Recipe", "http://schema.org/Recipe"]),
        (" <http://a.test/x> ", ["http://a.test/x", "https://a.test/x"]),
        ("ml:graph", [PREFIXES["ml"] + "graph"]),
        ("unknown:x", ["unknown:x"]),
        ("schema", ["schema"]),
        ("schema://host/x", ["schema://host/x"]),
        ("", []),
    ],
)
def test_a_name_is_written_out_and_http_and_https_are_the_same(name: str, found: list[str]) -> None:
    assert list(iri_variants(name)) == found


@settings(max_examples=100, deadline=None)
@given(st.sampled_from(sorted(PREFIXES)), st.from_regex(r"[A-Za-z0-9_]{1,12}", fullmatch=True))
def test_a_prefixed_name_and_its_iri_mean_the_same(prefix: str, local: str) -> None:
    assert set(iri_variants(f"{prefix}:{local}")) == set(iri_variants(f"<{PREFIXES[prefix]}{local}>"))
