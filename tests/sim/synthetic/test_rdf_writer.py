from __future__ import annotations

import pyoxigraph
import pytest

from motherlode.model import ContentKind
from motherlode.sim.synthetic.entity_kinds import EntityKind
from motherlode.sim.synthetic.random_draws import mix
from motherlode.sim.synthetic.rdf_writer import OWL, RDFS, WRITERS, Edge, RdfDocument, Voice
from motherlode.www.media_types import MEDIA

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
