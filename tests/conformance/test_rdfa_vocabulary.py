"""Vocabulary expansion."""

from __future__ import annotations

from motherlode.model import Statement
from motherlode.model.terms import RDF_TYPE

from .rdfa_vocabulary import expand_vocabulary

RDFS, OWL = "http://www.w3.org/2000/01/rdf-schema#", "http://www.w3.org/2002/07/owl#"
VOCABULARY: list[Statement] = [
    ("<a>", f"<{RDFS}subPropertyOf>", "<b>", ""),
    ("<b>", f"<{OWL}equivalentProperty>", "<c>", ""),
    ("<c>", f"<{RDFS}subPropertyOf>", "<a>", ""),
    ("<A>", f"<{RDFS}subClassOf>", "<B>", ""),
    ("<C>", f"<{OWL}equivalentClass>", "<B>", ""),
]


def test_expand_vocabulary_with_cycles_adds_all_super_properties_and_classes() -> None:
    statements: list[Statement] = [("<s>", "<a>", "<o>", ""), ("<s>", RDF_TYPE, "<A>", ""), ("<s>", "<z>", "<A>", "")]
    assert {(p, o) for _, p, o, _ in expand_vocabulary(statements, VOCABULARY)} == {
        *(("<a>", "<o>"), ("<b>", "<o>"), ("<c>", "<o>")),
        *((RDF_TYPE, "<A>"), (RDF_TYPE, "<B>"), (RDF_TYPE, "<C>")),
        ("<z>", "<A>"),
    }
