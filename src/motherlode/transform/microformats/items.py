"""Items and property values, from which canonical JSON and RDF are made."""

from __future__ import annotations

import msgspec


class Value(msgspec.Struct, frozen=True, kw_only=True):
    """One value of one property."""

    prefix: str
    """p, u, dt or e."""
    text: str
    """The value by the specification: URLs are resolved, times are completed with a date."""
    written: str = ""
    """For u-*: the reference before it was resolved."""
    from_attribute: bool = False
    """The value is from an attribute (href, datetime, value …) and not from running text."""
    alt: str | None = None
    """For images: the alternative text."""
    html: str | None = None
    """For e-*: the markup of the element's content."""
    language: str = ""
    item: Item | None = None
    """The nested item that the same element starts, if any."""
    item_value: str | Value | None = None
    """The plain value of the nested item: a text, or the value of its name or url."""


class Item(msgspec.Struct, kw_only=True):
    """One microformat. It is not frozen because the walker fills it."""

    key: int
    """Identifies the element. An include may read the same element twice."""
    types: tuple[str, ...]
    is_classic: bool
    id: str = ""
    properties: dict[str, list[Value | None]] = msgspec.field(default_factory=dict)
    """The values by name; None for a value whose element is still open."""
    children: list[Item] = msgspec.field(default_factory=list)
    plain: Value | None = None
    """The text of a classic geo or adr without properties."""
    has_nested: bool = False
    prefixes: set[str] = msgspec.field(default_factory=set)
    """The prefixes of the explicit properties."""

    def add(self, name: str, value: Value) -> None:
        self.properties.setdefault(name, []).append(value)

    def values(self, name: str) -> list[Value]:
        """Return the values of a property whose elements are closed."""
        return [value for value in self.properties.get(name, ()) if value is not None]

    def first(self, name: str, prefix: str) -> Value | None:
        """Return the first value of a property with this prefix, or None."""
        return next((value for value in self.values(name) if value.prefix == prefix), None)


def plain_value(value: Value) -> str | Value:
    """Return the plain value of a nested item, or the text; an image with alternative text is returned unchanged."""
    if value.item is not None:
        return value.item_value if value.item_value is not None else ""
    return value if value.alt is not None else value.text
