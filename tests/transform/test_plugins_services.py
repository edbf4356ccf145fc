from __future__ import annotations

import pickle

import pytest

from motherlode.model import ContentKind, Detected, DetectionEvidence, Syntax
from motherlode.transform.bnodes import BlankNames
from motherlode.transform.options import Service, TransformOptions
from motherlode.transform.plugins import ServiceCall, find_service_call, read_service_response, service_failure
from motherlode.www.document import Document

URL = "http://example.org/photo"
OPTIONS = TransformOptions(
    services=(
        Service(media_type="application/pdf", url="http://s.org/pdf", seconds=3, most_sent=10),
        Service(media_type="image/*", url="http://s.org/image", most_received=100),
    ),
    statements=7,
)


def call_for(content_type: str, body: bytes = b"x", kind: ContentKind = ContentKind.BINARY) -> ServiceCall | None:
    page = Document(url=URL, body=body, detected=Detected(kind=kind, evidence=DetectionEvidence.CONTENT))
    return find_service_call(page, OPTIONS, content_type=content_type)


def image_call() -> ServiceCall:
    call = call_for("image/png")
    assert call is not None
    return call


def names() -> BlankNames:
    return BlankNames(URL, Syntax.OTHER)


def test_a_call_says_all_that_is_needed_to_make_it() -> None:
    call = call_for("application/pdf; version=1")
    assert call is not None
    assert (call.url, call.body, call.seconds, call.max_statements) == ("http://s.org/pdf", b"x", 3, 7)
    assert call.headers["Content-Type"] == "application/pdf; version=1"
    assert call.headers["Content-Location"] == URL
    assert "application/n-quads" in call.headers["Accept"]
    assert pickle.loads(pickle.dumps(call)) == call


@pytest.mark.parametrize(
    ("content_type", "url"),
    [("image/png", "http://s.org/image"), ("IMAGE/JPEG", "http://s.org/image"), ("text/css", None)],
)
def test_which_service_is_asked(content_type: str, url: str | None) -> None:
    call = call_for(content_type)
    assert (call.url if call else None) == url


def test_without_a_header_the_kind_of_content_tells() -> None:
    options = TransformOptions(services=(Service(media_type="application/json", url="http://s.org/"),))
    page = Document(url=URL, body=b"{}", detected=Detected(kind=ContentKind.JSON, evidence=DetectionEvidence.CONTENT))
    assert find_service_call(page, options) is not None


def test_too_much_content_is_refused_with_a_reason() -> None:
    call = call_for("application/pdf", b"x" * 11)
    assert call is not None
    assert call.refused == "11 bytes are more than the limit of 10 bytes"
    assert "s.org/pdf: 11 bytes" in service_failure(call, call.refused).problems[0].message


def test_an_answer_in_rdf_becomes_statements_of_the_page() -> None:
    found = read_service_response(image_call(), "text/turtle; charset=utf-8", b"<> <#p> [ <#q> 1 ] .", names())
    assert found.syntax is Syntax.OTHER
    assert {s for s, *_ in found.statements} == {f"<{URL}>", names().for_label("b")}


@pytest.mark.parametrize(
    ("content_type", "body", "part"),
    [
        ("text/html", b"<p>", "text/html, not RDF"),
        ("", b"", "has no media type"),
        ("text/turtle", b"x" * 101, "longer than the limit"),
        ("text/turtle", b"<a", "the RDF made from it"),
        ("application/ld+json", b'{"@context": "http://c.org/"}', "the RDF made from it"),
    ],
)
def test_any_other_answer_is_a_problem(content_type: str, body: bytes, part: str) -> None:
    found = read_service_response(image_call(), content_type, body, names())
    assert found.statements == ()
    assert part in found.problems[0].message
