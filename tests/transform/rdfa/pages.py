"""Extracts RDFa from a few lines of markup."""

from __future__ import annotations

from motherlode.model import ContentKind, Extraction, Syntax
from motherlode.transform.bnodes import BlankNames
from motherlode.transform.rdfa import extract
from tests.www.pages import URL, document


def rdfa(markup: str, *, kind: ContentKind = ContentKind.HTML, roles: bool = False) -> Extraction:
    return extract(document(markup, kind=kind), BlankNames(URL, Syntax.RDFA), roles=roles)


def triples(markup: str, *, kind: ContentKind = ContentKind.HTML, roles: bool = False) -> list[tuple[str, str, str]]:
    """Return the statements with the page's URL as <> and numbered blank nodes."""
    names: dict[str, str] = {}

    def short(term: str) -> str:
        if term.startswith("_:"):
            return names.setdefault(term, f"_:{len(names)}")
        return term.replace(URL, "")

    found = rdfa(markup, kind=kind, roles=roles).statements
    return [(short(s), short(p), short(o)) for s, p, o, _ in found]
