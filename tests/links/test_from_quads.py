"""Links of statements."""

from __future__ import annotations

from motherlode.links.from_quads import FOLLOW_ALL, statement_links
from motherlode.links.href import LinkOptions
from motherlode.model import Extraction, Statement, Syntax, TransformResult
from motherlode.model.terms import RDF_TYPE

PAGE = "http://example.org/page"
KNOWS = "<http://xmlns.com/foaf/0.1/knows>"


def found(*statements: Statement, syntax: Syntax = Syntax.TURTLE, **options: object) -> list[tuple[str, str]]:
    facts = TransformResult(extractions=(Extraction(syntax=syntax, statements=statements),))
    links = statement_links(facts, FOLLOW_ALL, page_url=PAGE, options=LinkOptions(**options))  # type: ignore[arg-type]
    return [(link.url, link.predicate) for link in links]


def test_statement_links_have_objects_and_subjects_with_predicate() -> None:
    assert found(
        (f"<{PAGE}#me>", KNOWS, "<http://example.com/ann#i>", ""), ("<http://example.com/b>", KNOWS, "_:x", "")
    ) == [
        ("http://example.com/ann", "http://xmlns.com/foaf/0.1/knows"),
        ("http://example.com/b", "http://xmlns.com/foaf/0.1/knows"),
    ]


def test_statement_links_skip_types_and_vocabulary_terms() -> None:
    statements: tuple[Statement, ...] = (
        ("_:x", RDF_TYPE, "<http://example.com/ontology#Thing>", ""),
        ("_:x", "<http://schema.org/availability>", "<https://schema.org/InStock>", ""),
    )
    assert found(*statements) == []


def test_statement_links_skip_literals_assets_other_schemes_and_page_facts() -> None:
    assert found(("_:x", KNOWS, '"http://example.com/a"', ""), ("_:x", KNOWS, "<mailto:a@example.com>", "")) == []
    assert found(("_:x", KNOWS, "<http://example.com/a.png>", "")) == []
    assert found((f"<{PAGE}>", KNOWS, "<http://example.com/a>", ""), syntax=Syntax.PAGE) == []


def test_statement_links_names_like_files_are_followed() -> None:
    names = ("resource/Node.js", "resource/Vue.js#this", "id/Cmd.exe", "site/notion.so", "id/palestine.ps", "x/A.class")
    urls = [f"http://example.com/{name}" for name in names]
    same = "<http://www.w3.org/2002/07/owl#sameAs>"
    statements: list[Statement] = [("_:x", same, f"<{url}>", "") for url in urls[:-1]] + [
        (f"<{urls[-1]}>", same, "_:x", "")
    ]
    assert [url for url, _ in found(*statements)] == [url.partition("#")[0] for url in urls]


def test_statement_links_files_are_skipped() -> None:
    assert (
        found(
            ("_:x", "<https://schema.org/downloadUrl>", "<http://example.com/Setup.exe>", ""),
            ("_:x", KNOWS, "<http://example.com/static/Node.js>", ""),
            ("_:x", KNOWS, "<http://example.com/releases/tool-1.2.exe>", ""),
            ("_:x", "<http://www.w3.org/1999/xhtml/vocab#stylesheet>", "<http://example.com/a.css>", ""),
            ("_:x", KNOWS, "<http://example.com/Report.doc>", ""),
        )
        == []
    )


def test_statement_links_are_bounded() -> None:
    many: list[Statement] = [("_:x", KNOWS, f"<http://example.com/{i}>", "") for i in range(100)]
    assert len(found(*many, page_links=7)) == 7
