"""Python transformers and external services."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from importlib.metadata import EntryPoint

import pytest

from motherlode.model import ContentKind, Detected, DetectionEvidence, Extraction, Syntax
from motherlode.transform import options, plugins
from motherlode.transform.bnodes import BlankNames
from motherlode.transform.options import Service, TransformOptions
from motherlode.transform.plugins import ServiceCall, find_service_call, read_service_response, service_failure
from motherlode.www.document import Document

URL = "http://example.org/file"


def good(*, body: bytes, url: str, content_type: str) -> tuple[str, bytes]:
    return "text/turtle", f'<{url}> <#size> {len(body)} ; <#type> "{content_type}" .'.encode()


def wrong(*, body: bytes, url: str, content_type: str) -> tuple[str, bytes]:
    return "x/y", b""


def broken(*, body: bytes, url: str, content_type: str) -> tuple[str, bytes]:
    raise RuntimeError("oops")


@pytest.fixture(autouse=True)
def with_transformers(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    names = {"x/good": "good", "x/*": "wrong", "x/broken": "broken", "x/missing": "missing"}
    points = [EntryPoint(name=n, value=f"{__name__}:{f}", group=options.GROUP) for n, f in names.items()]
    monkeypatch.setattr(options, "entry_points", lambda *, group: points if group == options.GROUP else [])
    options.installed_transformers.cache_clear()
    yield
    options.installed_transformers.cache_clear()


def extract(content_type: str, options: TransformOptions | None = None) -> Extraction:
    detected = Detected(kind=ContentKind.BINARY, evidence=DetectionEvidence.HEADER)
    page = Document(url=URL, body=b"abc", detected=detected)
    names = BlankNames(URL, Syntax.OTHER)
    return plugins.extract(page, names, options or TransformOptions(), content_type=content_type)


def test_extract_finds_transformer_by_media_type() -> None:
    found = extract("x/good; a=b")
    assert {(p, o) for _, p, o, _ in found.statements} == {
        (f"<{URL}#size>", '"3"^^<http://www.w3.org/2001/XMLSchema#integer>'),
        (f"<{URL}#type>", '"x/good; a=b"'),
    }
    assert extract("y/z") == Extraction(syntax=Syntax.OTHER)


@pytest.mark.parametrize(
    ("content_type", "part"),
    [
        ("x/other", "which is not an RDF media type"),
        ("x/broken", "RuntimeError: oops"),
        ("x/missing", "AttributeError"),
    ],
)
def test_extract_failing_transformer_is_a_problem(content_type: str, part: str) -> None:
    found = extract(content_type)
    assert found.statements == ()
    assert part in found.problems[0].message


def test_extract_uses_only_allowed_transformers() -> None:
    assert extract("x/good", TransformOptions(transformers=frozenset())) == Extraction(syntax=Syntax.OTHER)
    assert extract("x/good", TransformOptions(transformers=frozenset({"x/good"}))).statements


# External services


PHOTO_URL = "http://example.org/photo"
OPTIONS = TransformOptions(
    services=(
        Service(media_type="application/pdf", url="http://s.org/pdf", seconds=3, most_sent=10),
        Service(media_type="image/*", url="http://s.org/image", most_received=100),
    ),
    statements=7,
)


def call_for(content_type: str, body: bytes = b"x", kind: ContentKind = ContentKind.BINARY) -> ServiceCall | None:
    page = Document(url=PHOTO_URL, body=body, detected=Detected(kind=kind, evidence=DetectionEvidence.CONTENT))
    return find_service_call(page, OPTIONS, content_type=content_type)


def image_call() -> ServiceCall:
    call = call_for("image/png")
    assert call is not None
    return call


def names() -> BlankNames:
    return BlankNames(PHOTO_URL, Syntax.OTHER)


def test_service_call_contains_the_whole_request() -> None:
    call = call_for("application/pdf; version=1")
    assert call is not None
    assert (call.url, call.body, call.seconds, call.max_statements) == ("http://s.org/pdf", b"x", 3, 7)
    assert call.headers["Content-Type"] == "application/pdf; version=1"
    assert call.headers["Content-Location"] == PHOTO_URL
    assert "application/n-quads" in call.headers["Accept"]
    assert pickle.loads(pickle.dumps(call)) == call


@pytest.mark.parametrize(
    ("content_type", "url"),
    [("image/png", "http://s.org/image"), ("IMAGE/JPEG", "http://s.org/image"), ("text/css", None)],
)
def test_find_service_call_selects_service_by_media_type(content_type: str, url: str | None) -> None:
    call = call_for(content_type)
    assert (call.url if call else None) == url


def test_find_service_call_without_header_uses_detected_kind() -> None:
    options = TransformOptions(services=(Service(media_type="application/json", url="http://s.org/"),))
    page = Document(
        url=PHOTO_URL, body=b"{}", detected=Detected(kind=ContentKind.JSON, evidence=DetectionEvidence.CONTENT)
    )
    assert find_service_call(page, options) is not None


def test_find_service_call_too_large_content_is_refused() -> None:
    call = call_for("application/pdf", b"x" * 11)
    assert call is not None
    assert call.refused == "11 bytes are more than the limit of 10 bytes"
    assert "s.org/pdf: 11 bytes" in service_failure(call, call.refused).problems[0].message


def test_read_service_response_rdf_gives_statements() -> None:
    found = read_service_response(image_call(), "text/turtle; charset=utf-8", b"<> <#p> [ <#q> 1 ] .", names())
    assert found.syntax is Syntax.OTHER
    assert {s for s, *_ in found.statements} == {f"<{PHOTO_URL}>", names().for_label("b")}


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
def test_read_service_response_other_content_is_a_problem(content_type: str, body: bytes, part: str) -> None:
    found = read_service_response(image_call(), content_type, body, names())
    assert found.statements == ()
    assert part in found.problems[0].message
