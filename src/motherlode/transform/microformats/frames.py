"""What is open while the tree is walked: elements, and the items that they belong to or begin."""

from __future__ import annotations

import msgspec

from motherlode.transform.microformats.classic import Classic
from motherlode.transform.microformats.dates import date_in, time_in
from motherlode.transform.microformats.items import Item, Value, plain_value
from motherlode.transform.microformats.urls import resolve
from motherlode.transform.microformats.values import Element, ValuePart, url_value


class Slot(msgspec.Struct, kw_only=True):
    """The place of a value that its open element will fill."""

    item: Item
    prefix: str
    name: str
    position: int
    rel_tag: bool = False


class Open(msgspec.Struct, kw_only=True):
    """An element between its start and its end."""

    key: int
    element: Element
    start: int
    """Where its text begins among the pieces."""
    language: str
    slots: list[Slot] = msgspec.field(default_factory=list)
    """Values of the item around it."""
    item: Item | None = None
    own: list[Slot] = msgspec.field(default_factory=list)
    """Values of the item that it opens itself: `class="item fn"` in a classic review."""
    part: ValuePart | None = None
    """What it contributes to the value of the property around it."""
    is_title: bool = False
    includes: tuple[str, ...] = ()
    around: Open | None = None
    """The innermost open element, from this one outwards, that is a property, a root or a part."""


class Context(msgspec.Struct, kw_only=True):
    """What holds inside the item that is being read."""

    item: Item
    classic: Classic | None
    depth: int
    dates: list[tuple[Slot, Value]] = msgspec.field(default_factory=list)
    """The dt-* values in document order of their ends."""


def take_slot(item: Item, prefix: str, name: str, *, rel_tag: bool) -> Slot:
    values = item.properties.setdefault(name, [])
    values.append(None)
    item.prefixes.add(prefix)
    return Slot(item=item, prefix=prefix, name=name, position=len(values) - 1, rel_tag=rel_tag)


def read_url(element: Element, language: str, item: Item | None) -> Value:
    """Return the value of a u-* property; an item on the same element is worth its own u-url, or else this address.

    Running text is no address if the item names its url by another prefix, so it stays as it is written.
    """
    written, machine = url_value(element)
    address = resolve(element.base, written)
    alt = element.attribute("alt") if element.tag == "img" and "src" in element.attributes else None
    found = item.first("url", "u") if item is not None else None
    is_text = item is not None and "url" in item.properties and not machine
    fallback = written if is_text else address
    return Value(
        prefix="u",
        text=address,
        written=written,
        from_attribute=machine,
        alt=alt,
        language=language,
        item=item,
        item_value=plain_value(found) if found is not None else fallback,
    )


def include_of(element: Element) -> tuple[str, ...]:
    reference = element.attribute("href") or element.attribute("data") or ""
    return (reference[1:],) if reference.startswith("#") else ()


def lend_dates(context: Context) -> None:
    """A time without a date takes that of the nearest date before it, or else of the next (value-class-pattern)."""
    last = ""
    early: list[tuple[Slot, Value]] = []
    for slot, value in context.dates:
        day = date_in(value.text)
        if day:
            last = day
            for waiting in early:
                _lend(*waiting, day)
            early = []
        elif time_in(value.text):
            if last:
                _lend(slot, value, last)
            else:
                early.append((slot, value))


def _lend(slot: Slot, value: Value, day: str) -> None:
    text = f"{day} {time_in(value.text)}"
    slot.item.properties[slot.name][slot.position] = msgspec.structs.replace(value, text=text, item_value=text)
