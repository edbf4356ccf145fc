"""The JSON-LD document of a page."""

from __future__ import annotations

import json
from typing import Any

import pyoxigraph as ox
import pytest

import motherlode as ml
from motherlode.api.jsonld import build_jsonld
from motherlode.model import Statement
from motherlode.model.terms import RDF_TYPE, XSD, literal

from ..support import shared

S = "http://schema.org/"
URL = "http://e.example/p"


def block(**entries: Any) -> str:
    content = {"@context": "https://schema.org", **entries}
    return f'<script type="application/ld+json">{json.dumps(content)}</script>'


def test_jsonld_nodes_of_two_syntaxes_are_merged_by_iri() -> None:
    microdata = '<p itemscope itemtype="https://schema.org/Product" itemid="#a"><b itemprop="sku">7</b></p>'
    page = ml.extract(block(**{"@id": "#a", "@type": "Product", "name": "Anvil"}) + microdata, url=URL)
    assert page.jsonld() == {
        "@context": "https://schema.org",
        "@id": f"{URL}#a",
        "@type": "Product",
        "name": "Anvil",
        "sku": "7",
    }


def test_jsonld_blank_node_is_nested_without_a_name() -> None:
    page = ml.extract(block(**{"@type": "Product", "offers": {"@type": "Offer", "price": 19.9, "sku": "1"}}), url=URL)
    assert page.jsonld()["offers"] == {"@type": "Offer", "price": 19.9, "sku": "1"}


def test_jsonld_node_with_two_references_is_nested_once() -> None:
    brand = {"@id": "_:x", "@type": "Brand", "name": "B"}
    page = ml.extract(block(**{"@graph": [{"@id": "#a", "brand": brand}, {"@id": "#b", "brand": {"@id": "_:x"}}]}))
    first, second = page.jsonld()["@graph"]
    assert first["brand"] == {"@id": "_:b0", "@type": "Brand", "name": "B"}
    assert second["brand"] == {"@id": "_:b0"}


def test_jsonld_circle_is_written_once_and_named() -> None:
    document, _ = build_jsonld([("_:a", f"<{S}knows>", "_:b", ""), ("_:b", f"<{S}knows>", "_:a", "")])
    assert document == {"@context": "https://schema.org", "@id": "_:b0", "knows": {"knows": {"@id": "_:b0"}}}


@pytest.mark.parametrize(
    ("term", "written"),
    [
        (literal("1.99E1", datatype=XSD + "double"), 19.9),
        (literal("7", datatype=XSD + "integer"), 7),
        (literal("true", datatype=XSD + "boolean"), True),
        (literal("007", datatype=XSD + "integer"), {"@type": "xsd:integer", "@value": "007"}),
        (literal("5.0E0", datatype=XSD + "double"), {"@type": "xsd:double", "@value": "5.0E0"}),
        (literal("19.90", datatype=XSD + "decimal"), {"@type": "xsd:decimal", "@value": "19.90"}),
        (literal("x", language="en"), {"@language": "en", "@value": "x"}),
    ],
)
def test_jsonld_value_is_as_short_as_the_context_allows(term: str, written: object) -> None:
    plain: list[Statement] = [(f"<{URL}>", f"<{S}name>", literal(text), "") for text in "abc"]
    assert build_jsonld([*plain, (f"<{URL}>", f"<{S}sku>", term, "")])[0]["sku"] == written


def test_jsonld_language_of_most_strings_is_in_the_context() -> None:
    statements: list[Statement] = [(f"<{URL}>", f"<{S}name>", literal("a", language="fr"), "")]
    document, _ = build_jsonld([*statements, (f"<{URL}>", f"<{S}url>", literal("b"), "")])
    assert document["@context"] == ["https://schema.org", {"@language": "fr"}]
    assert document["name"] == "a"
    assert document["url"] == {"@value": "b"}


def test_jsonld_triple_terms_are_counted_and_left_out() -> None:
    document, omitted = build_jsonld([("<urn:a>", "<urn:p>", "<<( <urn:a> <urn:b> <urn:c> )>>", "")])
    assert (document, omitted) == ({}, 1)


def test_jsonld_named_graph_is_a_graph_object() -> None:
    page = ml.extract("<urn:g> { <urn:a> <urn:p> <urn:b> }", content_type="application/trig", url=URL)
    assert page.jsonld() == {"@id": "urn:g", "@graph": [{"@id": "urn:a", "urn:p": {"@id": "urn:b"}}]}


def test_jsonld_long_chain_needs_no_recursion() -> None:
    chain: list[Statement] = [(f"_:n{i}", f"<{S}knows>", f"_:n{i + 1}", "") for i in range(2000)]
    document, _ = build_jsonld(chain)
    assert len(document["@graph"]) > 10
    assert json.dumps(document)


def _canonical(statements: list[Statement]) -> set[str]:
    lines = "".join(f"{s} {p} {o} .\n".replace("<https://schema.org/", f"<{S}") for s, p, o, _ in statements)
    dataset = ox.Dataset(ox.parse(lines.encode(), ox.RdfFormat.N_QUADS, lenient=True))
    dataset.canonicalize(ox.CanonicalizationAlgorithm.UNSTABLE)
    return set(map(str, dataset))


def _statements(page: ml.ExtractedPage) -> list[Statement]:
    return [(str(q.subject), str(q.predicate), str(q.object), "") for q in page.quads]


@pytest.mark.parametrize("folder", ["schema.org", "songkick", "w3c", "misc", "websites"])
def test_jsonld_of_samples_reads_back_to_the_same_statements(folder: str) -> None:
    for path in sorted(shared("conformance", "extruct-samples", folder).glob("*.html")):
        page = ml.extract(path.read_bytes(), url=URL, content_type="text/html")
        again = ml.extract(json.dumps(page.jsonld()), url=URL, content_type="application/ld+json")
        assert _canonical(_statements(again)) == _canonical(_statements(page)), path.name


def test_jsonld_type_that_is_a_blank_node_is_named() -> None:
    document, _ = build_jsonld([("<urn:a>", RDF_TYPE, "_:t", ""), ("_:t", f"<{S}name>", '"T"', "")])
    assert document["@graph"][0]["@type"] == "_:b0" or document["@graph"][1]["@type"] == "_:b0"
