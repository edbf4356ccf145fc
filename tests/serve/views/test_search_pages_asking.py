"""The page to write queries on, with a real process behind it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from selectolax.lexbor import LexborHTMLParser

from motherlode.index import QuadStore
from motherlode.serve.query_pool import QueryPool
from motherlode.serve.views.search_pages import MAX_ROWS, asking
from tests.index.fakes import record, says

EVERYTHING = "SELECT * { ?s ?p ?o }"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("asking") / "store"
    quads = QuadStore(path)
    quads.write([record("http://a.test/", *(says(f"x{n}", f"<i>{n}</i>") for n in range(MAX_ROWS + 5)))])
    quads.close()
    return path


@pytest.fixture
async def pool(store: Path) -> AsyncIterator[QueryPool]:
    made = QueryPool(store, store.parent / "words", workers=1)
    yield made
    await made.close()


async def ask(pool: QueryPool, sparql: str, *, seconds: float = 30.0) -> tuple[int, LexborHTMLParser]:
    status, html = await asking(pool, sparql, base="http://127.0.0.1/sparql", seconds=seconds)
    return status, LexborHTMLParser(html)


def results(page: LexborHTMLParser) -> int:
    return len(page.css("table.results tbody tr"))


def text(page: LexborHTMLParser, selector: str) -> str:
    (node,) = page.css(selector)
    return node.text()


@pytest.mark.parametrize("sparql", ["", "  \n "])
async def test_before_anything_is_asked_there_is_an_example_and_no_answer(tmp_path: Path, sparql: str) -> None:
    pool = QueryPool(tmp_path / "none", tmp_path / "words")
    status, page = await ask(pool, sparql)
    await pool.close()
    assert status == 200
    assert page.css("main section") == []
    assert len(page.css("form.query a")) == 5


async def test_every_example_is_a_query_that_is_answered(pool: QueryPool) -> None:
    _, page = await ask(pool, "")
    examples = {link.text(): link.attributes["href"] or "" for link in page.css("form.query a")}
    for name, href in examples.items():
        status, answered = await ask(pool, parse_qs(urlsplit(href).query)["q"][0])
        assert status == 200 or name == "Words", "there is no index of words here"
        assert answered.css("main section")


async def test_rows_are_shown_up_to_a_limit_and_all_are_counted(pool: QueryPool) -> None:
    status, page = await ask(pool, EVERYTHING)
    assert (status, results(page)) == (200, MAX_ROWS)
    assert text(page, "main section p.muted").startswith("1,005 rows, the first 1,000 of them here")
    assert text(page, "textarea") == EVERYTHING, "what was asked stays to be changed"
    formats = [link.text() for link in page.css("main section p.muted a")]
    assert formats == ["csv", "json", "tsv", "xml"]
    assert "<i>" not in (page.css("table.results")[0].html or "")


async def test_graphs_truth_and_nothing_have_their_own_looks(pool: QueryPool) -> None:
    _, page = await ask(pool, "CONSTRUCT WHERE { ?s ?p ?o }")
    assert results(page) == MAX_ROWS
    assert text(page, "main section p.muted").startswith("1,005 triples")
    assert [link.text() for link in page.css("main section p.muted a")] == ["turtle", "ntriples", "jsonld", "rdfxml"]
    _, page = await ask(pool, "DESCRIBE <http://nobody.test/>")
    assert "No triples." in text(page, "main")
    _, page = await ask(pool, "ASK { ?s ?p ?o }")
    assert text(page, "p.truth") == "yes"
    _, page = await ask(pool, "SELECT * { <u:a> ?p ?o }")
    assert "There is nothing that fits." in text(page, "main")


@pytest.mark.parametrize(
    ("sparql", "wrong"), [("SELECT * {", 400), ("</textarea><script>", 400), ("DELETE WHERE { ?s ?p ?o }", 400)]
)
async def test_what_is_wrong_is_told_and_can_be_mended(pool: QueryPool, sparql: str, wrong: int) -> None:
    status, page = await ask(pool, sparql)
    assert status == wrong
    assert text(page, "pre.problem").strip()
    assert text(page, "textarea") == sparql
    assert [script.attributes.get("src") for script in page.css("script")] == ["/script.js"]
