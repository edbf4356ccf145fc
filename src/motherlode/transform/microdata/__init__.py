"""Microdata to RDF, by the W3C note of that name (second edition, 2014).

An item becomes a node, its types become types, each property a statement. The tree that is walked holds only the
elements with Microdata attributes; values are read when a statement needs them. Time is linear in the page and in the
statements; where pages multiply themselves by `itemref`, a budget ends it and a problem says so.
"""

from __future__ import annotations

from collections.abc import Mapping

from motherlode.model import Extraction
from motherlode.transform.bnodes import BlankNames
from motherlode.transform.microdata.generator import Generator
from motherlode.transform.microdata.vocabularies import DEFAULT_REGISTRY, Registry
from motherlode.www.document import Document

__all__ = ["DEFAULT_REGISTRY", "Registry", "extract"]


def extract(
    document: Document, names: BlankNames, *, registry: Mapping[str, Mapping[str, tuple[str, ...]]] = DEFAULT_REGISTRY
) -> Extraction:
    """All statements of the items of a page."""
    return Generator(document, names, registry).run()
