"""bench/varied_pages.py: variants of pages have other hosts and texts, and the same sizes and vocabularies."""

from __future__ import annotations

import random

import pyoxigraph as ox
import pytest
from bench import varied_pages
from bench.varied_pages import VariedPages

from motherlode.index.page_record import parse_quads
from motherlode.model import Page

URL = "https://cakes.example/lemon"
HTML = """<title>Lemon cake</title><div itemscope itemtype="http://schema.org/Recipe" itemid="/lemon#it">
<span itemprop="name">a lemon cake with seven lemons and sugar</span><link itemprop="image" href="/lemon.jpg">
<span itemprop="cookTime">PT1H</span><span itemprop="text">mix the flour with butter and bake it</span>
<span itemprop="author" itemscope itemtype="http://schema.org/Person"><span itemprop="name">Ada</span></span></div>"""


@pytest.fixture
def pages(monkeypatch: pytest.MonkeyPatch) -> VariedPages:
    page = Page(url=URL, status=200, body=HTML.encode(), headers={"content-type": "text/html"}, elapsed=0.1)
    template = varied_pages._make_template(page)
    assert template is not None
    monkeypatch.setattr(varied_pages, "_load_templates", lambda: [template])
    return VariedPages()


def test_variants_have_the_same_vocabulary_and_other_hosts_and_texts(pages: VariedPages) -> None:
    own, other = pages.page(0), pages.page(1)
    quads, varied = (parse_quads(page.graph_quads) for page in (own, other))
    assert own.url == URL and other.url == "https://v1.cakes.example/lemon"
    assert len(quads) == len(varied) == own.quads == other.quads
    assert [quad.predicate for quad in quads] == [quad.predicate for quad in varied]
    assert {str(quad.graph_name) for quad in varied} == {f"<{other.url}>"}
    assert not {str(quad.subject) for quad in quads} & {str(quad.subject) for quad in varied}
    texts = {quad.object.value for quad in quads if isinstance(quad.object, ox.Literal)}
    others = {quad.object.value for quad in varied if isinstance(quad.object, ox.Literal)}
    assert {"PT1H", "Ada"} <= texts & others
    assert "a lemon cake with seven lemons and sugar" in texts - others


def test_the_same_number_is_always_the_same_page(pages: VariedPages) -> None:
    first = [pages.page(number) for number in (3, 1, 2)]
    assert [pages.page(number) for number in (3, 1, 2)] == first
    assert list(pages.pages(2 * first[0].quads)) == [pages.page(0), pages.page(1)]


def test_questions_are_about_statements_of_the_pages(pages: VariedPages) -> None:
    dice = random.Random(1)
    store = ox.Store()
    for number in range(5):
        store.extend(ox.Quad(*quad.triple) for quad in parse_quads(pages.page(number).graph_quads))
    for _ in range(10):
        thing, star, words = pages.question(dice, 4)
        assert list(store.query(f"SELECT ?p ?o {{ {thing} ?p ?o }}"))
        predicate, object_, first, second = star
        assert list(store.query(f"SELECT ?s {{ ?s {predicate} {object_} ; {first} ?a ; {second} ?b }}"))
        assert len(words.split()) == 2
