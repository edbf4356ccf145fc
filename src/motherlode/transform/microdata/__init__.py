"""Microdata to RDF, as in the W3C note of that name (second edition, 2014), in time linear in page and statements.

The number of values is limited, because `itemref` can multiply the statements of a small page.
"""

from motherlode.model import Extraction
from motherlode.transform.bnodes import BlankNames
from motherlode.transform.microdata.generator import DEFAULT_VOCABULARIES, StatementGenerator, Vocabularies
from motherlode.www.document import Document

__all__ = ["extract"]


def extract(document: Document, names: BlankNames, *, vocabularies: Vocabularies = DEFAULT_VOCABULARIES) -> Extraction:
    """Extract the statements of the items of a page."""
    return StatementGenerator(document, names, vocabularies).run()
