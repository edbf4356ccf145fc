"""Results of a response: the page for its parser, the record for the store, and the visit."""

from __future__ import annotations

from urllib.parse import urlsplit

import pytest

from motherlode.crawler.engine.pipeline import body_of, page_record
from motherlode.crawler.engine.settlement import failed_visit, page_visit, redirect_record
from motherlode.crawler.parsing.messages import READ_HEADERS, PageBody, ParseOptions
from motherlode.crawler.parsing.page_parser import PageParser
from motherlode.frontier import Entry, Lease
from motherlode.model import Failure, FailureKind, Page, RequestKind, Visit
from tests.frontier.fakes import entry

URL = "http://a.example/x"
HTML = b'<title>T</title><p vocab="http://schema.org/" typeof="Place"><b property="name">P</b></p><a href="/next">n</a>'


def lease(**more: object) -> Lease:
    found = Entry(url=URL, arm="arm", score=0.5, sequence=1, depth=3, parent_url="http://a.example/", **more)  # type: ignore[arg-type]
    return Lease(url=URL, host="a.example", kind=RequestKind.PAGE, entry=found)


def page(**more: object) -> Page:
    headers = {"content-type": "text/html; charset=utf-8"}
    asked: dict[str, object] = {
        "url": URL,
        "status": 200,
        "headers": headers,
        "body": HTML,
        "fetched_at": 100.0,
        **more,
    }
    return Page(**asked)  # type: ignore[arg-type]


READING = PageParser(ParseOptions(target="any")).read(body_of(page()))


def visit_of(page: Page, *, number: int, new_links: int, copy_of: str, reward: float) -> Visit:
    return page_visit(
        lease().entry,
        "a.example",
        page,
        READING,
        number=number,
        new_links=new_links,
        copy_of=copy_of,
        reward=reward,
        now=0.0,
    )


def test_a_reader_gets_the_headers_that_it_reads_and_no_others() -> None:
    headers = {"link": "<x>", "x-robots-tag": "none", "set-cookie": "secret", "content-type": "text/turtle"}
    body = body_of(page(headers=headers))
    kept = {"link": "<x>", "x-robots-tag": "none"}
    assert body == PageBody(url=URL, content_type="text/turtle", body=HTML, headers=kept, at=100.0)
    assert set(READ_HEADERS) >= set(body.headers)


def test_links_of_headers_reach_the_crawl() -> None:
    headers = {"content-type": "text/html", "link": "</a>", "refresh": "0; url=/b", "content-location": "/c"}
    reading = PageParser(ParseOptions(target="any")).read(body_of(page(headers=headers)))
    assert {urlsplit(link.url).path for link in reading.links} >= {"/a", "/b", "/c"}


def test_the_record_tells_where_a_page_comes_from_and_what_it_is() -> None:
    record = page_record(lease(), page(), READING, now=0.0)
    assert (record.url, record.status, record.fetched_at) == (URL, 200, 100.0)
    assert (record.size, record.referrer) == (len(HTML), "http://a.example/")
    assert record.graph_quads == READING.graph_quads
    assert (record.quads, record.kind) == (READING.quads, "html")
    assert record.syntaxes == ("rdfa",), "plain page facts are not named beside better ones"
    assert record.content_hash == READING.content_hash


def test_a_redirect_is_on_record_under_the_address_that_was_asked_for() -> None:
    failure = Failure(url=URL, kind=FailureKind.REDIRECT, status=301, location="http://b.example/", fetched_at=7.0)
    record = redirect_record(lease(), failure, now=0.0)
    assert (record.url, record.status, record.redirects_to) == (URL, 301, "http://b.example/")
    assert (record.fetched_at, record.graph_quads, record.quads) == (7.0, b"", 0)


def test_a_visit_has_what_was_asked_and_what_came_of_it() -> None:
    made = page(
        wire_bytes=55, elapsed=1.5, headers={"content-type": "text/html", "etag": '"1"', "last-modified": "now"}
    )
    visit = page_visit(
        lease().entry, "a.example", made, READING, number=9, new_links=1, copy_of="", reward=0.5, now=0.0
    )
    assert (visit.number, visit.url, visit.host, visit.arm, visit.depth) == (9, URL, "a.example", "arm", 3)
    assert (visit.parent_url, visit.score, visit.at, visit.status) == ("http://a.example/", 0.5, 100.0, 200)
    assert (visit.size, visit.received, visit.elapsed) == (len(HTML), 55, 1.5)
    assert (visit.relevant, visit.reward, visit.quads, visit.links) == (True, 0.5, READING.quads, 1)
    assert (visit.new_links, visit.etag, visit.last_modified, visit.detail) == (1, '"1"', "now", "")
    assert visit.failure is None


def test_a_copy_names_the_address_where_it_was_met_before() -> None:
    visit = page_visit(
        lease().entry,
        "a.example",
        page(),
        READING,
        number=1,
        new_links=0,
        copy_of="http://b.example/",
        reward=1.0,
        now=0.0,
    )
    assert visit.detail == "the same content as http://b.example/"


def test_validators_are_kept_up_to_a_length() -> None:
    headers = {"etag": "e" * 5_000, "last-modified": "m" * 5_000}
    visit = page_visit(
        lease().entry,
        "a.example",
        page(headers=headers),
        READING,
        number=1,
        new_links=0,
        copy_of="",
        reward=1.0,
        now=0.0,
    )
    assert (visit.etag, visit.last_modified) == ("", ""), "a part of one would be no validator"


def test_a_failure_is_a_visit_with_its_kind_and_its_sentence() -> None:
    failure = Failure(url=URL, kind=FailureKind.NOT_FOUND, detail="not there", status=404, wire_bytes=3, fetched_at=8.0)
    visit = failed_visit(lease().entry, "a.example", failure, number=2, now=0.0)
    assert (visit.failure, visit.detail, visit.status) == (FailureKind.NOT_FOUND, "not there", 404)
    assert (visit.size, visit.received) == (0, 3)
    assert (visit.at, visit.relevant, visit.counts) == (8.0, False, {})


@pytest.mark.parametrize("address", ["http://a.example/", "http://b.example/"])
def test_an_answer_without_a_time_is_as_of_now(address: str) -> None:
    found = Lease(url=address, host="a.example", kind=RequestKind.PAGE, entry=entry(address))
    for at in (
        page_record(found, page(fetched_at=0.0), READING, now=9.0).fetched_at,
        redirect_record(found, Failure(url=address, kind=FailureKind.REDIRECT), now=9.0).fetched_at,
        failed_visit(found.entry, "a.example", Failure(url=address, kind=FailureKind.DNS), number=1, now=9.0).at,
    ):
        assert at == 9.0
