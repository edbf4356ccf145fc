"""Paths and texts around links."""

from __future__ import annotations

from selectolax.lexbor import LexborHTMLParser

from motherlode.extract.surroundings import Surroundings, shortened
from motherlode.www.html_budget import TextBudget


def test_a_path_is_cut_and_still_found_again() -> None:
    tree = LexborHTMLParser("<div class=long-name-of-a-class>" * 100 + "<a>x</a><a>y</a>")
    around = Surroundings(TextBudget(0))
    first, second = (around.tag_path(node, "a", None) for node in tree.css("a"))
    assert first == second
    assert 240 <= len(first) < 300 and first.startswith("html body div.long-name-of-a-class ") and first.endswith(" a")


def test_the_budget_ends_the_reading_of_text() -> None:
    node = LexborHTMLParser(f"<a>some text {'x' * 1_000_000}</a>").css_first("a")
    assert node is not None
    around = Surroundings(TextBudget(0))
    assert around.anchor(node, {}).startswith("some text")
    assert around.anchor(node, {}) == ""


def test_shortened() -> None:
    assert shortened("") == ""
    assert shortened("a" * 200) == "a" * 120
    assert shortened(" " * 10_000 + "late") == ""
