"""Links of statements."""

from __future__ import annotations

from motherlode.extract import ExtractOptions, fact_links
from motherlode.model import Extraction, Facts, Statement, Syntax
from motherlode.model.terms import RDF_TYPE

PAGE = "http://example.org/page"
KNOWS = "<http://xmlns.com/foaf/0.1/knows>"


def found(*statements: Statement, syntax: Syntax = Syntax.TURTLE, **options: object) -> list[tuple[str, str]]:
    facts = Facts(extractions=(Extraction(syntax=syntax, statements=statements),))
    links = fact_links(facts, page_url=PAGE, options=ExtractOptions(**options))  # type: ignore[arg-type]
    return [(link.url, link.predicate) for link in links]


def test_objects_and_subjects_with_their_predicate() -> None:
    assert found(
        (f"<{PAGE}#me>", KNOWS, "<http://example.com/ann#i>", ""), ("<http://example.com/b>", KNOWS, "_:x", "")
    ) == [
        ("http://example.com/ann", "http://xmlns.com/foaf/0.1/knows"),
        ("http://example.com/b", "http://xmlns.com/foaf/0.1/knows"),
    ]


def test_types_and_terms_of_vocabularies_are_not_followed_unless_wanted() -> None:
    statements: tuple[Statement, ...] = (
        ("_:x", RDF_TYPE, "<http://example.com/ontology#Thing>", ""),
        ("_:x", "<http://schema.org/availability>", "<https://schema.org/InStock>", ""),
    )
    assert found(*statements) == []
    assert len(found(*statements, follow_vocabulary=True)) == 2


def test_only_some_predicates() -> None:
    statements: tuple[Statement, ...] = (
        ("_:x", KNOWS, "<http://example.com/a>", ""),
        ("_:x", "<http://schema.org/url>", "<http://example.com/b>", ""),
    )
    assert [url for url, _ in found(*statements, predicates=frozenset({"http://schema.org/url"}))] == [
        "http://example.com/b"
    ]


def test_no_literals_assets_other_schemes_or_page_facts() -> None:
    assert found(("_:x", KNOWS, '"http://example.com/a"', ""), ("_:x", KNOWS, "<mailto:a@example.com>", "")) == []
    assert found(("_:x", KNOWS, "<http://example.com/a.png>", "")) == []
    assert found((f"<{PAGE}>", KNOWS, "<http://example.com/a>", ""), syntax=Syntax.PAGE) == []


def test_bounded() -> None:
    many: list[Statement] = [("_:x", KNOWS, f"<http://example.com/{i}>", "") for i in range(100)]
    assert len(found(*many, page_links=7)) == 7
