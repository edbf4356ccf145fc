"""The sparse tree that the processing rules walk: elements with RDFa attributes, and those around them that matter."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

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


class Element:
    """An element of the sparse tree."""

    __slots__ = ("attributes", "namespaces", "node", "parent", "tag")

    def __init__(
        self, tag: str, attributes: Mapping[str, str], namespaces: Mapping[str, str], node: Any, parent: int
    ) -> None:
        self.tag = tag
        self.attributes = attributes
        self.namespaces = namespaces
        """Those that the element itself declares, by prefix; "" is the default one."""
        self.node = node
        """The element itself, for the tree's reader."""
        self.parent = parent
        """The place of the nearest element above, in the list of all; -1 for the root."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tree:
    """A document as the processing rules see it. Parents stand before their children, siblings in document order."""

    host: Host
    reader: Reader
    base: str
    elements: list[Element]
    """The first is the root."""
