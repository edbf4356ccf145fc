"""Messages between the crawl and its parser processes. The crawl process must not import the parsers."""

from __future__ import annotations

import subprocess
import sys

import msgspec

from motherlode.crawler.engine.pipeline import syntaxes
from motherlode.crawler.parsing.messages import (
    PageBody,
    ParsedPage,
    ParseOptions,
    ServiceResponse,
    SubrequestResults,
)
from motherlode.model import Link, LinkSource, Problem, Syntax


def parsed_page(**counts: int) -> ParsedPage:
    return ParsedPage(
        kind="html",
        relevant=True,
        counts=counts,
        quads=sum(counts.values()),
        graph_quads=b"",
        graphs=(),
        links=[Link(url="http://a.example/", source=LinkSource.ANCHOR)],
        problems=(Problem(syntax=Syntax.RDFA, message="bad"),),
        content_hash="sha256:0",
    )


def test_messages_are_unchanged_by_serialization() -> None:
    supplies = SubrequestResults(contexts={"http://c.example/": b"{}"}, service=ServiceResponse(body=b"x"))
    sent = (
        ParseOptions(target="any", is_brief=True),
        PageBody(url="http://a.example/", content_type="text/html", body=b"\xff", supplies=supplies),
        parsed_page(rdfa=2),
    )
    for record in sent:
        assert msgspec.msgpack.decode(msgspec.msgpack.encode(record), type=type(record)) == record


def test_syntaxes_exclude_page_metadata() -> None:
    assert syntaxes(parsed_page(rdfa=2, page=3, jsonld=1)) == ("jsonld", "rdfa")
    assert syntaxes(parsed_page(page=3)) == ()


def test_crawl_process_imports_no_parsers() -> None:
    code = "import sys, motherlode.crawler.engine.factory; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split()
    assert "motherlode.crawler.parsing.messages" in loaded
    assert not {
        "motherlode.crawler.parsing.page_parser",
        "motherlode.transform.pipeline",
        "selectolax",
        "tantivy",
    } & set(loaded)
