"""Links of HTML."""

from __future__ import annotations

import time

import pytest

from motherlode.detect import detect
from motherlode.links.href import LinkOptions
from motherlode.links.html import html_links
from motherlode.model import Link, LinkSource
from motherlode.www.document import Document
from tests.www.pages import document


def links(markup: str, **options: int) -> list[Link]:
    return html_links(document(markup), LinkOptions(**options))  # type: ignore[arg-type]


def urls(markup: str) -> list[str]:
    return [link.url for link in links(markup)]


def test_html_links_anchor_has_all_attributes() -> None:
    (link,) = links(
        "<html><body><main class='list wide'><p>See <a href='../a?b=c#d' rel=' Next  NOFOLLOW' type='Text/Turtle' "
        "title=' the  title '>the\n data</a> of today</p></main>"
    )
    assert link == Link(
        url="http://example.org/a?b=c",
        source=LinkSource.ANCHOR,
        anchor="the data",
        rel="next nofollow",
        type="text/turtle",
        title="the title",
        context="See of today",
        tag_path="html body main.list.wide p a",
        nofollow=True,
    )


@pytest.mark.parametrize(
    ("markup", "source"),
    [
        ("<a href=/x>x</a>", LinkSource.ANCHOR),
        ("<map><area href=/x alt=there></map>", LinkSource.ANCHOR),
        ("<link rel=alternate type=application/rdf+xml href=/x>", LinkSource.LINK_ELEMENT),
        ("<iframe src=/x></iframe>", LinkSource.FRAME),
        ("<frameset><frame src=/x></frameset>", LinkSource.FRAME),
        ("<meta http-equiv=Refresh content='3; URL=/x'>", LinkSource.REFRESH),
        ("<meta http-equiv=refresh content=\"0;url='/x'\">", LinkSource.REFRESH),
        ("<meta http-equiv=refresh content='3, /x'>", LinkSource.REFRESH),
    ],
)
def test_html_links_have_every_source(markup: str, source: LinkSource) -> None:
    assert [(link.url, link.source) for link in links(markup)] == [("http://example.org/x", source)]


def _in_charset(markup: str, label: str) -> list[str]:
    body = f"<html><head><meta charset={label}></head><body>русский {markup}".encode(label, "xmlcharrefreplace")
    url = "http://example.org/dir/page"
    detected = detect(body, url=url, content_type="text/html")
    return [link.url for link in html_links(Document(url=url, body=body, detected=detected), LinkOptions())]


def test_html_links_query_is_in_page_charset_and_path_is_not() -> None:
    markup = "<a href='/s?q=привет'>1</a><a href='/путь?q=%D0'>2</a><iframe src='?é=я#я'></iframe>"
    assert _in_charset(markup, "windows-1251") == [
        "http://example.org/s?q=%EF%F0%E8%E2%E5%F2",
        "http://example.org/%D0%BF%D1%83%D1%82%D1%8C?q=%D0",
        "http://example.org/dir/page?%26%23233%3B=%FF",
    ]


@pytest.mark.parametrize("label", ["utf-8", "utf-16"])
def test_html_links_query_of_unicode_page_is_utf8(label: str) -> None:
    for _ in range(2):  # the second time they are cached
        assert _in_charset("<a href='/s?q=я'>1</a>", label) == ["http://example.org/s?q=%D1%8F"]
    assert _in_charset("<a href='/s?q=я'>1</a>", "koi8-r") == ["http://example.org/s?q=%D1"], "but not for all pages"


def test_html_links_use_base_element() -> None:
    assert urls("<base href=/deep/er/><a href=x>x</a><a href='?y'>y</a>") == [
        "http://example.org/deep/er/x",
        "http://example.org/deep/er/?y",
    ]


@pytest.mark.parametrize(
    "markup",
    [
        "<a href='#top'>top</a>",
        "<a href='mailto:ann@example.org'>mail</a>",
        "<a href='javascript:void(0)'>no</a>",
        "<a href='http://[broken'>no</a>",
        "<a href=''>no</a>",
        "<a>no</a>",
        "<a href=/picture.PNG>no</a>",
        "<link rel='stylesheet' href=/x>",
        "<link rel='alternate stylesheet' href=/x>",
        "<link rel='shortcut icon' href=/x>",
        "<link rel='preload' href=/x>",
        "<link rel='dns-prefetch' href='//cdn.example'>",
        "<meta http-equiv=refresh content=30>",
    ],
)
def test_html_links_skip_what_leads_to_no_page(markup: str) -> None:
    assert urls(markup) == []


def test_html_links_keep_data_and_pages_about_files() -> None:
    markup = "<a href=/data.ttl>a</a><a href=/item123?x=1>b</a><a href=/File:Cat.jpg>c</a><a href=/x.json>d</a>"
    assert len(urls(markup)) == 4


def test_html_links_have_one_link_per_url_with_most_information() -> None:
    first, second = links("<a href=/x><img src=i.png></a> <a href=/y>y</a> <a href=/x#a rel=nofollow>The X</a>")
    assert (first.url, first.anchor, first.nofollow) == ("http://example.org/x", "The X", False)
    assert second.anchor == "y"


def test_html_links_image_gives_its_alt_text() -> None:
    (link,) = links("<a href=/x>\n<img src=i.png alt='A  cat'></a>")
    assert link.anchor == "A cat"


def test_html_links_link_without_siblings_uses_context_of_parent() -> None:
    (link,) = links("<p>before <b><a href=/x>x</a></b> after</p>")
    assert link.context == "before after"


def test_html_links_meta_robots_nofollow_marks_all() -> None:
    assert [link.nofollow for link in links("<meta name=ROBOTS content='NoIndex,NOFOLLOW'><a href=/x>x</a>")] == [True]
    assert [link.nofollow for link in links("<meta name=robots content=none><a href=/x>x</a>")] == [True]
    assert [link.nofollow for link in links("<meta name=googlebot content=nofollow><a href=/x>x</a>")] == [False]


def test_html_links_texts_are_cut() -> None:
    long = "word " * 1_000
    (link,) = links(
        f"<div class='{long}'>{long}<a href=/x title='{long}' rel='{long}' type='{long}'>{long}</a>{long}</div>"
    )
    for text in (link.anchor, link.title, link.rel, link.type, link.context):
        assert len(text) <= 120
    assert len(link.tag_path) < 400


def test_html_links_refresh_adds_nothing_to_known_link() -> None:
    (link,) = links("<a href=/x rel=nofollow>x</a><meta http-equiv=refresh content='0;url=/x'>")
    assert (link.source, link.nofollow) == (LinkSource.ANCHOR, True)


def test_html_links_frame_leads_to_its_source() -> None:
    assert urls("<iframe href=/no src=/x></iframe>") == ["http://example.org/x"]


def test_html_links_fragments_do_not_count() -> None:
    assert urls("<a href=#x>x</a>" * 50_000 + "<a href=/x>x</a>") == ["http://example.org/x"]


def test_html_links_are_bounded() -> None:
    markup = "".join(f"<a href=/{i}>x</a>" for i in range(9_000))
    assert len(links(markup)) == 5_000
    assert len(links(markup, page_links=10)) == 10


def test_html_links_beyond_limit_are_reported() -> None:
    said = "a page gives 10 links at most: the rest was left out"
    some = "".join(f"<a href=/{i}>x</a>" for i in range(10))
    for markup, problems in (
        (some, []),
        (some + "<a href=/9>again</a><a href=#top>x</a><a href=a.css>x</a>", []),
        (some + "<a href=/10>x</a>", [said]),
        ("<a href=/1>x</a>" * 81, [said]),
    ):
        page = document(markup)
        html_links(page, LinkOptions(page_links=10))
        assert [problem.message for problem in page.problems] == problems


@pytest.mark.parametrize(
    "markup",
    [
        "<div class=x>" * 400 + "<a href=/x>x</a>" * 50_000,
        "".join(f"<a href=/{i}><object>" for i in range(20_000)) + "text " * 100_000,
        "<p>" + "text " * 200_000 + "".join(f"<a href=/{i}>x</a>" for i in range(20_000)),
        "<a href='" + "x" * 2_000_000 + "'>x</a>",
        "<a href=/x>" + "x" * 50_000_000,
    ],
    ids=["repeated", "nested", "one long text", "long address", "50 MB"],
)
def test_html_links_hostile_pages_are_fast(markup: str) -> None:
    page = document(markup)
    assert page.html.root is not None
    started = time.process_time()
    html_links(page, LinkOptions())
    assert time.process_time() - started < 10


@pytest.mark.parametrize(
    ("reference", "is_told"),
    [
        *[("/" + "a" * 5000, True), ("https://example.org/?" + "a" * 5000, True), ("/" + "a" * 3000, False)],
        *[(f"data:text/html,{'a' * 5000}", False), (f" javascript:{'a' * 5000}", False), ("#" + "a" * 5000, False)],
    ],
)
def test_html_links_too_long_url_is_reported(reference: str, is_told: bool) -> None:  # noqa: FBT001
    page = document(f'<a href="{reference}">long</a><a href="/b">short</a>')
    assert "http://example.org/b" in [link.url for link in html_links(page, LinkOptions())]
    said = [problem.message for problem in page.problems]
    assert said == (["URLs of more than 4,096 characters are not followed"] if is_told else [])
