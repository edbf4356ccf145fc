"""Serialization of HTML as XML fragments, which must be well-formed for any page."""

from __future__ import annotations

import pytest
from lxml import etree

from motherlode.model import ContentKind
from motherlode.model.terms import RDF
from tests.transform.rdfa.pages import triples

XHTML = "http://www.w3.org/1999/xhtml"
SVG = "http://www.w3.org/2000/svg"
MATHML = "http://www.w3.org/1998/Math/MathML"
XLINK = "http://www.w3.org/1999/xlink"


def inner(markup: str, around: str = "<div prefix='ex: http://ex/'>{}</div>") -> str:
    """Return the XML literal of an element with this content."""
    page = around.format(f"<p property=ex:a datatype=rdf:XMLLiteral>{markup}</p>")
    ((_, _, found),) = triples(page)
    value = found.removesuffix(f"^^<{RDF}XMLLiteral>")[1:-1]
    return value.replace('\\"', '"').replace("\\n", "\n").replace("\\\\", "\\")


def tags(markup: str) -> list[str]:
    """Return the names of all elements of the literal, read by a strict parser."""
    root = etree.fromstring(f"<root>{inner(markup)}</root>")
    return [element.tag for element in root.iterdescendants(etree.Element)]


def test_text_attributes_and_comments_are_escaped() -> None:
    assert inner("1 &lt; 2<b c='\"&amp;'>x<br>y</b><!-- z -->") == (
        '1 &lt; 2<b c="&quot;&amp;" xmlns="http://www.w3.org/1999/xhtml" xmlns:ex="http://ex/">x<br/>y</b><!-- z -->'
    )


def test_each_element_has_its_namespace() -> None:
    assert tags(f"<svg xmlns='{SVG}'><g/></svg>") == [f"{{{SVG}}}svg", f"{{{SVG}}}g"]
    assert tags("<b><svg><title><i>1</i></title></svg><i>2</i></b>") == [
        *(f"{{{XHTML}}}b", f"{{{SVG}}}svg", f"{{{SVG}}}title", f"{{{XHTML}}}i", f"{{{XHTML}}}i")
    ]
    assert tags("<math><mi>x</mi></math>") == [f"{{{MATHML}}}math", f"{{{MATHML}}}mi"]
    assert tags("<svg><foreignObject><b>1</b><svg/></foreignObject><linearGradient/></svg>") == [
        *(f"{{{SVG}}}svg", f"{{{SVG}}}foreignObject", f"{{{XHTML}}}b", f"{{{SVG}}}svg", f"{{{SVG}}}linearGradient")
    ]


def test_namespace_is_declared_once() -> None:
    found = inner(f"<svg xmlns='{SVG}' xmlns:xlink='{XLINK}'><a xlink:href=x><g/></a></svg>")
    assert found.count("xmlns=") == 1
    assert found.count("xmlns:xlink=") == 1
    assert inner("<b xmlns:ex='http://other/'>1</b>").count("xmlns:ex=") == 1


def test_undeclared_xlink_prefix_is_declared() -> None:
    root = etree.fromstring(inner("<svg><a xlink:href=x></a></svg>"))
    assert root[0].attrib == {f"{{{XLINK}}}href": "x"}


def test_content_of_an_svg_element_has_the_svg_namespace() -> None:
    page = "<svg><g property=dc:title datatype=rdf:XMLLiteral><path/></g></svg>"
    ((_, _, found),) = triples(page)
    assert found.startswith(f'"<path xmlns=\\"{SVG}\\"')
    page = "<svg><desc property=dc:title datatype=rdf:XMLLiteral><b>1</b></desc></svg>"
    ((_, _, found),) = triples(page)
    assert found.startswith(f'"<b xmlns=\\"{XHTML}\\"')


@pytest.mark.parametrize(
    "markup",
    [
        "<o:p>1</o:p>",
        "<b xlink:href=x a:b=1 c<d=2 x:y:z=3 1=4 @click=5 xml:lang=de ex:f=6>1</b>",
        "<b xmlns:1x=urn:1 xmlns:=urn:2 xmlns:x xmlns:xml=urn:3 xmlns:xmlns=urn:4 xmlns:ok=urn:5 ok:a=1>1</b>",
        "<!-- a -- b --- c --><i>1</i><!-- d --->",
        "<b title='\x01\x0c'>\x02 &#xfffe; \x0c</b>",
        "<svg xmlns=urn:x><g xmlns=urn:y xlink:href=1 /></svg>",
        "<ex:b>1</ex:b>",
    ],
)
def test_fragment_of_malformed_markup_is_well_formed(markup: str) -> None:
    etree.fromstring(f"<root>{inner(markup)}</root>")


@pytest.mark.parametrize("datatype", ["rdf:XMLLiteral", "rdf:HTML"])
def test_xml_content_keeps_comments_and_instructions_at_the_top(datatype: str) -> None:
    content = "<!-- c -->a<?p i?>b<!----><?p ?>"
    markup = f'<p prefix="x: http://x/" property="x:p" datatype="{datatype}">{content}</p>'
    [(_, _, found)] = triples(markup, kind=ContentKind.XML)
    assert found.startswith(f'"{content}"')
