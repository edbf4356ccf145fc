"""Tests of the parsing of words and filters. `test_searcher` tests what the queries find."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from motherlode.index.fulltext.query_parser import (
    QueryPart,
    Search,
    _iri_problem,
    build_name_query,
    build_queries,
    build_quick_query,
    iri_variants,
    parse_words,
)
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
def test_parse_words_finds_words_phrases_and_exclusions(typed: str, found: list[QueryPart]) -> None:
    assert parse_words(typed) == found


@pytest.mark.parametrize("typed", ["-basil", '-"san marzano" -basil', "-a-b"])
def test_parse_words_all_excluded_ignores_minus_signs(typed: str) -> None:
    found = parse_words(typed)
    assert found
    assert not any(part.excluded for part in found)
    assert list(build_queries(Search(words=typed))), "at least one part is required"


def test_parse_words_bounds_input() -> None:
    assert len(parse_words("a " * 600)) == 32
    (phrase,) = parse_words('"' + "word " * 150 + '"')
    assert len(phrase.tokens) == 40
    assert sum(len(part.tokens) for part in parse_words("b" * 900 + " x" * 500)) == 32
    assert parse_words(" " * 1_000 + "beyond") == []


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=60) | st.text(alphabet='-" ab', max_size=30))
def test_parse_words_any_input_gives_tokens_and_required_part(typed: str) -> None:
    found = parse_words(typed)
    assert all(part.tokens for part in found)
    assert not found or any(not part.excluded for part in found)
    assert len(list(build_queries(Search(words=typed)))) == (3 if found else 0)


@pytest.mark.parametrize(
    "asked",
    [
        Search(words="soup", type="no such prefix:x", predicate="<>", host="A.B", language="x-y-z"),
        Search(words="soup", type="::", predicate=" ", host=" ", language="-"),
        Search(words="soup", limit=0),
    ],
)
def test_build_queries_any_filter_is_accepted(asked: Search) -> None:
    assert len(list(build_queries(asked))) == 3


@pytest.mark.parametrize("name", ["", "schema:Recipe", "<foo:Bar>", "http://a.test/x", "x://y", "URN:isbn:1", " "])
def test_search_problem_valid_names_are_accepted(name: str) -> None:
    assert Search(words="", type=name, predicate=name).problem == ""


def test_search_problem_unknown_prefix_lists_known_prefixes() -> None:
    unknown = Search(words="", type="foo:Bar").problem
    assert unknown.startswith("type: the prefix of 'foo:Bar' is not known")
    assert "dcterms, doap, foaf" in unknown
    assert Search(words="", predicate="name").problem.startswith("predicate: 'name' is not an IRI")


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
def test_iri_variants_expand_prefix_and_include_http_and_https(name: str, found: list[str]) -> None:
    assert list(iri_variants(name)) == found


@settings(max_examples=100, deadline=None)
@given(st.sampled_from(sorted(PREFIXES)), st.from_regex(r"[A-Za-z0-9_]{1,12}", fullmatch=True))
def test_iri_variants_of_prefixed_name_and_iri_are_equal(prefix: str, local: str) -> None:
    assert set(iri_variants(f"{prefix}:{local}")) == set(iri_variants(f"<{PREFIXES[prefix]}{local}>"))


def test_parse_words_on_examples_gives_expected_values() -> None:
    assert [part.tokens for part in parse_words('Crème "San Marzano" -basil')] == [
        ("creme",),
        ("san", "marzano"),
        ("basil",),
    ]
    assert [part.tokens for part in parse_words('AND ( [* TO "x')] == [("and",), ("to",), ("x",)]


def test_iri_problem_on_examples_gives_expected_values() -> None:
    assert [
        _iri_problem("type", name) for name in ("schema:Recipe", "http://schema.org/Recipe", "urn:a", "<x:y>", "")
    ] == ["", "", "", "", ""]
    assert (
        _iri_problem("type", "Recipe")
        == "type: 'Recipe' is not an IRI; write for example schema:Recipe or http://schema.org/Recipe"
    )


def test_iri_variants_on_examples_gives_expected_values() -> None:
    assert iri_variants("schema:Recipe") == ["http://schema.org/Recipe", "https://schema.org/Recipe"]
    assert (iri_variants("<urn:a>"), iri_variants("")) == (["urn:a"], [])


@pytest.mark.parametrize(
    ("search", "is_quick"),
    [
        (Search(words="red lamp"), True),
        (Search(words="lamp"), True),
        (Search(words=""), False),
        (Search(words='"red lamp"'), False),
        (Search(words="red -lamp"), False),
        (Search(words="red lamp", type="schema:Product"), False),
        (Search(words="red lamp", host="a.example"), False),
    ],
)
def test_quick_query_is_made_for_plain_words_only(search: Search, is_quick: bool) -> None:  # noqa: FBT001
    assert (build_quick_query(search) is not None) == is_quick


@pytest.mark.parametrize(
    ("typed", "required"), [("oak table", 2), ('"oak table" -chair', 1), ("oak -table -chair", 1), ("-oak", 1)]
)
def test_name_query_requires_each_word_that_is_not_excluded(typed: str, required: int) -> None:
    assert repr(build_name_query(Search(words=typed))).count("(Must,") == required


def test_name_query_needs_a_word() -> None:
    assert build_name_query(Search(words="--")) is None
