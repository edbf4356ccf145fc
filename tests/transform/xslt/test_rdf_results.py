"""Statements from RDF that stylesheets and services return."""

from __future__ import annotations

import pyoxigraph as ox

from motherlode.model import Extraction, Syntax
from motherlode.transform.bnodes import BlankNames
from motherlode.transform.xslt.rdf_results import read_rdf

URL = "http://example.org/"


def read(body: str, rdf_format: ox.RdfFormat = ox.RdfFormat.TURTLE, most: int = 100) -> Extraction:
    names = BlankNames(URL, Syntax.OTHER)
    return read_rdf(body.encode(), rdf_format, base=URL, names=names, syntax=Syntax.OTHER, most=most)


def test_terms_are_normalized() -> None:
    found = read('<a> <b> "x\\ty"@EN-us, 1, _:c . _:c <d> "e"^^<f> .')
    objects = [o for _, _, o, _ in found.statements]
    assert objects[0] == '"x\ty"@en-us'
    assert objects[1] == '"1"^^<http://www.w3.org/2001/XMLSchema#integer>'
    assert objects[2] == found.statements[3][0] == BlankNames(URL, Syntax.OTHER).for_label("c")
    assert objects[3] == f'"e"^^<{URL}f>'


def test_named_graph_is_kept() -> None:
    found = read("<g> { <a> <b> <c> } <a> <b> <d> .", ox.RdfFormat.TRIG)
    assert {graph for *_, graph in found.statements} == {"", f"<{URL}g>"}


def test_statements_before_a_syntax_error_are_kept() -> None:
    found = read("<a> <b> <c> .\n<a> <b> oops")
    assert len(found.statements) == 1
    assert [problem.line for problem in found.problems] == [2]


def test_invalid_iri_removes_only_its_statement() -> None:
    found = read("<a> <b> <http://[b/>, <http://a/\\u0020b>, <c> .")
    assert [o for _, _, o, _ in found.statements] == ["<http://a/%20b>", f"<{URL}c>"]
    assert [problem.repaired for problem in found.problems] == [False, True]


def test_statements_are_distinct_and_limited() -> None:
    found = read("".join(f"<a> <b> <c{n % 5}> ." for n in range(100)), most=3)
    assert len(found.statements) == 3
    assert found.problems[0].message == "statements after the first 3 were left out"


def test_xml_literal_has_only_the_namespaces_it_uses() -> None:
    rdf = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
    found = read(
        f'<rdf:RDF xmlns:rdf="{rdf}" xmlns:e="urn:e:"><rdf:Description rdf:about="a">'
        '<e:p rdf:parseType="Literal">x <b xmlns="urn:b">y</b></e:p></rdf:Description></rdf:RDF>',
        ox.RdfFormat.RDF_XML,
    )
    assert [o for _, _, o, _ in found.statements] == [f'"x <b xmlns=\\"urn:b\\">y</b>"^^<{rdf}XMLLiteral>']
