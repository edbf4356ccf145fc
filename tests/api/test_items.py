"""The items of a page by syntax."""

from __future__ import annotations

import pytest

import motherlode as ml
from motherlode.api import items

URL = "http://e.example/p"


def test_items_of_html_are_those_of_the_drop_in_with_uniform() -> None:
    page = """<html prefix="og: http://ogp.me/ns#"><meta property="og:title" content="T">
    <meta name="DC.date" content="1">
    <p itemscope itemtype="http://schema.org/Thing"><b itemprop="name">A</b></p><p class="h-card">B</p>"""
    found = ml.extract(page, url=URL).items()
    assert found == ml.extruct.extract(page, base_url=URL, uniform=True)
    assert found["microdata"] == [{"@context": "http://schema.org", "@type": "Thing", "name": "A"}]


def test_items_of_broken_jsonld_keep_the_rest() -> None:
    blocks = '<script type="application/ld+json">{"a": 1</script><script type="application/ld+json">[{"b": 2}]</script>'
    assert ml.extract(blocks, url=URL).items()["json-ld"] == [{"a": 1}, {"b": 2}]


def test_items_of_turtle_are_node_objects() -> None:
    found = ml.extract("<#a> <urn:p> 1 .", url=URL, content_type="text/turtle").items()
    value = {"@type": "http://www.w3.org/2001/XMLSchema#integer", "@value": 1}
    assert found == {"turtle": [{"@id": f"{URL}#a", "urn:p": [value]}]}


def test_items_of_a_jsonld_document_are_as_written() -> None:
    found = ml.extract('[{"@type": "urn:T"}]', url=URL, content_type="application/ld+json").items()
    assert found["json-ld"] == [{"@type": "urn:T"}]


def test_items_with_syntaxes_has_only_those() -> None:
    page = ml.extract("<p itemscope><b itemprop=a>1</b>", url=URL, syntaxes=["microdata"])
    assert page.items() == {"microdata": [{"properties": {"a": "1"}}]}


def test_items_of_a_reader_that_fails_are_empty(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> list[object]:
        raise RuntimeError

    monkeypatch.setattr(items, "read_item_dicts", fail)
    found = ml.extract('<p itemscope><b itemprop=a>1</b><p class="h-card">B</p>', url=URL).items()
    assert found["microdata"] == []
    assert found["microformat"]


@pytest.mark.parametrize(("body", "names"), [(b"", set()), (b"\x00\x01\x02\xff", set())])
def test_items_of_unreadable_content_are_none(body: bytes, names: set[str]) -> None:
    assert set(ml.extract(body, url=URL).items()) == names
