"""Which transformations a document asks for (GRDDL, W3C Recommendation of 2007, sections 2 to 5).

They are never fetched: the user's allow-list says which stylesheet stands for which address.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from motherlode.www.document import Document
from motherlode.www.iri import resolve

DATA_VIEW = "http://www.w3.org/2003/g/data-view"
_ATTRIBUTE = f"{{{DATA_VIEW}#}}transformation"
_MOST = 10
"""Transformations of one document."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """The transformations that a document names: those on the allow-list, and the rest."""

    allowed: tuple[tuple[str, bytes], ...] = ()
    """Address and stylesheet."""
    refused: tuple[str, ...] = ()


def wanted_by_xml(root: Any, namespace: str, base: str, allowed: Mapping[str, bytes]) -> Wanted:
    """From the root element's data-view:transformation attribute (section 2) and its namespace (section 3)."""
    named = [resolve(root.base or base, one) for one in (root.get(_ATTRIBUTE) or "").split()]
    return _sort(named, [namespace] if namespace else [], allowed)


def wanted_by_html(document: Document, base: str, allowed: Mapping[str, bytes]) -> Wanted:
    """From rel=transformation links, which count under the GRDDL profile (section 4), and from other profiles (5)."""
    head = document.html.css_first("head[profile]")
    profiles = (head.attributes.get("profile") or "").split() if head is not None else []
    named = []
    if DATA_VIEW in profiles:
        for node in document.html.css('link[rel~="transformation"][href],a[rel~="transformation"][href]'):
            named.append(resolve(base, (node.attributes["href"] or "").strip()))
    return _sort(named, [resolve(base, profile) for profile in profiles if profile != DATA_VIEW], allowed)


def _sort(named: list[str], known: list[str], allowed: Mapping[str, bytes]) -> Wanted:
    """A namespace or profile that is not on the list asked for nothing; a transformation that is not was refused."""
    found = list(dict.fromkeys([*named, *(one for one in known if one in allowed)]))[:_MOST]
    return Wanted(
        allowed=tuple((one, allowed[one]) for one in found if one in allowed),
        refused=tuple(one for one in found if one not in allowed),
    )
