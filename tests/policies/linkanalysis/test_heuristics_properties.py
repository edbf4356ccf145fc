"""The nine properties of a link, and S_HR compared with its definition."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from motherlode.model import Link, LinkSource, Outcome
from motherlode.policies.linkanalysis.heuristics import SimilarUrls, link_properties, url_properties


def has_similar(urls: SimilarUrls, url: str) -> bool:
    _, host, path, filename, _ = url_properties(url)
    return urls.has_similar(host, path, filename)


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
def test_url_properties_split_path_file_name_and_extension(
    url: str, path: tuple[str, ...], filename: str, extension: str
) -> None:
    assert url_properties(url) == ("http", "example.com", path, filename, extension)


LINK = Link(url="http://a.example/x", source=LinkSource.ANCHOR, type="t", title="ti", anchor="an", context="co")


def test_texts_are_ignored_for_links_of_rdf_documents() -> None:
    page = Outcome(url="http://a.example/", host="a.example", depth=0, relevant=True, kind="html")
    html, rdf = link_properties(LINK, page), link_properties(LINK, replace(page, kind="turtle"))
    assert (html.type, html.title, html.anchor_text, html.context, html.is_rdf_link) == ("t", "ti", "an", "co", False)
    assert (rdf.type, rdf.title, rdf.anchor_text, rdf.context, rdf.is_rdf_link) == ("", "", "", "", True)


def test_directories_of_the_linking_page_are_not_searched_with_new_path_only() -> None:
    page = Outcome(url="http://a.example/my-rdf/list/", host="a.example", depth=0, relevant=False, kind="html")
    link = Link(url="http://a.example/my-rdf/foaf/one", source=LinkSource.ANCHOR)
    assert link_properties(link, page, new_path_only=True).indicative_path == ("foaf", "one")
    assert link_properties(link, page).indicative_path == ("my-rdf", "foaf", "one")
    elsewhere = Link(url="http://b.example/my-rdf/one", source=LinkSource.ANCHOR)
    assert link_properties(elsewhere, page, new_path_only=True).indicative_path == ("my-rdf", "one")


URL = st.builds(
    lambda host, parts, name: f"http://{host}/{''.join(part + '/' for part in parts)}{name}",
    st.sampled_from(["a.example", "b.example"]),
    st.lists(st.sampled_from(["x", "y", "z"]), max_size=3),
    st.sampled_from(["", "1.html", "2.html", "w"]),
)


def similar(one: str, other: str) -> bool:
    """Return whether two URLs are similar by the definition (III.C.3)."""
    _, host_i, path_i, name_i, _ = url_properties(one)
    _, host_j, path_j, name_j, _ = url_properties(other)
    n = len(path_i)
    in_last_directory = (
        host_i == host_j
        and len(path_j) == n
        and n > 0
        and all(path_i[k] == path_j[k] for k in range(n - 1))
        and path_i[n - 1] != path_j[n - 1]
    )
    return in_last_directory or (host_i == host_j and path_i == path_j and name_i != name_j)


@given(st.lists(URL, max_size=8), URL)
def test_similar_urls_equal_comparison_with_every_member(members: list[str], url: str) -> None:
    s_hr = SimilarUrls()
    for member in members:
        s_hr.add(member)
    assert has_similar(s_hr, url) == any(similar(url, member) for member in members)


def test_similar_urls_on_the_example_of_the_paper() -> None:
    s_hr = SimilarUrls()
    assert not has_similar(s_hr, "http://example.com/staffs/staff2"), "S_HR is empty"
    s_hr.add("http://example.com/staffs/staff1")
    assert has_similar(s_hr, "http://example.com/staffs/staff2")
    assert not has_similar(s_hr, "http://example.com/goals/one")
    assert not has_similar(s_hr, "http://example.com/staffs/staff2/papers")
    assert not has_similar(s_hr, "http://example.org/staffs/staff2")


def test_family_stores_at_most_two_members() -> None:
    s_hr = SimilarUrls()
    for number in range(2_000):
        s_hr.add(f"http://a.example/staff/{number}.html")
    assert len(s_hr) == 2, "the files of /staff/ and the directories beside /staff/"
    assert all(len(family) <= 2 for family in s_hr._families.values())
    assert has_similar(s_hr, "http://a.example/staff/new.html")


def test_number_of_families_is_bounded() -> None:
    s_hr = SimilarUrls(max_families=10)
    for number in range(100):
        s_hr.add(f"http://a.example/{number}/x.html")
    assert len(s_hr) <= 10
    assert has_similar(s_hr, "http://a.example/0/y.html"), "known families still match"


def test_similar_urls_are_the_same_after_dump_and_load() -> None:
    s_hr, again = SimilarUrls(), SimilarUrls()
    s_hr.add("http://a.example/staff/1.html")
    again.load(s_hr.dump())
    assert has_similar(again, "http://a.example/staff/2.html")
    assert again.dump() == s_hr.dump()
