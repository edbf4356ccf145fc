"""Choice and application of stylesheets, GRDDL, and HTML as XHTML."""

from __future__ import annotations

import pickle

import pytest

from motherlode.model import ContentKind, Syntax
from motherlode.transform.options import Stylesheet, TransformOptions
from motherlode.transform.xslt import builtin, fault_in, wants
from motherlode.transform.xslt import xslt_engine as engine
from motherlode.transform.xslt.stylesheets import to_xhtml
from motherlode.www.document import Document

from .pages import DEFAULT, URL, XHTML, constant_sheet, document, extract_document, options_with, sheet, statements

VIEW = "http://www.w3.org/2003/g/data-view"
OPTIONS = TransformOptions(
    transformations={
        "http://example.org/a.xsl": constant_sheet("a"),
        "http://b.org/ns": constant_sheet("b"),
        "http://c.org/p": constant_sheet("c"),
    }
)


def values(page: Document) -> set[str]:
    return {o.strip('"') for _, _, o in statements(page, OPTIONS)}


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
def test_grddl_transformation_of_xml_is_applied_if_allowed(xml: str, expected: set[str]) -> None:
    assert values(document(xml)) == expected


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
def test_grddl_transformation_of_html_is_applied_if_allowed(html: str, expected: set[str], kind: ContentKind) -> None:
    assert values(document(f"<html xmlns='{XHTML}'>{html}</html>", kind)) == expected


def test_transformation_outside_the_allow_list_is_refused_with_a_problem() -> None:
    page = document(f"<x xmlns:g='{VIEW}#' g:transformation='other.xsl'/>")
    for options in (OPTIONS, TransformOptions()):
        found = extract_document(page, options)
        assert found.statements == ()
        assert "http://example.org/other.xsl is not on the allow-list" in found.problems[0].message


def test_transformations_of_one_document_are_limited() -> None:
    named = " ".join(f"t{n}.xsl" for n in range(1000))
    found = extract_document(document(f"<x xmlns:g='{VIEW}#' g:transformation='{named}'/>"))
    assert 0 < len(found.problems) <= 10


SAYS = "<http://example.org/ns#says>"


def test_user_stylesheet_is_applied_by_root_element() -> None:
    options = options_with(constant_sheet("hello"), root="report")
    assert statements(document("<report/>"), options) == {(f"<{URL}>", SAYS, '"hello"')}
    assert statements(document("<other/>"), options) == set()


def test_first_matching_user_stylesheet_is_applied_by_namespace() -> None:
    options = TransformOptions(
        stylesheets=(
            Stylesheet(name="a", xslt=constant_sheet("a"), namespace="http://a.org/"),
            Stylesheet(name="none", xslt=constant_sheet("none"), namespace=""),
            Stylesheet(name="any", xslt=constant_sheet("any"), root="x"),
        )
    )
    results = [
        statements(document(xml), options)
        for xml in ("<x xmlns='http://a.org/'/>", "<x/>", "<x xmlns='http://b.org/'/>")
    ]
    assert [{o for _, _, o in found} for found in results] == [{'"a"'}, {'"none"'}, {'"any"'}]


def test_user_stylesheet_replaces_the_built_in_one() -> None:
    found = extract_document(
        document("<rss><channel/></rss>", ContentKind.RSS), options_with(constant_sheet("mine"), root="rss")
    )
    assert [(o, found.syntax) for _, _, o, _ in found.statements] == [('"mine"', Syntax.FEED)]


def test_html_is_repaired_for_stylesheets() -> None:
    xslt = sheet(
        """<xsl:template match="/"><rdf:RDF><rdf:Description rdf:about="{$base}"><ex:says>
        <xsl:value-of select="count(/h:html/h:body/h:p)"/></ex:says></rdf:Description></rdf:RDF></xsl:template>"""
    )
    for kind in (ContentKind.HTML, ContentKind.XHTML):
        found = extract_document(document("<p>a<p>b", kind), options_with(xslt, root="html"))
        assert [o.strip('"').replace("\\n", "").strip() for _, _, o, _ in found.statements] == ["2"]
        assert found.syntax is Syntax.GRDDL


def test_stylesheet_with_text_output_is_read_as_turtle() -> None:
    xslt = sheet('<xsl:template match="/">&lt;#a> &lt;#b> [] .</xsl:template>', output='<xsl:output method="text" />')
    assert statements(document("<doc/>"), options_with(xslt)) == {(f"<{URL}#a>", f"<{URL}#b>", "_:1")}


def test_stylesheet_that_fails_or_writes_no_rdf_is_a_problem() -> None:
    for xslt, part in (
        (b"<nothing/>", "not a stylesheet"),
        (b"not xml", "not a stylesheet"),
        (sheet('<xsl:template match="/"><xsl:message terminate="yes">no</xsl:message></xsl:template>'), "no"),
        (sheet('<xsl:template match="/"><other/></xsl:template>'), ""),
        (sheet('<xsl:template match="/"><rdf:RDF><rdf:li/></rdf:RDF></xsl:template>'), ""),
    ):
        found = extract_document(document("<doc/>"), options_with(xslt))
        assert not any("says" in p for _, p, _, _ in found.statements)
        assert part in " ".join(problem.message for problem in found.problems)


def test_fault_in_returns_the_error_of_a_stylesheet() -> None:
    assert fault_in(constant_sheet("x")) == ""
    assert fault_in(b"<x/>").startswith("not a stylesheet")
    with pytest.raises(ValueError, match="root element or a namespace"):
        Stylesheet(name="x", xslt=b"")


def test_wants_is_false_for_documents_without_stylesheet() -> None:
    page = document("<p>x", ContentKind.HTML)
    assert not wants(page, DEFAULT)
    assert extract_document(page).statements == ()
    assert not wants(document("a,b", ContentKind.TEXT), options_with(constant_sheet("x")))
    assert wants(document("<rss/>", ContentKind.RSS), DEFAULT)


def test_built_in_xhtml_stylesheet_extracts_title_links_and_images() -> None:
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
    assert statements(document(html, ContentKind.HTML), options) == {
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


def test_options_are_picklable() -> None:
    options = options_with(constant_sheet("x"))
    assert pickle.loads(pickle.dumps(options)) == options


@pytest.mark.parametrize(
    "html",
    [
        "",
        "plain & simple < >",
        "<p>a<p>b<br>c<table><td>d",
        "<p @click=x :y='1' xml:lang=en xmlns:a=b 1=2 ok=\"&quot;<'\">x",
        "<foo:bar><x-y>z</x-y></foo:bar><svg><path d='M0'/></svg>",
        "<script>if (a < b && c) {}</script><style>a > b {}</style><!-- -- --><p>x",
        "a\x00b\x0b\ufffe&#xD800;&#1;\U0001f600",
        "<span>" * 1000 + "x",
        "<template><p>x</p></template>",
    ],
)
def test_to_xhtml_of_malformed_page_is_well_formed(html: str) -> None:
    body = to_xhtml(document(html, ContentKind.HTML))
    root, problems = engine.read_xml(body, "http://e.org/")
    assert problems == []
    assert root.tag == f"{{{XHTML}}}html"


def test_to_xhtml_keeps_text_and_attributes() -> None:
    body = to_xhtml(document("<p id='a&amp;b'>x &lt; y<b>z</b>", ContentKind.HTML)).decode()
    assert '<p id="a&amp;b">x &lt; y<b>z</b></p>' in body


def test_to_xhtml_keeps_text_below_the_maximum_depth() -> None:
    assert b"deep down" in to_xhtml(document("<span>" * 5000 + "deep down", ContentKind.HTML))
