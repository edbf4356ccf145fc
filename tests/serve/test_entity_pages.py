"""Tests of the pages about entities and crawled pages, with a real store and a real query process."""

from __future__ import annotations

from pathlib import Path

import pytest
from selectolax.lexbor import LexborHTMLParser

from motherlode.crawler.explain.explanation import UrlExplanation
from motherlode.index.quad_store import QuadStore
from motherlode.index.query.query_pool import QueryPool, Term
from motherlode.serve.entity_pages import best_label, blank_node_page, crawled_page, entity_page, group_rows
from tests.index.fakes import record, says

NAME, URL, TYPE = (
    "<http://schema.org/name>",
    "<http://schema.org/url>",
    "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>",
)
SOUP = "http://ex.org/soup"
A, B = "http://a.test/", "http://b.test/x?y=|"
WILD = "http://shop.test/50%?a[]=1"
"""An IRI that the store accepts and a query cannot contain."""


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("knowing") / "store"
    quads = QuadStore(path)
    quads.write(
        [
            record(
                A,
                says("soup", "Tomato soup", predicate=NAME),
                says("soup", "http://ex.org/bowl", predicate=URL),
                (f"<{SOUP}>", URL, "<http://ex.org/bowl>", ""),
                (f"<{SOUP}>", TYPE, "<http://schema.org/Recipe>", ""),
                ("<http://ex.org/cook>", "<http://schema.org/makes>", f"<{SOUP}>", ""),
                ("_:b1", "<http://schema.org/part>", f"<{SOUP}>", ""),
            ),
            record(
                B,
                says("soup", "Tomato soup", predicate=NAME),
                says("soup", "<b>hot</b>"),
                says("in", "g", graph="<u:g>"),
            ),
            record(
                "http://shop.test/",
                (f"<{WILD}>", NAME, '"half price"', ""),
                ("<http://ex.org/shop>", URL, f"<{WILD}>", ""),
            ),
            record("http://many.test/", *(says("many", f"value {number}") for number in range(60))),
        ]
    )
    quads.close()
    return path


def rows(html: str) -> list[str]:
    """Return the rows of the tables as text."""
    return [" ".join(row.text(separator=" ").split()) for row in LexborHTMLParser(html).css("tbody tr")]


def links(html: str, start: str) -> list[str]:
    found = (node.attributes["href"] or "" for node in LexborHTMLParser(html).css("main a[href]"))
    return [href for href in found if href.startswith(start)]


async def test_entity_page_of_invalid_iri_is_shown(pool: QueryPool) -> None:
    status, html = await entity_page(pool, WILD, seconds=30)
    assert status == 200
    assert "<h1><bdi>half price</bdi></h1>" in html
    assert any("ex.org/shop" in row for row in rows(html)), "the entity that mentions it"
    status, _ = await entity_page(pool, f"{WILD}0", seconds=30)
    assert status == 404


async def test_entity_page_shows_values_sources_and_mentions(pool: QueryPool) -> None:
    status, html = await entity_page(pool, SOUP, seconds=30)
    assert status == 200
    assert "<h1><bdi>Tomato soup</bdi></h1>" in html
    found = rows(html)
    assert found[0].startswith("rdf:type"), "the type comes first, then the name"
    assert found[1].startswith("schema:name Tomato soup ")
    assert sorted(found[1].split()[-2:]) == ["1", "2"], "a value of two pages is shown once"
    (address,) = (row for row in found if row.startswith("schema:url"))
    assert address.count("http://ex.org/bowl") == 2, "a literal and an IRI with the same text are two values"
    assert "&lt;b&gt;hot&lt;/b&gt;" in html
    assert any(row.startswith("http://ex.org/cook schema:makes") for row in found)
    assert sorted(links(html, "/page?")) == [
        "/page?url=http%3A%2F%2Fa.test%2F",
        "/page?url=http%3A%2F%2Fb.test%2Fx%3Fy%3D%257C",
    ]


async def test_blank_node_page_needs_its_graph(pool: QueryPool) -> None:
    _, html = await entity_page(pool, SOUP, seconds=30)
    (href,) = links(html, "/entity?node=")
    assert "page=http%3A%2F%2Fa.test%2F" in href
    node = href.partition("node=_%3A")[2].partition("&")[0]
    status, html = await blank_node_page(pool, f"_:{node}", A, seconds=30)
    assert status == 200
    assert rows(html)[0].startswith("schema:part")
    assert (await blank_node_page(pool, f"_:{node}", "http://many.test/", seconds=30))[0] == 404
    assert (await blank_node_page(pool, "_:none' } #", A, seconds=30))[0] == 404
    assert (await blank_node_page(pool, f"_:{node}", "no iri", seconds=30))[0] == 400


async def test_unknown_entity_is_404_and_invalid_iri_is_400(pool: QueryPool) -> None:
    status, html = await entity_page(pool, "http://nobody.test/", seconds=30)
    assert status == 404
    assert "No crawled page has a statement about it" in html
    for wrong in ("no iri", "", "http://a.test/> ?p ?o } #", "x" * 10_000):
        status, html = await entity_page(pool, wrong, seconds=30)
        assert status == 400
        assert len(html) < 10_000
    status, html = await entity_page(pool, A, seconds=30)
    assert status == 200, "a page without statements about itself is still shown as crawled"
    assert "This page was crawled" in html


async def test_entity_page_shortens_and_counts_many_values(pool: QueryPool) -> None:
    _, html = await entity_page(pool, "http://ex.org/many", seconds=30)
    assert "and 10 more" in html
    assert len(LexborHTMLParser(html).css("ul.values li")) == 51


def explain(url: str) -> UrlExplanation:
    return UrlExplanation(url=url, state="unknown", because="no page links to it")


async def test_page_shows_provenance_and_statements(pool: QueryPool) -> None:
    status, html = await crawled_page(pool, B, explain, seconds=30)
    assert status == 200
    found = rows(html)
    assert found[0].startswith("prov:generatedAtTime")
    assert found[1].startswith("ml:status 200")
    assert "3 statements about 2 subjects" in html, "statements of a named graph of the page are included"
    cards = [card.text(strip=True) for card in LexborHTMLParser(html).css("article h3")]
    assert cards == ["Tomato soup", "http://ex.org/in"], "the subject with most statements comes first"
    assert (await crawled_page(pool, "http://none.test/", explain, seconds=30))[0] == 404
    assert (await crawled_page(pool, "no url", explain, seconds=30))[0] == 400


def row(predicate: str, value: str, kind: str = "literal") -> dict[str, Term]:
    return {"p": Term("uri", predicate), "o": Term(kind, value)}


@pytest.mark.parametrize(
    ("said", "label"),
    [
        ([], ""),
        ([row("http://ex.org/p", "x")], ""),
        ([row("http://schema.org/name", "http://ex.org/", kind="uri")], ""),
        (
            [row("http://schema.org/name", "name"), row("http://www.w3.org/2004/02/skos/core#prefLabel", "label")],
            "label",
        ),
        ([row("http://schema.org/name", "longer"), row("http://schema.org/name", "short")], "short"),
        ([row("http://schema.org/name", "  two\n lines ")], "two lines"),
        ([row("http://schema.org/name", "x" * 500)], "x" * 159 + "…"),
    ],
)
def test_best_label_prefers_naming_predicates(said: list[dict[str, Term]], label: str) -> None:
    assert best_label(said) == label


def test_group_rows_keeps_order_and_missing_values() -> None:
    rows = [{"a": Term("literal", "2")}, {"a": Term("literal", "1")}, {}, {"a": Term("literal", "2")}]
    assert {key: len(group) for key, group in group_rows(rows, "a").items()} == {"2": 2, "1": 1, "": 1}
