"""Tag paths and context of links."""

from __future__ import annotations

import pytest
from selectolax.lexbor import LexborHTMLParser

from motherlode.links.html import ContextReader, context, shorten
from motherlode.www.html_limits import TextBudget


def test_tag_path_is_cut_and_cached() -> None:
    tree = LexborHTMLParser("<div class=long-name-of-a-class>" * 100 + "<a>x</a><a>y</a>")
    around = ContextReader(TextBudget(0))
    first, second = (around.tag_path(node.parent, "a", None) for node in tree.css("a"))
    assert first == second
    assert 240 <= len(first) < 300 and first.startswith("html body div.long-name-of-a-class ") and first.endswith(" a")


@pytest.mark.parametrize(
    ("markup", "beside"),
    [
        ("<p>before <a>x</a> after</p>", "before after"),
        ("<p><b>one <i>inner</i></b><a>x</a><!-- no --></p>", "one"),
        ("<ul><li>one</li><li> <a>x</a> </li><li>three</li></ul>", "one three"),
        ("<body>before<a>x</a>", "before"),
        ("<p>alone</p><a>x</a>", "alone"),
        ("<body><p><a>x</a></p>", ""),
        (f"<p>{'word ' * 100}<a>x</a>\u00a0</p>", "word " * 11 + "word"),
    ],
)
def test_context_is_text_next_to_link(markup: str, beside: str) -> None:
    node = LexborHTMLParser(markup).css_first("a")
    assert node is not None
    assert context(node, node.parent) == beside


def test_anchor_text_ends_when_budget_is_spent() -> None:
    node = LexborHTMLParser(f"<a>some text {'x' * 1_000_000}</a>").css_first("a")
    assert node is not None
    around = ContextReader(TextBudget(0))
    assert around.anchor(node, {}).startswith("some text")
    assert around.anchor(node, {}) == ""


def test_shorten_collapses_spaces_and_cuts() -> None:
    assert shorten("") == ""
    assert shorten("a" * 200) == "a" * 120
    assert shorten(" " * 10_000 + "late") == ""
