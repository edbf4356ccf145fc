"""Vocabulary expansion."""

from __future__ import annotations

from motherlode.model import Statement
from motherlode.model.terms import RDF_TYPE
from motherlode.transform.rdfa import expanded

RDFS, OWL = "http://www.w3.org/2000/01/rdf-schema#", "http://www.w3.org/2002/07/owl#"
VOCABULARY: list[Statement] = [
    ("<a>", f"<{RDFS}subPropertyOf>", "<b>", ""),
    ("<b>", f"<{OWL}equivalentProperty>", "<c>", ""),
    ("<c>", f"<{RDFS}subPropertyOf>", "<a>", ""),
    ("<A>", f"<{RDFS}subClassOf>", "<B>", ""),
    ("<C>", f"<{OWL}equivalentClass>", "<B>", ""),
]


def test_properties_and_classes_and_circles() -> None:
    statements: list[Statement] = [("<s>", "<a>", "<o>", ""), ("<s>", RDF_TYPE, "<A>", ""), ("<s>", "<z>", "<A>", "")]
    assert {(p, o) for _, p, o, _ in expanded(statements, VOCABULARY)} == {
        *(("<a>", "<o>"), ("<b>", "<o>"), ("<c>", "<o>")),
        *((RDF_TYPE, "<A>"), (RDF_TYPE, "<B>"), (RDF_TYPE, "<C>")),
        ("<z>", "<A>"),
    }
