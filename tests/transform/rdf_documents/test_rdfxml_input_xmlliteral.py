from __future__ import annotations

import pytest

from motherlode.model.terms import RDF, literal
from motherlode.transform.rdf_documents.rdfxml_input import canonicalize_literal


def _canonical(value: str) -> str:
    return canonicalize_literal(literal(value, datatype=f"{RDF}XMLLiteral"))


@pytest.mark.parametrize(
    ("value", "canonical"),
    [
        ("text", "text"),
        ("<br/>", "<br></br>"),
        ('<b xmlns:x="urn:x"/>', "<b></b>"),
        ('<x:b xmlns:x="urn:x" xmlns:y="urn:y"/>', '<x:b xmlns:x="urn:x"></x:b>'),
        ("<b z='1' a=\"2\">\n\t\\ é</b>", '<b a="2" z="1">\n\t\\ é</b>'),
        ('<a xmlns="urn:a"/>x<a/>', '<a xmlns="urn:a"></a>x<a></a>'),
    ],
)
def test_exclusive_canonical_form(value: str, canonical: str) -> None:
    assert _canonical(value) == literal(canonical, datatype=f"{RDF}XMLLiteral")
    assert canonicalize_literal(_canonical(value)) == _canonical(value)


@pytest.mark.parametrize("value", ["<open>", "&undeclared;", "<a>" * 100_000 + "</a>" * 100_000, "\0<a/>"])
def test_what_is_not_well_formed_stays_as_it_is(value: str) -> None:
    assert _canonical(value) == literal(value, datatype=f"{RDF}XMLLiteral")
