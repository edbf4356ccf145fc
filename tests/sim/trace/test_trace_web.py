from __future__ import annotations

from pathlib import Path

import pytest

from motherlode.model import FailureKind
from motherlode.policies import target_from
from motherlode.sim.trace.recorder import record
from motherlode.sim.trace.trace_web import TraceWeb
from tests.sim.fakes import FIND, HTML
from tests.support import shared, write_warc

Response = tuple[str, int, dict[str, str], bytes]


def anchors(*urls: str) -> bytes:
    return "".join(f'<p><a href="{url}">x</a>' for url in urls).encode()


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    responses: list[Response] = [
        ("https://a.example/", 200, HTML, anchors("http://a.example/x", "https://b.example/deep/page", "/gone")),
        ("https://a.example/x", 200, HTML, FIND.encode()),
        ("https://a.example/robots.txt", 200, {"Content-Type": "text/plain"}, b"User-agent: *\nDisallow:"),
        ("https://b.example/deep/page", 200, HTML, b"<p>longer"),
        ("https://b.example/r.txt", 200, {"Content-Type": "text/plain"}, b"hello"),
        ("https://b.example/page", 200, {"Content-Type": "text/turtle"}, b"<#a> <#b> <#c> ."),
        ("http://c.example/", 301, {"Location": "https://c.example/"}, b""),
        ("https://c.example/", 200, HTML, b"<p>again"),
        ("https://d.example/", 200, HTML, b"<p>first"),
        ("https://d.example/", 301, {"Location": "https://d.example/"}, b""),
    ]
    record(
        [write_warc(tmp_path / "w.warc.gz", responses)], tmp_path / "trace", workers=1, progress=lambda done, of: None
    )
    return tmp_path / "trace"


def test_trace_web_counts_html_and_rdf_pages(trace: Path) -> None:
    assert TraceWeb(trace, target_from("any")).page_count == 6


def test_trace_web_treats_http_and_https_alike(trace: Path) -> None:
    web = TraceWeb(trace, target_from("any"))
    assert web.page("http://a.example/x").relevant
    assert web.spelling("http://a.example/x") == "https://a.example/x"
    assert [link.url for link in web.page("https://a.example/").links] == [
        "https://a.example/x",
        "https://b.example/deep/page",
    ]


def test_trace_web_with_missing_keeps_dead_links_as_404(trace: Path) -> None:
    web = TraceWeb(trace, target_from("any"), dead=1.0)
    assert [link.url for link in web.page("https://a.example/").links][-1] == "https://a.example/gone"
    assert web.page("https://a.example/gone").failure is FailureKind.NOT_FOUND


def test_trace_web_redirect_to_itself_hides_no_page(trace: Path) -> None:
    web = TraceWeb(trace, target_from("any"))
    assert web.page("http://c.example/").failure is None
    assert web.page("https://d.example/").failure is None


def test_trace_web_home_pages_are_roots_or_shortest_urls(trace: Path) -> None:
    web = TraceWeb(trace, target_from("any"))
    assert sorted(web.home_pages()) == [
        "https://a.example/",
        "https://b.example/page",
        "https://c.example/",
        "https://d.example/",
    ]


def test_trace_web_home_page_choice_ignores_scheme(tmp_path: Path) -> None:
    responses: list[Response] = [
        ("https://a.example/", 200, HTML, anchors("/b")),
        ("http://a.example/b", 200, HTML, b"<p>hello"),
    ]
    source = write_warc(tmp_path / "w.warc.gz", responses)
    record([source], tmp_path / "trace", workers=1, progress=lambda done, of: None)
    assert TraceWeb(tmp_path / "trace", target_from("any")).home_pages() == ["https://a.example/"]


def test_labels_depend_on_target(trace: Path) -> None:
    assert [url for url, yes in TraceWeb(trace, target_from("jsonld")).labels() if yes] == ["https://a.example/x"]
    assert [url for url, yes in TraceWeb(trace, target_from("rdf")).labels() if yes] == ["https://b.example/page"]
    ask = target_from("ASK { ?s <https://schema.org/name> ?o }")
    assert [url for url, yes in TraceWeb(trace, ask).labels() if yes] == ["https://a.example/x"]


def test_trace_web_everything_equals_pages(trace: Path) -> None:
    web = TraceWeb(trace, target_from("any"))
    everything = list(web.everything())
    assert len({page.url for page in everything}) == len(everything) == 8
    assert all(web.page(page.url) == page for page in everything)


@pytest.mark.parametrize("seed", [0, 1])
def test_corpus_trace_has_the_pages_of_its_index(tmp_path: Path, seed: int) -> None:
    """A cheap look at a tenth of the file: reading all of it belongs to the benchmark."""
    source = shared("corpus", "sites.warc.gz")
    part = tmp_path / "part.warc.gz"
    with source.open("rb") as file:
        file.seek(seed * 30_000_000)
        part.write_bytes(file.read(3_000_000))
    (found,) = record([part], tmp_path / "trace", progress=lambda done, of: None)
    assert found.pages > 50
    assert 1 <= found.broken <= 2
    assert TraceWeb(tmp_path / "trace", target_from("any")).page_count > 30
