"""What the walk finds: items with their properties, before they become canonical JSON or RDF."""

from __future__ import annotations

import msgspec


class Value(msgspec.Struct, frozen=True, kw_only=True):
    """One value of one property."""

    prefix: str
    """p, u, dt or e."""
    text: str
    """As the specification has it: a URL is resolved, a date may have been completed."""
    written: str = ""
    """For u-*: the reference before it was resolved."""
    from_attribute: bool = False
    """It stood in an attribute made for it (href, datetime, value …), not in running text."""
    alt: str | None = None
    """For images: the alternative text."""
    html: str | None = None
    """For e-*: the markup inside the element."""
    language: str = ""
    item: Item | None = None
    """The item that the same element opens, where it does."""
    item_value: str | Value | None = None
    """What the item comes to as plain value: a text, or the value of its own name or url."""


class Item(msgspec.Struct, kw_only=True):
    """One microformat. It is filled while its element is walked, hence not frozen."""

    key: int
    """Tells the element: the same one may be met twice by way of an include."""
    types: tuple[str, ...]
    is_classic: bool
    id: str = ""
    properties: dict[str, list[Value | None]] = msgspec.field(default_factory=dict)
    """None holds the place of a value whose element is still open."""
    children: list[Item] = msgspec.field(default_factory=list)
    plain: Value | None = None
    """The text of an item that has nothing else, where that says all: a classic place or address."""
    has_nested: bool = False
    prefixes: set[str] = msgspec.field(default_factory=set)
    """Of the properties that were written out."""

    def add(self, name: str, value: Value) -> None:
        self.properties.setdefault(name, []).append(value)

    def values(self, name: str) -> list[Value]:
        return [value for value in self.properties.get(name, ()) if value is not None]

    def first(self, name: str, prefix: str) -> Value | None:
        return next((value for value in self.values(name) if value.prefix == prefix), None)


def plain_value(value: Value) -> str | Value:
    """What a value that is itself an item stands for in a text; images keep their alternative text."""
    if value.item is not None:
        return value.item_value if value.item_value is not None else ""
    return value if value.alt is not None else value.text
