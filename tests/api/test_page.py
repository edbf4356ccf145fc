"""`motherlode.extract` and its result."""

from __future__ import annotations

import pyoxigraph as ox
import pytest

from motherlode.api.page import Quad, extract

HTML = """<!doctype html><title>Cake</title>
<script type="application/ld+json">{"@context": "https://schema.org", "@type": "Recipe",
"name": "Zitronenküchlein"}</script>
<script type="application/ld+json">{broken</script>
<a href="/next">next</a>"""
URL = "https://example.org/p"


def test_extract_html_has_quads_with_pyoxigraph_terms_and_the_graph_of_the_page() -> None:
    page = extract(HTML.encode(), url=URL, content_type="text/html")
    names = [quad for quad in page.quads if quad.predicate == ox.NamedNode("http://schema.org/name")]
    assert [quad.object for quad in names] == [ox.Literal("Zitronenküchlein")]
    assert names[0].graph == ox.NamedNode(URL)
    assert ox.Quad(*names[0]) == ox.Quad(names[0].subject, names[0].predicate, names[0].object, names[0].graph)
    assert isinstance(page.quads[0], Quad)


def test_extract_broken_block_is_a_problem_beside_the_quads() -> None:
    page = extract(HTML, url=URL)
    assert page.quads
    assert {problem.syntax.value for problem in page.problems if problem.syntax} == {"jsonld"}


def test_extract_links_are_absolute() -> None:
    assert "https://example.org/next" in [link.url for link in extract(HTML, url=URL).links]


@pytest.mark.parametrize("declared", ['<meta charset="iso-8859-1">', '<?xml version="1.0" encoding="iso-8859-1"?>', ""])
@pytest.mark.parametrize("content_type", ["", "text/html", "text/html; charset=iso-8859-1"])
def test_extract_str_ignores_declared_charsets(declared: str, content_type: str) -> None:
    page = extract(declared + HTML, url=URL, content_type=content_type)
    assert ox.Literal("Zitronenküchlein") in [quad.object for quad in page.quads]


def test_extract_syntaxes_limits_the_statements() -> None:
    assert not extract(HTML, url=URL, syntaxes=["microdata"]).quads


def test_extract_unknown_syntax_raises_value_error_with_known_names() -> None:
    with pytest.raises(ValueError, match=r"unknown syntax 'jsonl'; known: turtle"):
        extract(HTML, syntaxes=["jsonl"])


def test_extract_turtle_without_url_keeps_absolute_iris() -> None:
    page = extract(b"<http://a.example/s> <http://a.example/p> 1.0 .", content_type="text/turtle")
    assert page.kind == "turtle"
    assert [str(quad.object) for quad in page.quads] == ['"1.0"^^<http://www.w3.org/2001/XMLSchema#decimal>']


def test_extract_with_wrong_arguments_says_what_is_expected() -> None:
    with pytest.raises(TypeError, match="the body must be bytes or str, not NoneType"):
        extract(None)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"url 'page\.html' is not a URL: give the whole URL of the page"):
        extract(HTML, url="page.html")
