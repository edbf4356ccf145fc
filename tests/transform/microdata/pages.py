"""Extracts Microdata from a few lines of markup."""

from __future__ import annotations

from motherlode.model import ContentKind, Extraction, Syntax
from motherlode.transform.bnodes import BlankNames
from motherlode.transform.microdata import extract
from tests.www.pages import URL, document

SCHEMA = "http://schema.org/"


def microdata(markup: str, *, kind: ContentKind = ContentKind.HTML) -> Extraction:
    return extract(document(markup, kind=kind), BlankNames(URL, Syntax.MICRODATA))


def pairs(markup: str, *, kind: ContentKind = ContentKind.HTML) -> set[tuple[str, str]]:
    """Return predicates without the prefix of schema.org and objects, with `_` for every blank node."""
    return {
        (predicate[1:-1].replace(SCHEMA, ""), "_" if value.startswith("_:") else value)
        for _, predicate, value, _ in microdata(markup, kind=kind).statements
        if not predicate.endswith("#type>")
    }


def value(attributes: str, tag: str = "span", content: str = "text") -> str:
    """Return the value of a property on an element with these attributes."""
    ((_, found),) = pairs(
        f"<div itemscope itemtype='{SCHEMA}Thing'><{tag} itemprop=p {attributes}>{content}</{tag}></div>"
    )
    return found
