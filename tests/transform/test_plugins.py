from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import EntryPoint

import pytest

from motherlode.model import ContentKind, Detected, DetectionEvidence, Extraction, Syntax
from motherlode.transform import plugin_registry as installed
from motherlode.transform import plugins
from motherlode.transform.bnodes import BlankNames
from motherlode.transform.options import TransformOptions
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
    points = [EntryPoint(name=n, value=f"{__name__}:{f}", group=installed.GROUP) for n, f in names.items()]
    monkeypatch.setattr(installed, "entry_points", lambda *, group: points if group == installed.GROUP else [])
    installed.installed_transformers.cache_clear()
    yield
    installed.installed_transformers.cache_clear()


def extract(content_type: str, options: TransformOptions | None = None) -> Extraction:
    detected = Detected(kind=ContentKind.BINARY, evidence=DetectionEvidence.HEADER)
    page = Document(url=URL, body=b"abc", detected=detected)
    names = BlankNames(URL, Syntax.OTHER)
    return plugins.extract(page, names, options or TransformOptions(), content_type=content_type)


def test_a_transformer_is_found_by_media_type() -> None:
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
def test_trouble_is_a_problem(content_type: str, part: str) -> None:
    found = extract(content_type)
    assert found.statements == ()
    assert part in found.problems[0].message


def test_the_user_may_name_those_that_count() -> None:
    assert extract("x/good", TransformOptions(transformers=frozenset())) == Extraction(syntax=Syntax.OTHER)
    assert extract("x/good", TransformOptions(transformers=frozenset({"x/good"}))).statements
