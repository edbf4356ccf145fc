"""The page with tables: types, columns, paging, downloads, and hostile input."""

import json
import shutil
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

import pytest
from selectolax.lexbor import LexborHTMLParser

from motherlode.index.export.table_files import Column
from motherlode.index.query.query_pool import Term
from motherlode.serve.table_page import choose_columns, file_name, make_cell, merge_types
from tests.serve.site import HOME, INJECTIONS, served


def fetch(address: str) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(address, timeout=60) as response:
            return response.status, response.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def show(site: str, **parameters: str) -> tuple[int, LexborHTMLParser]:
    status, text = fetch(f"{site}/table?{urllib.parse.urlencode(parameters)}")
    return status, LexborHTMLParser(text)


def test_table_page_without_a_type_lists_the_types(site: str) -> None:
    status, page = show(site)
    assert status == 200
    links = [node.attributes["href"] for node in page.css("tbody a")]
    assert "/table?type=http%3A%2F%2Fschema.org%2FRecipe" in links
    assert page.css_first('nav a[aria-current="page"]').text() == "Table"


def test_table_page_has_rows_with_links_to_their_pages(site: str) -> None:
    status, page = show(site, type="schema:Recipe")
    assert status == 200
    heads = [node.text() for node in page.css("th")]
    assert heads[:2] == ["Source", "name"]
    assert len(page.css("tbody tr")) == len(INJECTIONS)
    assert page.css_first("tbody td a").attributes["href"].startswith("/page?url=http%3A%2F%2Fevil.test")
    assert not page.css("tbody script, tbody img, tbody iframe")


def test_table_page_shows_the_columns_and_rows_that_were_chosen(site: str) -> None:
    _, page = show(site, type="schema:Recipe", column="text", offset=str(len(INJECTIONS) - 2))
    assert [node.text() for node in page.css("th")] == ["Source", "text"]
    assert len(page.css("tbody tr")) == 2
    assert page.css_first('a[rel="prev"]').attributes["href"].endswith("column=text")


@pytest.mark.parametrize("text", [*INJECTIONS, "schema:Nothing"])
def test_table_page_of_an_unknown_type_is_not_found(site: str, text: str) -> None:
    status, page = show(site, type=text)
    assert status == 404
    assert not page.css("main script, main img, main iframe")


def test_downloads_have_all_rows(site: str) -> None:
    query = urllib.parse.urlencode({"type": f"{HOME}none"})
    status, text = fetch(f"{site}/table.jsonl?type=schema:Recipe&distinct=1")
    assert (status, len(text.splitlines())) == (200, len(INJECTIONS))
    assert json.loads(text.splitlines()[0])["sources"] == 1
    status, text = fetch(f"{site}/table.csv?{query}")
    assert (status, len(text.splitlines())) == (200, 1)
    assert fetch(f"{site}/table.csv")[0] == 400


def test_table_of_a_crawl_whose_store_is_gone_is_unavailable(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder, tmp_path / "copy", ignore=shutil.ignore_patterns("store.readers"))
    with served(tmp_path / "copy") as address:
        shutil.rmtree(tmp_path / "copy" / "store")
        assert fetch(f"{address}/table.csv?type=schema:Recipe")[0] == 503


def test_types_of_both_namespaces_are_one() -> None:
    def row(iri: str, count: int) -> dict[str, Term]:
        return {"type": Term("uri", iri), "n": Term("literal", str(count))}

    rows = [row("http://a.example/X", 4), row("https://schema.org/Person", 3), row("http://schema.org/Person", 2)]
    assert merge_types(rows) == [("http://schema.org/Person", 5), ("http://a.example/X", 4)]


def test_cells_are_shown_by_their_type() -> None:
    assert make_cell([1.5, 2.0], "list of number").texts == ("1.5", "2")
    assert make_cell(None, "string").texts == ()
    assert make_cell(True, "boolean").texts == ("yes",)
    assert make_cell("https://a.example/", "url").is_link


def test_first_columns_are_those_of_properties() -> None:
    columns = [Column(name) for name in ("thing", "source_page", "name", "name@language", "sku", "other_values")]
    assert [column.name for column in choose_columns(columns, ())] == ["name", "sku"]
    assert [column.name for column in choose_columns(columns, ("thing",))] == ["thing"]
    assert file_name("schema:Recipe") == "Recipe"
