"""The sparse tree that the processing rules walk: elements with RDFa attributes, and those around them that matter."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import msgspec

from motherlode.transform.rdfa.hosts import Host

ACTIVE = frozenset({"property", "rel", "rev", "typeof", "about", "resource", "href", "src", "inlist"})
"""Attributes by which an element takes part in statements."""
SCOPING = frozenset({"vocab", "prefix", "lang", "xml:lang", "xml:base"})
"""Attributes that change the evaluation context for everything inside."""
RELEVANT = ACTIVE | SCOPING | {"role"}


class Reader(Protocol):
    """Reads what is inside an element of the document that a tree was made of."""

    def text(self, node: Any) -> str: ...

    def markup(self, node: Any, namespaces: Mapping[str, str]) -> str:
        """As a fragment of XML, with the namespaces declared on its outermost elements."""
        ...

    def html(self, node: Any) -> str: ...


class Element(msgspec.Struct):
    """An element of the sparse tree."""

    tag: str
    attributes: Mapping[str, str]
    namespaces: Mapping[str, str]
    """Those that the element itself declares, by prefix; "" is the default one."""
    node: Any
    """The element itself, for the tree's reader."""
    parent: int
    """The place of the nearest element above, in the list of all; -1 for the root."""


class Tree(msgspec.Struct, frozen=True, kw_only=True):
    """A document as the processing rules see it. Parents stand before their children, siblings in document order."""

    host: Host
    reader: Reader
    url: str
    """The document's own address: relative namespaces of prefixes are resolved against it, whatever the base is."""
    base: str
    elements: list[Element]
    """The first is the root."""
