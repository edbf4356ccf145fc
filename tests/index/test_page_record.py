"""Tests of page records, of their serialization as N-Quads, and of the keys of statements per syntax."""

from __future__ import annotations

from pathlib import Path

import pyoxigraph as ox
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from motherlode.index.page_record import (
    PROVENANCE,
    PageRecord,
    RunRecord,
    serialize_page,
    serialize_provenance,
    serialize_run,
    serialize_run_end,
    syntax_keys,
)
from motherlode.index.quad_store import QuadStore
from motherlode.model import Extraction, Statement, Syntax, TransformResult
from motherlode.model.terms import PREFIXES, XSD, literal

from .fakes import A, B, P, facts, rows, says

WHO_SAYS = """SELECT ?page ?syntax {
  GRAPH ?page { ?s ?p ?o }
  GRAPH <urn:motherlode:provenance> { ?page ml:syntax|ml:says ?said }
  FILTER(CONTAINS(?said, ml:key(?s, ?p, ?o)) ||
         NOT EXISTS { GRAPH <urn:motherlode:provenance> { ?page ml:says ?keys } })
  BIND(REPLACE(?said, " .*", "") AS ?syntax)
}"""
"""The query of docs/provenance.md."""


@pytest.fixture
def store(tmp_path: Path) -> QuadStore:
    return QuadStore(tmp_path / "store")


def page(url: str, **said: list[Statement]) -> PageRecord:
    spoken = TransformResult(
        extractions=tuple(Extraction(syntax=Syntax(s), statements=tuple(rows)) for s, rows in said.items())
    )
    graph_quads, quads, graphs = serialize_page(url, spoken)
    names = tuple(sorted(name for name, statements in said.items() if statements and name != "page"))
    return PageRecord(
        url=url,
        fetched_at=0.0,
        status=200,
        graph_quads=graph_quads,
        quads=quads,
        graphs=graphs,
        syntaxes=names,
        says=syntax_keys(spoken),
    )


def all_said(store: QuadStore) -> set[tuple[str, str, str]]:
    found = rows(store, WHO_SAYS.replace("SELECT ?page ?syntax", "SELECT ?page ?syntax ?p ?o"))
    return {(row["page"].value, row["syntax"].value, str(row["o"])) for row in found}


def test_syntax_keys_single_syntax_is_empty() -> None:
    assert syntax_keys(facts(says("x", "1"), says("y", "2"))) == ()
    assert syntax_keys(TransformResult()) == ()


def test_query_finds_pages_and_syntaxes_of_statement(store: QuadStore) -> None:
    shared, alone = says("x", "shared"), says("x", "alone")
    store.write(
        [
            page(A, jsonld=[shared, alone], rdfa=[shared], page=[says("t", "title")]),
            page(B, microdata=[shared]),
            page("http://c.example/", page=[shared]),
        ]
    )
    assert all_said(store) == {
        (A, "jsonld", '"shared"'),
        (A, "rdfa", '"shared"'),
        (A, "jsonld", '"alone"'),
        (A, "page", '"title"'),
        (B, "microdata", '"shared"'),
        ("http://c.example/", "page", '"shared"'),
    }


def test_statement_in_several_syntaxes_is_stored_once(store: QuadStore) -> None:
    store.write([page(A, jsonld=[says("x", "1")], rdfa=[says("x", "1")], microdata=[says("x", "1")])])
    assert len(rows(store, f"SELECT * {{ ?s {P} ?o }}")) == 1
    assert len(rows(store, f"SELECT * {{ GRAPH ?g {{ ?s {P} ?o }} }}")) == 1


def test_syntax_keys_distinguish_blank_nodes(store: QuadStore) -> None:
    store.write([page(A, jsonld=[("_:j1", P, '"x"', "")], rdfa=[("_:r1", P, '"x"', "")])])
    found = rows(store, WHO_SAYS.replace("SELECT ?page ?syntax", "SELECT ?s ?syntax"))
    assert {(str(row["s"]), row["syntax"].value) for row in found} == {("_:j1", "jsonld"), ("_:r1", "rdfa")}


def test_syntax_keys_of_many_statements_are_split(store: QuadStore) -> None:
    many = [says("x", str(number)) for number in range(5000)]
    record = page(A, jsonld=many, rdfa=many[:1])
    assert len(record.says) == 4, "the number of keys per literal is bounded"
    store.write([record])
    assert len(all_said(store)) == 5001


LITERALS = st.builds(
    literal,
    st.text(max_size=10) | st.sampled_from(["01", "1.50", "1e3", "+5", "true", "2024-01-01T00:00:00+00:00", "a\tb"]),
    language=st.sampled_from(["", "en", "de-CH"]),
    datatype=st.sampled_from(["", *(XSD + name for name in ("integer", "decimal", "double", "boolean", "dateTime"))]),
)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(values=st.lists(LITERALS, min_size=1, max_size=5))
def test_syntax_keys_match_canonical_literals_of_store(store: QuadStore, values: list[str]) -> None:
    store.write([page(A, jsonld=[("<http://ex.org/x>", P, v, "") for v in values], rdfa=[says("y", "else")])])
    stored = {str(quad.object) for quad in store.match(subject="<http://ex.org/x>")}
    assert {o for _, syntax, o in all_said(store) if syntax == "jsonld"} == stored


def test_syntax_keys_support_triple_terms(store: QuadStore) -> None:
    term = f'<<( <http://ex.org/s> {P} "01"^^<{XSD}integer> )>>'
    store.write([page(A, turtle=[("<http://ex.org/x>", P, term, "")], rdfa=[says("x", "other")])])
    assert {(page, syntax) for page, syntax, _ in all_said(store)} == {(A, "turtle"), (A, "rdfa")}


ML = PREFIXES["ml"]


def quads(lines: bytes | str) -> list[ox.Quad]:
    return list(ox.parse(lines.encode() if isinstance(lines, str) else lines, ox.RdfFormat.N_QUADS))


def test_serialize_page_writes_each_statement_with_its_graph() -> None:
    page = serialize_page(A, facts(says("x", "1"), says("y", "2")))
    assert (page.quads, page.graphs) == (2, ())
    triples = [f'<http://ex.org/{name}> <http://ex.org/p> "{value}"' for name, value in (("x", 1), ("y", 2))]
    assert [str(quad) for quad in quads(page.graph_quads)] == [f"{triple} <{A}>" for triple in triples]


def in_union(url: str, lines: bytes) -> list[ox.Quad]:
    return quads(PageRecord(url=url, fetched_at=0.0, status=200, graph_quads=lines).union_quads)


def test_union_quads_are_the_statements_without_graphs() -> None:
    page = serialize_page(
        A, facts(says("x", f"1 <{A}> . {A}#graph=g"), says("y", "2", graph="<urn:g>"), says("z", "3"))
    )
    triples = [f"{quad.subject} {quad.predicate} {quad.object}" for quad in quads(page.graph_quads)]
    assert [str(quad) for quad in in_union(A, page.graph_quads)] == triples
    alone = serialize_page(A, facts(says("x", f"1 <{A}> ."), says("z", "3")))
    triples = [f"{quad.subject} {quad.predicate} {quad.object}" for quad in quads(alone.graph_quads)]
    assert [str(quad) for quad in in_union(A, alone.graph_quads)] == triples


def test_serialize_page_statement_in_two_syntaxes_counts_once() -> None:
    both = TransformResult(
        extractions=(
            Extraction(syntax=Syntax.JSON_LD, statements=(says("x", "1"), says("x", "1"))),
            Extraction(syntax=Syntax.RDFA, statements=(says("x", "1"), says("y", "2"))),
        )
    )
    page = serialize_page(A, both)
    assert page.quads == len(page.graph_quads.splitlines()) == 2


def test_serialize_page_named_graphs_become_graphs_of_page() -> None:
    inner = says("x", "1", graph="<http://other.example/g?a=b#c>")
    blank = says("x", "1", graph="_:b0")
    page = serialize_page(A, facts(inner, blank, says("x", "1")))
    assert page.quads == 3
    names = [f"<{A}#graph=http://other.example/g%3Fa%3Db%23c>", f"<{A}#graph=_:b0>"]
    assert list(page.graphs) == names
    assert {str(quad.graph_name) for quad in quads(page.graph_quads)} == {*names, f"<{A}>"}
    assert {str(quad.graph_name) for quad in in_union(A, page.graph_quads)} == {"DEFAULT"}


def test_serialize_page_cannot_write_to_foreign_graph_or_provenance() -> None:
    evil = [says("x", "1", graph=f"<{name}>") for name in (PROVENANCE, "http://b.example/")]
    page = serialize_page(A, facts(*evil))
    assert all(str(quad.graph_name).startswith(f"<{A}#graph=") for quad in quads(page.graph_quads))
    assert {str(quad.graph_name) for quad in in_union(A, page.graph_quads)} == {"DEFAULT"}


def test_serialize_page_replaces_characters_without_utf_8_encoding() -> None:
    page = serialize_page(A, facts(says("x", "\ud800")))
    assert page.quads == len(quads(page.graph_quads)) == 1


def test_serialize_page_without_statements_is_empty() -> None:
    assert serialize_page(A, TransformResult()) == (b"", 0, ())


@pytest.mark.parametrize("url", ["http://a.example/?q[0]={1}|%", "http://[::1]:8080/a`b^c", "http://a.example/%zz"])
def test_serialize_page_any_url_gives_valid_graph_iri(url: str) -> None:
    page = serialize_page(url, facts(says("x", "1"), says("x", "1", graph="_:g")))
    assert len(quads(page.graph_quads)) == len(in_union(url, page.graph_quads)) == 2
    assert quads(serialize_provenance(PageRecord(url=url, fetched_at=0.0, status=200, redirects_to=url)))


def test_serialize_provenance_of_page() -> None:
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
        is_relevant=True,
        score=-0.125,
        seconds=0.5,
        problems=("3:14 jsonld: missing comma",),
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
        ("relevant", '"true"^^<http://www.w3.org/2001/XMLSchema#boolean>'),
        ("score", '"-0.125"^^<http://www.w3.org/2001/XMLSchema#double>'),
        ("seconds", '"0.500"^^<http://www.w3.org/2001/XMLSchema#decimal>'),
        ("problem", '"3:14 jsonld: missing comma"'),
    }


def test_serialize_provenance_without_score_and_response_has_neither() -> None:
    waiting = PageRecord(url=A, fetched_at=0.0, status=None, state="waiting", score=float("inf"))
    names = {quad.predicate.value.removeprefix(ML) for quad in quads(serialize_provenance(waiting))}
    assert not names & {"score", "seconds", "relevant", "problem", "detail"}


def test_serialize_provenance_of_redirect_has_target() -> None:
    found = quads(
        serialize_provenance(PageRecord(url=A, fetched_at=0.0, status=303, redirects_to="http://b.example/x"))
    )
    names = {quad.predicate.value.removeprefix(ML): str(quad.object) for quad in found}
    assert names["redirectsTo"] == "<http://b.example/x>"
    assert "size" not in names
    assert len(found) == 4


def test_serialize_provenance_names_page_syntax_only_as_fallback() -> None:
    def named(**given: object) -> set[str]:
        found = quads(serialize_provenance(PageRecord(url=A, fetched_at=0.0, status=200, **given)))  # type: ignore[arg-type]
        return {quad.object.value for quad in found if quad.predicate.value == ML + "syntax"}

    assert named(quads=3) == {"page"}
    assert named(quads=3, syntaxes=("rdfa",), says=("rdfa 1", "page 2")) == {"rdfa"}
    assert named() == set()


def test_serialize_run_is_activity_of_software() -> None:
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
