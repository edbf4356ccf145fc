"""Which URIs are hard (definition 2)."""

from __future__ import annotations

import pytest

from motherlode.model import Link, LinkSource
from motherlode.policies.ldcoc.ldcoc_features import Hardness, hardness


@pytest.mark.parametrize(
    ("url", "content_type", "expected"),
    [
        ("http://a.example/x.rdf", "", Hardness.RDF),
        ("http://a.example/x.owl", "", Hardness.RDF),
        ("http://a.example/x", "application/rdf+xml", Hardness.RDF),
        ("http://a.example/x", "text/turtle; charset=utf-8", Hardness.RDF),
        ("http://a.example/x", "", Hardness.HARD),
        ("http://a.example/x.html", "", Hardness.HARD),
        ("http://a.example/x.htm", "text/html", Hardness.HARD),
        ("http://a.example/x", "text/plain", Hardness.HARD),
        ("http://a.example/x.jpg", "", Hardness.NO_RDF),
        ("http://a.example/x", "image/png", Hardness.NO_RDF),
    ],
)
def test_the_paper_s_examples(url: str, content_type: str, expected: Hardness) -> None:
    assert hardness(Link(url=url, source=LinkSource.ANCHOR, type=content_type)) is expected
