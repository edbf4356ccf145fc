"""Links of sitemaps."""

from __future__ import annotations

import pytest

from motherlode.links.collect import collect_links
from motherlode.links.feeds import sitemap_links, text_links
from motherlode.links.from_quads import link_rules_from
from motherlode.links.href import LinkOptions
from motherlode.model import ContentKind, LinkSource, TransformResult
from tests.www.pages import document


def test_sitemap_links_of_sitemap_and_index() -> None:
    for outer, inner in (("urlset", "url"), ("sitemapindex", "sitemap")):
        body = f"""<{outer} xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
          <{inner}><loc> http://example.org/a&amp;b </loc><lastmod>2026-01-01</lastmod></{inner}>
          <{inner}><lastmod>2026-01-01</lastmod><loc>/c</loc></{inner}></{outer}>"""
        found = sitemap_links(document(body, kind=ContentKind.SITEMAP), LinkOptions())
        assert [link.url for link in found] == ["http://example.org/a&b", "http://example.org/c"]
        assert {link.source for link in found} == {LinkSource.SITEMAP}


@pytest.mark.parametrize("body", ["<loc>http://example.org/a</loc>", "<?xml ><loc>"])
def test_sitemap_with_loc_as_root_has_no_links(body: str) -> None:
    assert sitemap_links(document(body, kind=ContentKind.SITEMAP), LinkOptions()) == []


def test_sitemap_links_are_bounded() -> None:
    body = "<urlset>" + "".join(f"<url><loc>http://example.org/{i}</loc></url>" for i in range(60_000)) + "</urlset>"
    sitemap = document(body, kind=ContentKind.SITEMAP)
    assert len(sitemap_links(sitemap, LinkOptions())) == 50_000
    said = "a sitemap gives 50,000 links at most: 10,000 more entries were left out"
    assert [problem.message for problem in sitemap.problems] == [said]


def test_sitemap_links_latest_changes_come_first() -> None:
    dates = {
        "none": "",
        "old": "<lastmod>1999</lastmod>",
        "day": "<lastmod> 2026-02-28 </lastmod>",
        "odd": "<lastmod>last week</lastmod>",
        "hour": "<s:lastmod>2026-02-28T11:30+02:00</s:lastmod>",
        "later": "<lastmod>2026-02-28T12:00Z</lastmod>",
        "new": "<lastmod>2026-03-01T00:00:00.5Z</lastmod>",
        "month": "<lastmod>2026-02</lastmod>",
    }
    entries = (f"<s:url><s:loc>http://example.org/{name}</s:loc>{date}</s:url>" for name, date in dates.items())
    body = f"<s:urlset xmlns:s='http://www.sitemaps.org/schemas/sitemap/0.9'>{''.join(entries)}</s:urlset>"
    sitemap = document(body, kind=ContentKind.SITEMAP)
    names = [link.url.rpartition("/")[2] for link in sitemap_links(sitemap, LinkOptions())]
    assert names == ["new", "later", "hour", "day", "month", "old", "none", "odd"]
    few = sitemap_links(sitemap, LinkOptions(sitemap_links=2))
    assert [link.url.rpartition("/")[2] for link in few] == ["new", "later"]


def test_sitemap_links_duplicates_do_not_count_as_left_out() -> None:
    body = "http://example.org/a\n" * 3
    text = document(body, kind=ContentKind.TEXT)
    assert len(text_links(text, LinkOptions(sitemap_links=1))) == 1
    assert text.problems == []


def test_sitemap_links_other_languages_come_last() -> None:
    link = '<x:link rel="{}" hreflang="{}" href="http://example.org/{}"/>'.format
    body = f"""<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:x="http://www.w3.org/1999/xhtml">
      <url><loc>http://example.org/en</loc>{link("alternate", "de", "de")}{link("alternate", "en", "en")}</url>
      <url><loc>http://example.org/fr</loc>{link("stylesheet", "", "s")}<x:link rel="alternate"/></url></urlset>"""
    found = sitemap_links(document(body, kind=ContentKind.SITEMAP), LinkOptions())
    assert [link.url.rpartition("/")[2] for link in found] == ["en", "fr", "de"]


FIRST = "<urlset><url><loc>http://example.org/1</loc></url>"


@pytest.mark.parametrize(
    ("rest", "more"),
    [
        ("<url><loc>http://example.org/2", []),
        ("<url><loc><![CDATA[http://example.org/2", []),
        ("<url><loc>http://example.org/2</lo", ["http://example.org/2"]),
        ("<url><loc>http://example.org/2</loc>", ["http://example.org/2"]),
        ("<url><loc>http://example.org/2</loc><lastm", ["http://example.org/2"]),
        ("<url><loc>http://example.org/2</loc><url><loc>http://example.org/3</loc></url></urlset>", ["2", "3"]),
    ],
)
def test_sitemap_links_broken_sitemap_gives_problem_and_complete_urls(rest: str, more: list[str]) -> None:
    broken = document(FIRST + rest, kind=ContentKind.SITEMAP)
    found = [link.url for link in sitemap_links(broken, LinkOptions())]
    assert found == ["http://example.org/1", *(f"http://example.org/{url[-1]}" for url in more)]
    assert [(problem.repaired, problem.line) for problem in broken.problems] == [(True, 1)]


def test_sitemap_links_unreadable_sitemap_is_a_problem() -> None:
    broken = document("<?xml version='1.0'?>", kind=ContentKind.SITEMAP)
    assert sitemap_links(broken, LinkOptions()) == []
    assert [problem.repaired for problem in broken.problems] == [False]


def test_sitemap_links_images_are_skipped() -> None:
    body = """<urlset xmlns:i="http://www.google.com/schemas/sitemap-image/1.1"><url><loc>http://example.org/a</loc>
      <i:image><i:loc>http://example.org/picture</i:loc></i:image></url></urlset>"""
    found = sitemap_links(document(body, kind=ContentKind.SITEMAP), LinkOptions())
    assert [link.url for link in found] == ["http://example.org/a"]


def test_text_links_one_url_per_line() -> None:
    body = (
        "\ufeff\nhttp://example.org/a\r\n  HTTPS://example.org/b?c=d&e  \n\nhttp://example.org/a\nhttp://example.org/z"
    )
    text = document(body, kind=ContentKind.TEXT)
    found = text_links(text, LinkOptions())
    assert [link.url for link in found] == [
        "http://example.org/a",
        "https://example.org/b?c=d&e",
        "http://example.org/z",
    ]
    assert {link.source for link in found} == {LinkSource.SITEMAP}
    assert collect_links(text, TransformResult(), LinkOptions(), link_rules_from({"html": False})) == found
    assert len(text_links(text, LinkOptions(sitemap_links=2))) == 2


@pytest.mark.parametrize(
    ("body", "line"),
    [
        ("http://example.org/a\n\nexample.org/lost\nhttp://example.org/b", 3),
        ("# our pages\nhttp://example.org/a\nhttp://example.org/b", 1),
        ("http://example.org/a\nhttp://example.org/b\nhttp://example.org/c d", 3),
    ],
)
def test_text_links_other_line_is_skipped_and_reported(body: str, line: int) -> None:
    text = document(body, kind=ContentKind.TEXT)
    assert [link.url for link in text_links(text, LinkOptions())] == ["http://example.org/a", "http://example.org/b"]
    said = "some lines of the sitemap are not URLs: 1 of 3"
    assert [(problem.message, problem.line) for problem in text.problems] == [(said, line)]


@pytest.mark.parametrize(
    "body",
    ["", "words", "http://example.org/a\nis a page", "http://example.org/a, http://example.org/b", "ftp://a.org/"],
)
def test_text_links_other_texts_have_none(body: str) -> None:
    assert text_links(document(body, kind=ContentKind.TEXT), LinkOptions()) == []


def test_text_links_in_other_encodings() -> None:
    body = "http://example.org/ä\n".encode("utf-16")
    text = document(body, kind=ContentKind.TEXT, charset="utf-16")
    assert [link.url for link in text_links(text, LinkOptions())] == ["http://example.org/%C3%A4"]


def test_sitemap_links_have_the_time_of_their_last_change() -> None:
    body = b"""<urlset><url><loc>https://a.example/1</loc><lastmod>1970-01-02</lastmod></url>
    <url><loc>https://a.example/2</loc><lastmod>1970-01-01T00:02:00+00:00</lastmod></url>
    <url><loc>https://a.example/3</loc><lastmod>yesterday</lastmod></url></urlset>"""
    page = document(body, kind=ContentKind.SITEMAP)
    found = {link.url[-1]: link.modified for link in sitemap_links(page, LinkOptions())}
    assert found == {"1": 2 * 86_400.0, "2": 120.0, "3": None}
