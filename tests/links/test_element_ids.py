"""Ids of the elements around links."""

from __future__ import annotations

from motherlode.links.href import LinkOptions
from motherlode.links.html import html_links
from motherlode.policies.sb_classifier.tag_paths import full_path
from tests.www.pages import document

PAGE = (
    "<html><body id='top'><div class='page'><main id=' con tent '><p><a href='/a' id='first'>A</a> <a href='/b'>B</a>"
    "</main></div><a href='/c'>C</a>"
)


def test_element_ids_are_read_only_if_wanted() -> None:
    assert [link.element_ids for link in html_links(document(PAGE), LinkOptions())] == ["", "", ""]
    found = html_links(document(PAGE), LinkOptions(element_ids=True))
    assert [link.element_ids for link in found] == ["1#top 3#con-tent 5#first", "1#top 3#con-tent", "1#top"]
    assert full_path(found[0]) == "html body#top div.page main#con-tent p a#first"


def test_element_ids_of_a_deep_page_are_bounded() -> None:
    deep = "".join(f"<div id='{'x' * 30}{number}'>" for number in range(2000)) + "<a href='/a' id='end'>A</a>"
    (link,) = html_links(document(deep), LinkOptions(element_ids=True))
    assert len(link.element_ids) < 250
    assert link.element_ids.endswith("#end")
    assert full_path(link).endswith("a#end")
