from __future__ import annotations

from motherlode.crawler.report import plot
from motherlode.crawler.report import plot as markup


def test_the_picture_and_the_page_escape_by_the_same_function() -> None:
    assert plot.element is markup.element
    assert plot.escaped is markup.escaped


def test_escaping_once_is_enough() -> None:
    assert markup.escaped(markup.escaped("<&>")) == "&lt;&amp;&gt;"
