"""Microformats: microformats2 and the classic formats before it.

A mark in its bytes tells whether a page can have any. If so, one selector finds the root elements, each is walked once
(`walk`), and what was found becomes RDF (`extract`) or the canonical JSON of the specification (`parse`). All
work is bounded: depth of items, characters in values, elements read again by includes. What was left out for a limit
is on record as a problem. Links with a rel value alone make no statements.
"""

from __future__ import annotations

from motherlode.model import Extraction, Problem, Syntax
from motherlode.transform.bnodes import BlankNames
from motherlode.transform.microformats.class_names import LAYOUT_NAMES
from motherlode.transform.microformats.item_rdf import ItemWriter
from motherlode.transform.microformats.reader import parse, read_items
from motherlode.transform.source_locations import locate_problems
from motherlode.www.document import Document

__all__ = ["extract", "parse"]


def extract(document: Document, names: BlankNames) -> Extraction:
    """The microformats of a page as statements."""
    found = read_items(document, ignored=LAYOUT_NAMES)
    writer = ItemWriter(document.iri, names)
    for item in found.items:
        writer.write(item)
    problems = [Problem(syntax=Syntax.MICROFORMATS, message=limit) for limit in found.limits]
    return Extraction(
        syntax=Syntax.MICROFORMATS,
        statements=tuple(dict.fromkeys(writer.statements)),
        problems=(
            *locate_problems(document, Syntax.MICROFORMATS, writer.troubles),
            *locate_problems(document, Syntax.MICROFORMATS, writer.repairs.items(), repaired=True),
            *problems,
        ),
    )
