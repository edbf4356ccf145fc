"""The mapping to RDF that docs/microformats.md describes."""

from __future__ import annotations

from pathlib import Path

import pyoxigraph as ox
import pytest

from motherlode.model import Syntax

from .pages import MF, extracted, statements


def test_card_becomes_statements() -> None:
    html = """<div class="h-card"><a class="p-name u-url" href="/ann">Ann  B.</a>
        <img class="u-photo" src="a.jpg" alt="Ann"><time class="dt-bday" datetime="1990-02-03">3 Feb</time>
        <p class="e-note">likes <b>bees</b></p><data class="p-x" value="1">one</data></div>"""
    assert statements(html) == {
        ("_:1", "<rdf:type>", "<mf:h-card>"),
        ("_:1", "<mf:name>", '"Ann B."'),
        ("_:1", "<mf:url>", "<http://example.org/ann>"),
        ("_:1", "<mf:photo>", "<http://example.org/a.jpg>"),
        ("<http://example.org/a.jpg>", "<mf:alt>", '"Ann"'),
        ("_:1", "<mf:bday>", '"1990-02-03"^^<http://www.w3.org/2001/XMLSchema#date>'),
        ("_:1", "<mf:note>", '"likes <b>bees</b>"^^<rdf:HTML>'),
        ("_:1", "<mf:x>", '"1"'),
    }


def test_nested_items_become_linked_nodes() -> None:
    html = '<div class="h-feed"><p class="h-entry"><b class="p-author h-card">Ann</b></p></div>'
    assert statements(html) == {
        ("_:1", "<rdf:type>", "<mf:h-feed>"),
        ("_:2", "<rdf:type>", "<mf:h-entry>"),
        ("_:3", "<rdf:type>", "<mf:h-card>"),
        ("_:3", "<mf:name>", '"Ann"'),
        ("_:2", "<mf:author>", "_:3"),
        ("_:1", "<mf:children>", "_:2"),
    }


def test_first_element_with_an_id_has_it_as_fragment_of_its_subject() -> None:
    html = '<p class="h-card" id="a">x</p><p class="h-card" id="a">y</p><p class="h-card" id="not an iri">z</p>'
    subjects = [s for s, p, _, _ in extracted(html).statements if p.endswith("type>")]
    assert subjects[0] == "<http://example.org/page#a>"
    assert all(subject.startswith("_:") for subject in subjects[1:])


def test_item_included_twice_has_one_subject() -> None:
    html = """<p class="vcard" itemref="w"></p><p class="vcard" itemref="w"></p>
        <div id="w"><p class="adr"><b class="locality">L</b></p></div>"""
    addresses = {o for _, p, o in statements(html) if p == "<mf:adr>"}
    assert len(addresses) == 1


def test_running_text_of_u_property_is_an_iri_only_if_it_is_a_reference() -> None:
    html = (
        """<p class="vcard"><i class="email">ann@example.org</i><i class="url">/ann</i><i class="uid">urn:x:1</i></p>"""
    )
    found = statements(html)
    assert ("_:1", "<mf:email>", '"ann@example.org"') in found
    assert ("_:1", "<mf:url>", "<http://example.org/ann>") in found
    assert ("_:1", "<mf:uid>", "<urn:x:1>") in found


def test_nested_item_without_properties_has_its_text_as_value() -> None:
    assert ("_:2", "<mf:value>", '"51.5;-0.1"') in statements('<p class="vcard"><i class="geo">51.5;-0.1</i></p>')


@pytest.mark.parametrize(
    "html",
    [
        '<a rel="tag license me" href="/x">x</a>',
        '<div class="h-full h-screen">text</div>',
        '<div class="h-hero">text</div>',
        '<div class="h-hero"><p class="h-title">text</p></div>',
    ],
)
def test_rels_and_layout_classes_make_no_statements(html: str) -> None:
    assert extracted(html).statements == ()


def test_unknown_type_with_explicit_property_makes_statements() -> None:
    assert statements('<div class="h-hero"><p class="p-name">x</p></div>') == {
        ("_:1", "<rdf:type>", "<mf:h-hero>"),
        ("_:1", "<mf:name>", '"x"'),
    }


def test_invalid_url_is_a_problem_and_repairable_url_is_repaired() -> None:
    found = extracted(
        '<p class="h-card"><a class="u-url" href="http://[a/">x</a><a class="u-url" href="/a b">y</a></p>'
    )
    assert [o for _, p, o, _ in found.statements if p.endswith("/url>")] == ["<http://example.org/a%20b>"]
    assert [(problem.message, problem.repaired) for problem in found.problems] == [
        ("not a valid IRI: <http://[a/>", False),
        ("not a valid IRI, read as <http://example.org/a%20b>", True),
    ]
    assert {problem.syntax for problem in found.problems} == {Syntax.MICROFORMATS}


def test_extraction_is_deterministic() -> None:
    html = '<p class="h-card">x</p>' * 3
    assert extracted(html).statements == extracted(html).statements


def test_example_in_the_documentation_matches_the_extraction() -> None:
    page = (Path(__file__).resolve().parents[3] / "docs" / "microformats.md").read_text()
    html, turtle = (page.split(f"```{kind}\n")[1].partition("```")[0] for kind in ("html", "turtle"))
    prefixes = f"@prefix mf: <{MF}> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> ."
    lines = "".join(f"{s} {p} {o} .\n" for s, p, o, _ in extracted(html).statements)
    graphs = [
        ox.Dataset(ox.parse(body.encode(), rdf_format))
        for body, rdf_format in ((lines, ox.RdfFormat.N_TRIPLES), (prefixes + turtle, ox.RdfFormat.TURTLE))
    ]
    for graph in graphs:
        graph.canonicalize(ox.CanonicalizationAlgorithm.UNSTABLE)
    assert graphs[0] == graphs[1]


def test_statements_of_hostile_text_are_valid_n_triples() -> None:
    nasty = "&#xD800; \x00 \\ \" ' \n\r\t <b>é</b> \U0001f600 &#x80; \ufffe"
    html = f"""<p class="h-card" lang='x"y'>{nasty}<b class="p-name">{nasty}</b><i class="e-note">{nasty}</i>
        <a class="u-url" href="http://e.org/{nasty.replace('"', "")}">z</a></p>"""
    lines = "".join(f"{s} {p} {o} .\n" for s, p, o, _ in extracted(html).statements)
    assert len(list(ox.parse(lines.encode(), ox.RdfFormat.N_TRIPLES))) == len(extracted(html).statements) > 3


@pytest.mark.parametrize(
    ("html", "value"),
    [
        ('<p lang=en>At <i class="geo">51.5; -0.1</i>', '"51.5; -0.1"@en'),
        ('<p lang=en><abbr class="geo" title="51.5;-0.1">here</abbr>', '"51.5;-0.1"'),
        ('<p class="adr">1  Main Street</p>', '"1 Main Street"'),
        ('<data class="geo" value="51.5;-0.1">here</data>', '"51.5;-0.1"'),
    ],
)
def test_geo_or_adr_with_text_only_has_a_value(html: str, value: str) -> None:
    assert {(p, o) for _, p, o in statements(html) if p != "<rdf:type>"} == {("<mf:value>", value)}


def test_geo_with_properties_and_other_items_have_no_value() -> None:
    for html in (
        '<p class="geo"><b class="latitude">51.5</b> north</p>',
        '<div class="hentry">half a page</div>',
        '<p class="vcard">Ann</p>',
        '<p class="geo"></p>',
    ):
        assert not any(p == "<mf:value>" for _, p, _ in statements(html)), html
