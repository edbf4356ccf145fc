"""Pages as N-Quads."""

from __future__ import annotations

import pyoxigraph as ox
import pytest

from motherlode.index import PROVENANCE, PageRecord, RunRecord, serialize_page
from motherlode.index.page_record import serialize_provenance, serialize_run, serialize_run_end
from motherlode.model import Extraction, Syntax, TransformResult
from motherlode.model.terms import PREFIXES

from .fakes import A, facts, says

ML = PREFIXES["ml"]


def quads(lines: bytes | str) -> list[ox.Quad]:
    return list(ox.parse(lines.encode() if isinstance(lines, str) else lines, ox.RdfFormat.N_QUADS))


def test_each_statement_stands_in_the_pages_graph_and_in_the_union() -> None:
    page = serialize_page(A, facts(says("x", "1"), says("y", "2")))
    assert (page.quads, page.graphs) == (2, ())
    triples = [f'<http://ex.org/{name}> <http://ex.org/p> "{value}"' for name, value in (("x", 1), ("y", 2))]
    assert [str(quad) for quad in quads(page.graph_quads)] == [f"{triple} <{A}>" for triple in triples]
    assert [str(quad) for quad in quads(page.union_quads)] == triples


def test_the_same_statement_counts_once_whatever_syntax_said_it() -> None:
    both = TransformResult(
        extractions=(
            Extraction(syntax=Syntax.JSON_LD, statements=(says("x", "1"), says("x", "1"))),
            Extraction(syntax=Syntax.RDFA, statements=(says("x", "1"), says("y", "2"))),
        )
    )
    page = serialize_page(A, both)
    assert page.quads == len(page.graph_quads.splitlines()) == len(page.union_quads.splitlines()) == 2


def test_graphs_that_a_document_names_become_graphs_of_the_page() -> None:
    inner = says("x", "1", graph="<http://other.example/g?a=b#c>")
    blank = says("x", "1", graph="_:b0")
    page = serialize_page(A, facts(inner, blank, says("x", "1")))
    assert page.quads == 3
    names = [f"<{A}#graph=http://other.example/g%3Fa%3Db%23c>", f"<{A}#graph=_:b0>"]
    assert list(page.graphs) == names
    assert {str(quad.graph_name) for quad in quads(page.graph_quads)} == {*names, f"<{A}>"}
    assert {str(quad.graph_name) for quad in quads(page.union_quads)} == {"DEFAULT"}


def test_no_document_can_write_to_the_graph_of_another_page_or_to_the_provenance() -> None:
    evil = [says("x", "1", graph=f"<{name}>") for name in (PROVENANCE, "http://b.example/")]
    page = serialize_page(A, facts(*evil))
    assert all(str(quad.graph_name).startswith(f"<{A}#graph=") for quad in quads(page.graph_quads))
    assert {str(quad.graph_name) for quad in quads(page.union_quads)} == {"DEFAULT"}


def test_characters_that_utf_8_cannot_hold_do_not_stop_a_page() -> None:
    page = serialize_page(A, facts(says("x", "\ud800")))
    assert page.quads == len(quads(page.graph_quads)) == len(quads(page.union_quads)) == 1


def test_a_page_without_facts_has_no_lines() -> None:
    assert serialize_page(A, TransformResult()) == (b"", b"", 0, ())


@pytest.mark.parametrize("url", ["http://a.example/?q[0]={1}|%", "http://[::1]:8080/a`b^c", "http://a.example/%zz"])
def test_a_page_of_any_url_has_a_graph_that_strict_readers_take(url: str) -> None:
    page = serialize_page(url, facts(says("x", "1"), says("x", "1", graph="_:g")))
    assert len(quads(page.graph_quads)) == len(quads(page.union_quads)) == 2
    assert quads(serialize_provenance(PageRecord(url=url, fetched_at=0.0, status=200, redirects_to=url)))


def test_the_provenance_of_a_page() -> None:
    page = PageRecord(
        url=A,
        fetched_at=1_767_225_600.25,
        status=200,
        media_type='text/html; charset="utf-8"',
        kind="html",
        syntaxes=("jsonld", "rdfa"),
        content_hash="sha256:abc",
        size=1234,
        graphs=(f"<{A}#graph=x>",),
        referrer="http://b.example/?a[]=1",
    )
    found = quads(serialize_provenance(page))
    assert {str(quad.graph_name) for quad in found} == {f"<{PROVENANCE}>"}
    assert {str(quad.subject) for quad in found} == {f"<{A}>"}
    pairs = {(quad.predicate.value.removeprefix(ML), str(quad.object)) for quad in found}
    integer = "^^<http://www.w3.org/2001/XMLSchema#integer>"
    assert pairs == {
        ("http://www.w3.org/1999/02/22-rdf-syntax-ns#type", f"<{ML}Page>"),
        (
            "http://www.w3.org/ns/prov#generatedAtTime",
            '"2026-01-01T00:00:00.250+00:00"^^<http://www.w3.org/2001/XMLSchema#dateTime>',
        ),
        ("status", f'"200"{integer}'),
        ("size", f'"1234"{integer}'),
        ("http://purl.org/dc/terms/format", '"text/html; charset=\\"utf-8\\""'),
        ("kind", '"html"'),
        ("contentHash", '"sha256:abc"'),
        ("syntax", '"jsonld"'),
        ("syntax", '"rdfa"'),
        ("graph", f"<{A}#graph=x>"),
        ("referrer", "<http://b.example/?a%5B%5D=1>"),
    }


def test_the_provenance_of_a_redirect_tells_where_it_led() -> None:
    found = quads(
        serialize_provenance(PageRecord(url=A, fetched_at=0.0, status=303, redirects_to="http://b.example/x"))
    )
    names = {quad.predicate.value.removeprefix(ML): str(quad.object) for quad in found}
    assert names["redirectsTo"] == "<http://b.example/x>"
    assert "size" not in names
    assert len(found) == 4


def test_plain_facts_are_named_as_syntax_only_where_there_is_nothing_else() -> None:
    def named(**given: object) -> set[str]:
        found = quads(serialize_provenance(PageRecord(url=A, fetched_at=0.0, status=200, **given)))  # type: ignore[arg-type]
        return {quad.object.value for quad in found if quad.predicate.value == ML + "syntax"}

    assert named(quads=3) == {"page"}
    assert named(quads=3, syntaxes=("rdfa",), says=("rdfa 1", "page 2")) == {"rdfa"}
    assert named() == set()


def test_a_run_is_an_activity_of_the_software() -> None:
    run = RunRecord(identifier="a b/c", started_at=0.0, version="1.0", target='ASK { ?s ?p "x" }')
    found = quads(serialize_run(run) + serialize_run_end(run, 60.0))
    assert {str(quad.graph_name) for quad in found} == {f"<{PROVENANCE}>"}
    about = {
        quad.predicate.value.rpartition("#")[2].removeprefix(ML): quad.object
        for quad in found
        if str(quad.subject) == run.iri
    }
    assert run.iri == "<urn:motherlode:run:a%20b%2Fc>"
    assert about["version"] == ox.Literal("1.0")
    assert about["target"] == ox.Literal('ASK { ?s ?p "x" }')
    assert "policy" not in about
    assert {"startedAtTime", "endedAtTime", "wasAssociatedWith"} <= set(about)
