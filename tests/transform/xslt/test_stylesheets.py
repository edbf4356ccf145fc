from __future__ import annotations

import pytest

from motherlode.model import ContentKind
from motherlode.transform.options import TransformOptions
from motherlode.www.document import Document

from .pages import XHTML, document, facts, saying, transformed

VIEW = "http://www.w3.org/2003/g/data-view"
OPTIONS = TransformOptions(
    transformations={
        "http://example.org/a.xsl": saying("a"),
        "http://b.org/ns": saying("b"),
        "http://c.org/p": saying("c"),
    }
)


def said(page: Document) -> set[str]:
    return {o.strip('"') for _, _, o in facts(page, OPTIONS)}


@pytest.mark.parametrize(
    ("xml", "expected"),
    [
        (f"<x xmlns:g='{VIEW}#' g:transformation='a.xsl'/>", {"a"}),
        (f"<x xmlns:g='{VIEW}#' g:transformation=' http://example.org/a.xsl http://b.org/ns '/>", {"a", "b"}),
        ("<x xmlns='http://b.org/ns'/>", {"b"}),
        (f"<x xmlns:g='{VIEW}#'><y g:transformation='a.xsl'/></x>", set()),
        ("<x transformation='a.xsl'/>", set()),
    ],
)
def test_transformations_of_xml(xml: str, expected: set[str]) -> None:
    assert said(document(xml)) == expected


@pytest.mark.parametrize("kind", [ContentKind.HTML, ContentKind.XHTML])
@pytest.mark.parametrize(
    ("html", "expected"),
    [
        (f"<head profile='{VIEW}'><link rel='transformation' href='a.xsl'></head>", {"a"}),
        (f"<head profile='{VIEW}'></head><a rel='x transformation' href='/a.xsl'>", {"a"}),
        ("<link rel='transformation' href='a.xsl'>", set()),
        ("<head profile='http://c.org/p http://d.org/'></head>", {"c"}),
    ],
)
def test_transformations_of_html(html: str, expected: set[str], kind: ContentKind) -> None:
    assert said(document(f"<html xmlns='{XHTML}'>{html}</html>", kind)) == expected


def test_what_is_not_on_the_allow_list_is_refused_and_said_so() -> None:
    page = document(f"<x xmlns:g='{VIEW}#' g:transformation='other.xsl'/>")
    for options in (OPTIONS, TransformOptions()):
        found = transformed(page, options)
        assert found.statements == ()
        assert "http://example.org/other.xsl is not on the allow-list" in found.problems[0].message


def test_a_crowd_of_transformations_is_cut() -> None:
    named = " ".join(f"t{n}.xsl" for n in range(1000))
    found = transformed(document(f"<x xmlns:g='{VIEW}#' g:transformation='{named}'/>"))
    assert 0 < len(found.problems) <= 10
