"""Tests of the search page and of the query page."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from motherlode.index.fulltext import Hit, Search, Snippet
from motherlode.index.quad_store import QuadStore
from motherlode.index.query.query_pool import QueryPool
from motherlode.serve.pages import MAX_ROWS, query_page, render_search
from tests.index.fakes import record, says


def hit(**changes: object) -> Hit:
    told: dict[str, object] = {
        "subject": "http://ex.org/soup",
        "label": "Soup",
        "types": ("http://schema.org/Recipe",),
        "score": 1.0,
        "snippet": Snippet("a red soup", ((2, 5), (6, 10))),
        "predicate": "http://schema.org/text",
        "language": "",
        "page": "http://a.test/x?y=1&z=2",
        "graph": "http://a.test/x?y=1&z=2",
    }
    return Hit(**{**told, **changes})  # type: ignore[arg-type]


def shown(search: Search, hits: list[Hit] | None, problem: str = "") -> LexborHTMLParser:
    return LexborHTMLParser(render_search(search, hits, problem))


def text(page: LexborHTMLParser, selector: str) -> str:
    (node,) = page.css(selector)
    return " ".join(node.text().split())


def test_hit_with_uncounted_pages_says_at_least() -> None:
    search = Search(words="soup")
    assert text(shown(search, [hit(pages=3)]), ".source").endswith("y=1&z=2 and 2 more")
    assert text(shown(search, [hit(pages=3, has_more_pages=True)]), ".source").endswith(" and at least 2 more")


def test_search_page_without_words_has_only_form() -> None:
    page = shown(Search(words=""), None)
    assert page.css(".hits, .problem, main > p") == []
    assert text(page, "title") == "Search · Motherlode"
    assert not page.css("details[open]")


def test_search_form_keeps_values_and_opens_used_filters() -> None:
    search = Search(words='"tomato" <soup>', type="schema:Recipe", host="a.test")
    page = shown(search, [])
    values = {node.attributes["name"]: node.attributes["value"] for node in page.css("form.search input")}
    assert values == {"q": search.words, "type": "schema:Recipe", "predicate": "", "host": "a.test", "language": ""}
    assert page.css("details[open]")
    assert "Nothing was found" in text(page, "main > p.muted")


def test_hit_shows_label_types_snippet_and_page() -> None:
    page = shown(Search(words="soup"), [hit(pages=1_001)])
    assert text(page, "main > p.muted") == "1 result"
    assert text(page, ".hits h3") == "Soup"
    assert text(page, ".hits .tags") == "schema:Recipe"
    assert [mark.text() for mark in page.css("mark")] == ["red", "soup"]
    assert text(page, ".hits .source") == "on http://a.test/x?y=1&z=2 and 1,000 more"
    (source,) = page.css(".source a")
    assert source.attributes["href"] == "/page?url=http%3A%2F%2Fa.test%2Fx%3Fy%3D1%26z%3D2"


def test_blank_node_hit_links_to_node_on_its_page() -> None:
    (link,) = shown(Search(words="x"), [hit(subject="_:b1", label="")]).css(".hits h3 a")
    assert link.attributes["href"] == "/entity?node=_%3Ab1&page=http%3A%2F%2Fa.test%2Fx%3Fy%3D1%26z%3D2"


@pytest.mark.parametrize(("found", "more"), [(9, False), (10, True)])
def test_more_link_is_shown_if_limit_is_reached(found: int, *, more: bool) -> None:
    search = Search(words="a b", type="schema:Recipe", language="de", limit=10)
    links = [node.attributes["href"] for node in shown(search, [hit()] * found).css("main > p a")]
    expected = "/search?q=a+b&type=schema%3ARecipe&language=de&limit=30"
    assert links == ([expected] if more else [])


def test_search_problem_replaces_hits() -> None:
    page = shown(Search(words="x"), [hit()], "no index <of words>")
    assert text(page, ".problem") == "no index <of words>"
    assert page.css(".hits") == []


@settings(max_examples=60, deadline=None)
@given(st.text(alphabet="<>&\"' ab米", max_size=30), st.lists(st.integers(0, 30), max_size=6))
def test_marked_snippet_keeps_every_character(words: str, cuts: list[int]) -> None:
    places = sorted({min(cut, len(words)) for cut in cuts})
    marks = tuple(zip(places[::2], places[1::2], strict=False))
    page = shown(Search(words="x"), [hit(snippet=Snippet(words, marks))])
    assert page.css(".hits p bdi")[0].text() == words
    assert [mark.text() for mark in page.css("mark")] == [words[start:end] for start, end in marks]


EVERYTHING = "SELECT * { ?s ?p ?o }"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("asking") / "store"
    quads = QuadStore(path)
    quads.write([record("http://a.test/", *(says(f"x{n}", f"<i>{n}</i>") for n in range(MAX_ROWS + 5)))])
    quads.close()
    return path


async def ask(pool: QueryPool, sparql: str, *, seconds: float = 30.0) -> tuple[int, LexborHTMLParser]:
    status, html = await query_page(pool, sparql, base="http://127.0.0.1/sparql", seconds=seconds)
    return status, LexborHTMLParser(html)


def results(page: LexborHTMLParser) -> int:
    return len(page.css("table.results tbody tr"))


@pytest.mark.parametrize("sparql", ["", "  \n "])
async def test_query_page_without_query_has_example(tmp_path: Path, sparql: str) -> None:
    pool = QueryPool(tmp_path / "none", tmp_path / "words")
    status, page = await ask(pool, sparql)
    await pool.close()
    assert status == 200
    assert page.css("main section") == []
    assert len(page.css("form.query a")) == 5


async def test_query_page_examples_are_valid(pool: QueryPool) -> None:
    _, page = await ask(pool, "")
    examples = {link.text(): link.attributes["href"] or "" for link in page.css("form.query a")}
    for name, href in examples.items():
        status, answered = await ask(pool, parse_qs(urlsplit(href).query)["q"][0])
        assert status == 200 or name == "Words", "there is no word index here"
        assert answered.css("main section")


async def test_query_page_limits_rows_and_counts_all(pool: QueryPool) -> None:
    status, page = await ask(pool, EVERYTHING)
    assert (status, results(page)) == (200, MAX_ROWS)
    assert text(page, "main section p.muted").startswith("1,005 rows, the first 1,000 of them here")
    assert text(page, "textarea") == EVERYTHING, "the form keeps the query"
    formats = [link.text() for link in page.css("main section p.muted a")]
    assert formats == ["csv", "json", "tsv", "xml"]
    assert "<i>" not in (page.css("table.results")[0].html or "")


async def test_query_page_shows_graphs_booleans_and_empty_results(pool: QueryPool) -> None:
    _, page = await ask(pool, "CONSTRUCT WHERE { ?s ?p ?o }")
    assert results(page) == MAX_ROWS
    assert text(page, "main section p.muted").startswith("1,005 triples")
    assert [link.text() for link in page.css("main section p.muted a")] == ["turtle", "ntriples", "jsonld", "rdfxml"]
    _, page = await ask(pool, "DESCRIBE <http://nobody.test/>")
    assert "No triples." in text(page, "main")
    _, page = await ask(pool, "ASK { ?s ?p ?o }")
    assert text(page, "p.truth") == "yes"
    _, page = await ask(pool, "SELECT * { <u:a> ?p ?o }")
    assert "No results." in text(page, "main")


@pytest.mark.parametrize(
    ("sparql", "wrong"), [("SELECT * {", 400), ("</textarea><script>", 400), ("DELETE WHERE { ?s ?p ?o }", 400)]
)
async def test_query_page_shows_error_and_keeps_query(pool: QueryPool, sparql: str, wrong: int) -> None:
    status, page = await ask(pool, sparql)
    assert status == wrong
    assert text(page, "pre.problem").strip()
    assert text(page, "textarea") == sparql
    assert [script.attributes.get("src") for script in page.css("script")] == ["/script.js"]
