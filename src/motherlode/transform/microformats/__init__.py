"""Microformats: microformats2 and the classic formats before it, as RDF (`extract`) or canonical JSON (`parse`).

One selector finds the root elements of a page (`page_items`). A walker visits each of them once (`walker`). Limits
bound the depth of items, the characters in values and the elements that includes read again.
"""

from motherlode.model import Extraction, Problem, Syntax
from motherlode.transform.bnodes import BlankNames
from motherlode.transform.microformats.class_names import LAYOUT_NAMES
from motherlode.transform.microformats.item_rdf import ItemWriter
from motherlode.transform.microformats.page_items import parse, parse_items, read_items
from motherlode.transform.source_locations import locate_problems
from motherlode.www.document import Document

__all__ = ["extract", "parse", "parse_items"]


def extract(document: Document, names: BlankNames) -> Extraction:
    """Extract the statements of the microformats of a page."""
    items, limits = read_items(document, ignored=LAYOUT_NAMES)
    writer = ItemWriter(document.iri, names)
    for item in items:
        writer.add_item(item)
    return Extraction(
        syntax=Syntax.MICROFORMATS,
        statements=tuple(dict.fromkeys(writer.statements)),
        problems=(
            *locate_problems(document, Syntax.MICROFORMATS, writer.problems),
            *writer.iri_problems.locate(document, Syntax.MICROFORMATS),
            *(Problem(syntax=Syntax.MICROFORMATS, message=limit) for limit in limits),
        ),
    )
