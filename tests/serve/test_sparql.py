"""The endpoint described in RDF, in every format that is asked for."""

from __future__ import annotations

import pyoxigraph as ox
import pytest

from motherlode.model.terms import PREFIXES
from motherlode.serve.sparql import describe_service

SD = "http://www.w3.org/ns/sparql-service-description#"
HERE = "http://127.0.0.1:8000/sparql"


def objects(content: bytes, form: ox.RdfFormat, predicate: str) -> set[str]:
    return {quad.object.value for quad in ox.parse(content, form) if quad.predicate.value == SD + predicate}


@pytest.mark.parametrize(
    ("media_type", "form"),
    [
        ("text/turtle", ox.RdfFormat.TURTLE),
        ("application/n-triples", ox.RdfFormat.N_TRIPLES),
        ("application/rdf+xml", ox.RdfFormat.RDF_XML),
        ("application/ld+json", ox.RdfFormat.JSON_LD),
        ("text/nonsense", ox.RdfFormat.TURTLE),
    ],
)
def test_every_format_says_the_same(media_type: str, form: ox.RdfFormat) -> None:
    content = describe_service(HERE, media_type)
    assert objects(content, form, "endpoint") == {HERE}
    assert objects(content, form, "supportedLanguage") == {f"{SD}SPARQL11Query"}
    assert len(objects(content, form, "resultFormat")) == 8


@pytest.mark.parametrize("address", ['http://a/> . <u:evil> <u:p> "x" . <u:a', "http://a/{b}|`c\\d", "http://a/ b"])
def test_an_address_cannot_say_more_than_itself(address: str) -> None:
    content = describe_service(address, "application/n-triples")
    assert len(objects(content, ox.RdfFormat.N_TRIPLES, "endpoint")) == 1
    assert len(content.splitlines()) == len(describe_service(HERE, "application/n-triples").splitlines())


def test_the_functions_that_queries_may_use_are_named() -> None:
    found = objects(describe_service(HERE, "text/turtle"), ox.RdfFormat.TURTLE, "extensionFunction")
    assert found == {PREFIXES["ml"] + name for name in ("matches", "score", "node", "key")}
