"""Which stylesheets are applied to which document."""

from __future__ import annotations

import pickle

import pytest

from motherlode.model import ContentKind, Syntax
from motherlode.transform.options import Stylesheet, TransformOptions
from motherlode.transform.xslt import builtin, fault_in, wants

from .pages import DEFAULT, URL, XHTML, document, facts, options_with, saying, sheet, transformed

SAYS = "<http://example.org/ns#says>"


def test_a_user_stylesheet_by_root_element() -> None:
    options = options_with(saying("hello"), root="report")
    assert facts(document("<report/>"), options) == {(f"<{URL}>", SAYS, '"hello"')}
    assert facts(document("<other/>"), options) == set()


def test_a_user_stylesheet_by_namespace_and_the_first_that_fits() -> None:
    options = TransformOptions(
        stylesheets=(
            Stylesheet(name="a", xslt=saying("a"), namespace="http://a.org/"),
            Stylesheet(name="none", xslt=saying("none"), namespace=""),
            Stylesheet(name="any", xslt=saying("any"), root="x"),
        )
    )
    said = [
        facts(document(xml), options) for xml in ("<x xmlns='http://a.org/'/>", "<x/>", "<x xmlns='http://b.org/'/>")
    ]
    assert [{o for _, _, o in found} for found in said] == [{'"a"'}, {'"none"'}, {'"any"'}]


def test_a_user_stylesheet_takes_the_place_of_ours() -> None:
    found = transformed(document("<rss><channel/></rss>", ContentKind.RSS), options_with(saying("mine"), root="rss"))
    assert [(o, found.syntax) for _, _, o, _ in found.statements] == [('"mine"', Syntax.FEED)]


def test_html_is_repaired_for_stylesheets() -> None:
    xslt = sheet(
        """<xsl:template match="/"><rdf:RDF><rdf:Description rdf:about="{$base}"><ex:says>
        <xsl:value-of select="count(/h:html/h:body/h:p)"/></ex:says></rdf:Description></rdf:RDF></xsl:template>"""
    )
    for kind in (ContentKind.HTML, ContentKind.XHTML):
        found = transformed(document("<p>a<p>b", kind), options_with(xslt, root="html"))
        assert [o.strip('"').replace("\\n", "").strip() for _, _, o, _ in found.statements] == ["2"]
        assert found.syntax is Syntax.GRDDL


def test_a_stylesheet_may_write_turtle() -> None:
    xslt = sheet('<xsl:template match="/">&lt;#a> &lt;#b> [] .</xsl:template>', output='<xsl:output method="text" />')
    assert facts(document("<doc/>"), options_with(xslt)) == {(f"<{URL}#a>", f"<{URL}#b>", "_:1")}


def test_a_stylesheet_that_fails_or_writes_no_rdf_is_a_problem() -> None:
    for xslt, part in (
        (b"<nothing/>", "not a stylesheet"),
        (b"not xml", "not a stylesheet"),
        (sheet('<xsl:template match="/"><xsl:message terminate="yes">no</xsl:message></xsl:template>'), "no"),
        (sheet('<xsl:template match="/"><other/></xsl:template>'), ""),
        (sheet('<xsl:template match="/"><rdf:RDF><rdf:li/></rdf:RDF></xsl:template>'), ""),
    ):
        found = transformed(document("<doc/>"), options_with(xslt))
        assert not any("says" in p for _, p, _, _ in found.statements)
        assert part in " ".join(problem.message for problem in found.problems)


def test_faults_are_told_to_whoever_reads_the_configuration() -> None:
    assert fault_in(saying("x")) == ""
    assert fault_in(b"<x/>").startswith("not a stylesheet")
    with pytest.raises(ValueError, match="root element or a namespace"):
        Stylesheet(name="x", xslt=b"")


def test_what_wants_no_stylesheet_costs_nothing() -> None:
    page = document("<p>x", ContentKind.HTML)
    assert not wants(page, DEFAULT)
    assert transformed(page).statements == ()
    assert not wants(document("a,b", ContentKind.TEXT), options_with(saying("x")))
    assert wants(document("<rss/>", ContentKind.RSS), DEFAULT)


def test_the_page_stylesheet_of_multicrawler() -> None:
    html = """<html lang="en"><base href="/d/"><title>T</title><a href="x">X <img src="i.png" alt="I"></a>
        <a href="http://o.org/">O</a><a href="mailto:a@e.org?subject=x">Ann</a><a href="#top">up</a>
        <a href="javascript:x()">j</a><img src="data:,">"""
    options = TransformOptions(stylesheets=(Stylesheet(name="xhtml", xslt=builtin("xhtml"), namespace=XHTML),))
    dct, foaf, label = (
        "http://purl.org/dc/terms/",
        "http://xmlns.com/foaf/0.1/",
        "<http://www.w3.org/2000/01/rdf-schema#label>",
    )
    a = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
    page, x, image = f"<{URL}>", "<http://example.org/d/x>", "<http://example.org/d/i.png>"
    assert facts(document(html, ContentKind.HTML), options) == {
        (page, "<http://purl.org/dc/elements/1.1/title>", '"T"@en'),
        (page, f"<{dct}references>", x),
        (x, label, '"X I"@en'),
        (page, f"<{dct}hasPart>", image),
        (image, a, f"<{foaf}Image>"),
        (image, label, '"I"@en'),
        (page, f"<{dct}references>", "<http://o.org/>"),
        ("<http://o.org/>", label, '"O"@en'),
        (page, f"<{foaf}topic>", "_:1"),
        ("_:1", a, f"<{foaf}Agent>"),
        ("_:1", f"<{foaf}mbox>", "<mailto:a@e.org>"),
        ("_:1", label, '"Ann"@en'),
    }


def test_options_travel_to_workers() -> None:
    options = options_with(saying("x"))
    assert pickle.loads(pickle.dumps(options)) == options
