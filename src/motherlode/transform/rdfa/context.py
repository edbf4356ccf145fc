"""The evaluation context that travels down the tree (RDFa Core 1.1, section 7.2)."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec


class Lists:
    """The list mapping: collections that grow while one resource is described."""

    __slots__ = ("items", "owner")

    def __init__(self, owner: str) -> None:
        self.owner = owner
        self.items: dict[str, list[str]] = {}

    def of(self, predicate: str) -> list[str]:
        return self.items.setdefault(predicate, [])


class Incomplete(msgspec.Struct, frozen=True):
    """A relation that waits for a resource. Just one of the fields is set."""

    forward: str = ""
    backward: str = ""
    collection: list[str] | None = None


class Context(msgspec.Struct, kw_only=True):
    """What an element inherits. Treated as frozen: copies are made where something changes."""

    base: str
    subject: str
    """The parent subject."""
    object: str
    """The parent object."""
    lists: Lists
    prefixes: Mapping[str, str]
    language: str = ""
    vocabulary: str = ""
    incomplete: tuple[Incomplete, ...] = ()
    tokens: dict[str, str] = msgspec.field(default_factory=dict)
    """IRIs that terms and CURIEs were found to mean, as long as base, vocabulary and prefixes stay the same."""
    declared: Mapping[str, str] = msgspec.field(default_factory=dict)
    """Namespaces that the document itself declares, for XML literals."""
