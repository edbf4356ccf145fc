"""Microdata to RDF, as in the W3C note of that name (second edition, 2014).

An item becomes a node, its types become `rdf:type` statements, and each property becomes a statement. A sparse tree has
only the elements with Microdata attributes. A value is read when a statement needs it. The time is linear in the size
of the page and the number of statements. The number of values is limited, because `itemref` can multiply the statements
of a small page; a problem records that the limit was reached.
"""

from __future__ import annotations

from motherlode.model import Extraction
from motherlode.transform.bnodes import BlankNames
from motherlode.transform.microdata.generator import DEFAULT_VOCABULARIES, StatementGenerator, Vocabularies
from motherlode.www.document import Document

__all__ = ["extract"]


def extract(document: Document, names: BlankNames, *, vocabularies: Vocabularies = DEFAULT_VOCABULARIES) -> Extraction:
    """Extract the statements of the items of a page."""
    return StatementGenerator(document, names, vocabularies).run()
