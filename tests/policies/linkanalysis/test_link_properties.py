"""The nine properties of a link."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from motherlode.model import Link, LinkSource, Parent
from motherlode.policies.linkanalysis.link_properties import link_properties, url_properties


@pytest.mark.parametrize(
    ("url", "path", "filename", "extension"),
    [
        ("http://example.com/", (), "", ""),
        ("http://example.com", (), "", ""),
        ("http://example.com/staffs/staff1", ("staffs", "staff1"), "", ""),
        ("http://example.com/staffs/staff1/", ("staffs", "staff1"), "", ""),
        ("http://example.com/staffs/one.HTML", ("staffs",), "one.HTML", "html"),
        ("http://example.com/s.php?id=1", (), "s.php?id=1", "php"),
        ("http://example.com/dump.nt.gz", (), "dump.nt.gz", "nt"),
        ("http://example.com/photos.gz", (), "photos.gz", "gz"),
        ("http://example.com/release/v1.2", ("release", "v1.2"), "", ""),
        ("http://example.com/.htaccess", (".htaccess",), "", ""),
        ("http://example.com/a.b-c", ("a.b-c",), "", ""),
        ("http://example.com/a.b/c", ("a.b", "c"), "", ""),
    ],
)
def test_path_file_name_and_extension(url: str, path: tuple[str, ...], filename: str, extension: str) -> None:
    assert url_properties(url) == ("http", "example.com", path, filename, extension)


SAID = Link(url="http://a.example/x", source=LinkSource.ANCHOR, type="t", title="ti", anchor="an", context="co")


def test_what_html_says_is_not_considered_for_links_of_rdf_documents() -> None:
    page = Parent(url="http://a.example/", host="a.example", depth=0, relevant=True, kind="html")
    html, rdf = link_properties(SAID, page), link_properties(SAID, replace(page, kind="turtle"))
    assert (html.type, html.title, html.anchor_text, html.context, html.is_rdf_link) == ("t", "ti", "an", "co", False)
    assert (rdf.type, rdf.title, rdf.anchor_text, rdf.context, rdf.is_rdf_link) == ("", "", "", "", True)


def test_directories_that_a_page_lies_in_do_not_tell_its_links_apart() -> None:
    page = Parent(url="http://a.example/my-rdf/list/", host="a.example", depth=0, relevant=False, kind="html")
    link = Link(url="http://a.example/my-rdf/foaf/one", source=LinkSource.ANCHOR)
    assert link_properties(link, page).indicative_path == ("foaf", "one")
    assert link_properties(link, page, literal=True).indicative_path == ("my-rdf", "foaf", "one")
    elsewhere = Link(url="http://b.example/my-rdf/one", source=LinkSource.ANCHOR)
    assert link_properties(elsewhere, page).indicative_path == ("my-rdf", "one")
