from __future__ import annotations

import pyoxigraph
import pytest

from motherlode.model import ContentKind, Detected, DetectionEvidence, Syntax
from motherlode.sim.synthetic.entities import (
    EMBEDDED,
    OWL,
    RDFS,
    SCHEMA,
    TYPES,
    WRITERS,
    Block,
    Edge,
    Entity,
    Flaw,
    RdfDocument,
    make_entity,
    statements,
)
from motherlode.sim.synthetic.entity_kinds import KINDS, EntityKind
from motherlode.sim.synthetic.host_profiles import Voice
from motherlode.sim.synthetic.random_draws import mix
from motherlode.transform import TransformOptions, transform
from motherlode.www.document import Document
from motherlode.www.media_types import MEDIA


def _statements(html: str, syntax: Syntax) -> int:
    body = f"<!DOCTYPE html><title>t</title><main>{html}</main>".encode()
    detected = Detected(kind=ContentKind.HTML, evidence=DetectionEvidence.CONTENT)
    document = Document(url="http://a.example/x", body=body, detected=detected)
    facts = transform(document, TransformOptions(syntaxes=frozenset(EMBEDDED)))
    assert set(facts.counts) <= {syntax}
    return facts.counts.get(syntax, 0)


CASES = [
    (kind, syntax)
    for kind in EntityKind
    for syntax in sorted(EMBEDDED, key=lambda it: it.value)
    if syntax is not Syntax.MICROFORMATS or KINDS[kind].microformat
]


@pytest.mark.parametrize(("kind", "syntax"), CASES)
def test_markup_has_counted_statements(kind: EntityKind, syntax: Syntax) -> None:
    for number in range(5):
        block = Block(syntax=syntax, kind=kind, bits=mix(8, number))
        assert _statements(block.write(), syntax) == block.count()


def test_markup_trailing_comma_keeps_and_unfilled_template_loses_statements() -> None:
    whole = Block(syntax=Syntax.JSON_LD, kind=EntityKind.JOB, bits=5)
    comma = Block(syntax=Syntax.JSON_LD, kind=EntityKind.JOB, bits=5, flaw=Flaw.TRAILING_COMMA)
    template = Block(syntax=Syntax.JSON_LD, kind=EntityKind.JOB, bits=5, flaw=Flaw.TEMPLATE)
    assert comma.write() != whole.write()
    assert _statements(comma.write(), Syntax.JSON_LD) == comma.count() == whole.count()
    assert _statements(template.write(), Syntax.JSON_LD) == template.count() == 0


def _count(one: Entity) -> int:
    total = 1
    for _, values in one.values:
        assert len(set(map(repr, values))) == len(values)
        total += sum(1 + (_count(value) if isinstance(value, Entity) else 0) for value in values)
    return total


@pytest.mark.parametrize("kind", EntityKind)
def test_statement_count_equals_built_statements(kind: EntityKind) -> None:
    for number in range(60):
        bits = mix(4, number)
        assert statements(kind, bits) == _count(make_entity(kind, bits))


def test_types_include_nested_things() -> None:
    assert TYPES[EntityKind.RECIPE] == (f"{SCHEMA}Recipe", f"{SCHEMA}Person")


FORMATS = {
    ContentKind.TURTLE: pyoxigraph.RdfFormat.TURTLE,
    ContentKind.RDF_XML: pyoxigraph.RdfFormat.RDF_XML,
    ContentKind.N_TRIPLES: pyoxigraph.RdfFormat.N_TRIPLES,
    ContentKind.JSON_LD: pyoxigraph.RdfFormat.JSON_LD,
    ContentKind.TRIG: pyoxigraph.RdfFormat.TRIG,
    ContentKind.N_QUADS: pyoxigraph.RdfFormat.N_QUADS,
}


def _document(voice: Voice, kind: EntityKind, number: int) -> RdfDocument:
    edges = (
        Edge(predicate=OWL + "sameAs", target="http://b.example/x?a=1&b=2"),
        Edge(predicate=RDFS + "seeAlso", target="http://b.example/y", label="Ann" if voice is Voice.FRIEND else ""),
    )
    return RdfDocument(voice=voice, subject="http://a.example/id/1", kind=kind, bits=mix(6, number), edges=edges)


def test_rdf_writers_all_have_a_parser() -> None:
    assert set(FORMATS) == set(WRITERS)
    assert all(MEDIA[kind].is_rdf for kind in WRITERS)


@pytest.mark.parametrize("format_", WRITERS)
@pytest.mark.parametrize("voice", Voice)
def test_rdf_writer_output_has_counted_statements(format_: ContentKind, voice: Voice) -> None:
    for kind in EntityKind:
        document = _document(voice, kind, 3)
        body = WRITERS[format_](document.triples(), "http://a.example/d").encode()
        base = "http://a.example/d"
        found = {
            (str(quad.predicate), str(quad.object) if not str(quad.object).startswith("_:") else "_:")
            for quad in pyoxigraph.parse(body, FORMATS[format_], base_iri=base)
        }
        meant = {(p, "_:" if o.startswith("_:") else o) for _, p, o in document.triples()}
        assert found == meant
        assert len(list(pyoxigraph.parse(body, FORMATS[format_], base_iri=base))) == document.count()


def test_thing_gives_expected_results_for_examples() -> None:
    recipe = make_entity(EntityKind.RECIPE, 12345)
    assert (recipe.type, recipe.values[0][1]) == ("Recipe", ("Green Chickpea Curry with Lemon",))


def test_statements_gives_expected_results_for_examples() -> None:
    assert (statements(EntityKind.COURSE, 7)) == 7
