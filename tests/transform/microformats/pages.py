"""Extracts microformats from a few lines of markup."""

from __future__ import annotations

from typing import Any

from motherlode.model import ContentKind, Detected, DetectionEvidence, Extraction, Syntax
from motherlode.transform.bnodes import BlankNames
from motherlode.transform.microformats import extract, parse
from motherlode.www.document import Document

URL = "http://example.org/page"
MF = "http://microformats.org/profile/"


def document(html: str, url: str = URL, kind: ContentKind = ContentKind.HTML) -> Document:
    detected = Detected(kind=kind, evidence=DetectionEvidence.CONTENT)
    return Document(url=url, body=html.encode(), detected=detected)


def item(html: str) -> dict[str, Any]:
    """Return the only item of a page as canonical JSON."""
    (found,) = parse(document(html))["items"]
    assert isinstance(found, dict)
    return found


def properties(html: str) -> dict[str, Any]:
    found = item(html)["properties"]
    assert isinstance(found, dict)
    return found


def extracted(html: str, url: str = URL, kind: ContentKind = ContentKind.HTML) -> Extraction:
    return extract(document(html, url, kind), BlankNames(url, Syntax.MICROFORMATS))


def statements(html: str, *, kind: ContentKind = ContentKind.HTML) -> set[tuple[str, str, str]]:
    """Return the statements with blank nodes as _:1, _:2 … and abbreviated namespaces."""
    names: dict[str, str] = {}

    def short(term: str) -> str:
        if term.startswith("_:"):
            return names.setdefault(term, f"_:{len(names) + 1}")
        return term.replace(f"<{MF}", "<mf:").replace("<http://www.w3.org/1999/02/22-rdf-syntax-ns#", "<rdf:")

    return {(short(s), short(p), short(o)) for s, p, o, _ in extracted(html, kind=kind).statements}
