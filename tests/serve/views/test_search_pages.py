"""The search page: what was asked stays in its form, finds are marked, and no text becomes markup."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from motherlode.index.fulltext import Hit, Search, Snippet
from motherlode.serve.views.search_pages import marked, searching


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


def shown(asked: Search, hits: list[Hit] | None, trouble: str = "") -> LexborHTMLParser:
    return LexborHTMLParser(searching(asked, hits, trouble))


def text(page: LexborHTMLParser, selector: str) -> str:
    (node,) = page.css(selector)
    return " ".join(node.text().split())


def test_pages_that_were_not_all_looked_at_are_told_as_at_least_so_many() -> None:
    asked = Search(words="soup")
    assert text(shown(asked, [hit(pages=3)]), ".source").endswith("y=1&z=2 and 2 more")
    assert text(shown(asked, [hit(pages=3, has_more_pages=True)]), ".source").endswith(" and at least 2 more")


def test_before_anything_is_asked_there_is_only_the_form() -> None:
    page = shown(Search(words=""), None)
    assert page.css(".hits, .problem, main > p") == []
    assert text(page, "title") == "Search · Motherlode"
    assert not page.css("details[open]")


def test_what_was_asked_stays_and_filters_that_are_set_are_open() -> None:
    asked = Search(words='"tomato" <soup>', type="schema:Recipe", host="a.test")
    page = shown(asked, [])
    values = {node.attributes["name"]: node.attributes["value"] for node in page.css("form.search input")}
    assert values == {"q": asked.words, "type": "schema:Recipe", "predicate": "", "host": "a.test", "language": ""}
    assert page.css("details[open]")
    assert "Nothing was found" in text(page, "main > p.muted")


def test_a_find_says_what_it_is_why_and_where() -> None:
    page = shown(Search(words="soup"), [hit(pages=1_001)])
    assert text(page, "main > p.muted") == "1 find"
    assert text(page, ".hits h3") == "Soup"
    assert text(page, ".hits .tags") == "schema:Recipe"
    assert [mark.text() for mark in page.css("mark")] == ["red", "soup"]
    assert text(page, ".hits .source") == "on http://a.test/x?y=1&z=2 and 1,000 more"
    (source,) = page.css(".source a")
    assert source.attributes["href"] == "/page?url=http%3A%2F%2Fa.test%2Fx%3Fy%3D1%26z%3D2"


def test_a_nameless_find_leads_to_itself_on_its_page() -> None:
    (link,) = shown(Search(words="x"), [hit(subject="_:b1", label="")]).css(".hits h3 a")
    assert link.attributes["href"] == "/entity?node=_%3Ab1&page=http%3A%2F%2Fa.test%2Fx%3Fy%3D1%26z%3D2"


@pytest.mark.parametrize(("found", "more"), [(9, False), (10, True)])
def test_more_is_offered_where_there_may_be_more(found: int, *, more: bool) -> None:
    asked = Search(words="a b", type="schema:Recipe", language="de", limit=10)
    links = [node.attributes["href"] for node in shown(asked, [hit()] * found).css("main > p a")]
    expected = "/search?q=a+b&type=schema%3ARecipe&language=de&limit=30"
    assert links == ([expected] if more else [])


def test_trouble_takes_the_place_of_finds() -> None:
    page = shown(Search(words="x"), [hit()], "no index <of words>")
    assert text(page, ".problem") == "no index <of words>"
    assert page.css(".hits") == []


@settings(max_examples=60, deadline=None)
@given(st.text(alphabet="<>&\"' ab米", max_size=30), st.lists(st.integers(0, 30), max_size=6))
def test_marking_changes_no_character(words: str, cuts: list[int]) -> None:
    places = sorted({min(cut, len(words)) for cut in cuts})
    marks = tuple(zip(places[::2], places[1::2], strict=False))
    page = LexborHTMLParser(f"<p>{marked(Snippet(words, marks))}</p>")
    assert page.css("bdi")[0].text() == words
    assert [mark.text() for mark in page.css("mark")] == [words[start:end] for start, end in marks]
