from __future__ import annotations

import gzip
import zlib

import pytest

from motherlode.model import Link, LinkSource
from motherlode.sim.synthetic.host_profiles import Design
from motherlode.sim.synthetic.page_model import (
    CONTEXTS,
    SENTENCE_OF,
    VARIANTS,
    LinkPosition,
    PageModel,
    Role,
    ServedResponse,
    context_of,
    layout,
)


def _anchor(url: str, text: str) -> Link:
    return Link(url=url, source=LinkSource.ANCHOR, anchor=text)


def test_page_links_are_unique_ordered_and_exclude_the_page() -> None:
    groups = (
        (LinkPosition.NAVIGATION, (_anchor("http://a/1", "one"), _anchor("http://a/", "self"))),
        (LinkPosition.FOOTER, (_anchor("http://a/1", "again"), _anchor("http://a/2", "two"))),
    )
    model = PageModel(url="http://a/", role=Role.HOME, groups=groups)
    assert [(link.url, link.anchor) for link in model.links] == [("http://a/1", "one"), ("http://a/2", "two")]


def test_page_links_prefer_anchor_over_link_element() -> None:
    silent = Link(url="http://a/d", source=LinkSource.LINK_ELEMENT, rel="alternate")
    groups = (
        (LinkPosition.HEAD, (silent,)),
        (LinkPosition.INLINE, (_anchor("http://a/d", "data"), _anchor("http://a/d", "again"))),
    )
    assert [link.anchor for link in PageModel(url="http://a/", role=Role.ITEM, groups=groups).links] == ["data"]


def test_response_encoding_is_used_only_if_accepted() -> None:
    for encoding, undo in (("gzip", gzip.decompress), ("deflate", zlib.decompress)):
        answer = ServedResponse(status=200, headers={"Content-Type": "text/html"}, body=b"abc" * 500, encoding=encoding)
        headers, body = answer.encoded("gzip, deflate")
        assert headers["Content-Encoding"] == encoding
        assert headers["Content-Length"] == str(len(body))
        assert undo(body) == answer.body
        assert answer.encoded("br")[1] == answer.body
        assert "Content-Encoding" not in answer.encoded("")[0]


@pytest.mark.parametrize("design", Design)
def test_layouts_have_a_slot_for_every_position(design: Design) -> None:
    for variant in range(VARIANTS):
        slots = layout(design, variant).slots
        assert set(slots) == set(LinkPosition)
        assert slots[LinkPosition.ITEMS].has_sentence and slots[LinkPosition.INLINE].has_sentence
        assert all(slot.each.count("%s") == 1 + slot.has_sentence for slot in slots.values())


def test_layout_variants_differ() -> None:
    paths = {layout(Design.MODERN, variant).slots[LinkPosition.ITEMS].path for variant in range(VARIANTS)}
    assert len(paths) > 3


def test_sentence_of_context_gives_that_context() -> None:
    assert all(context_of(SENTENCE_OF[context]) == context for context in CONTEXTS)


def test_context_of_gives_expected_results_for_examples() -> None:
    assert (
        context_of("Every spring the neighbours collected more than anyone had planned.")
    ) == "Every spring the neighbours collected more than anyone had"
