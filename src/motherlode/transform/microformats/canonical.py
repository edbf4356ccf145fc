"""The canonical JSON of microformats2 (microformats2-parsing, "parse a document for microformats")."""

from __future__ import annotations

from typing import Any

from motherlode.transform.microformats.items import Item, Value
from motherlode.transform.microformats.reader import read_items
from motherlode.transform.microformats.urls import resolve
from motherlode.www.document import Document

_LINKS = "a[rel][href],area[rel][href],link[rel][href]"
_LINK_ATTRIBUTES = ("hreflang", "media", "title", "type")


def parse(document: Document) -> dict[str, Any]:
    """Items, rels and rel-urls of a page. Nothing is left out for being improbable: `extract` sees to that."""
    rels, rel_urls = _rels(document)
    return {"items": [_item(item) for item in read_items(document).items], "rels": rels, "rel-urls": rel_urls}


def _item(item: Item) -> dict[str, Any]:
    found: dict[str, Any] = {
        "type": list(item.types),
        "properties": {name: [_value(value, item) for value in item.values(name)] for name in item.properties},
    }
    if item.id and not item.is_classic:
        found["id"] = item.id
    if item.children:
        found["children"] = [_item(child) for child in item.children]
    return found


def _value(value: Value, owner: Item) -> Any:
    if value.item is not None:
        inner = value.item_value
        nested = {**_item(value.item), "value": _value(inner, value.item) if isinstance(inner, Value) else inner}
        return nested if value.html is None else {**nested, "html": value.html}
    if value.html is not None:
        return {"value": value.text, "html": value.html}
    # classic microformats never knew of alternative texts, and their parsers do not give them
    return value.text if value.alt is None or owner.is_classic else {"value": value.text, "alt": value.alt}


def _rels(document: Document) -> tuple[dict[str, list[str]], dict[str, dict[str, Any]]]:
    base = document.iri_base
    rels: dict[str, dict[str, None]] = {}
    urls: dict[str, dict[str, Any]] = {}
    for node in document.html.css(_LINKS):
        attributes = node.attributes
        url = resolve(base, attributes["href"] or "")
        values = (attributes["rel"] or "").split()
        if not values:
            continue
        about = urls.setdefault(url, {"rels": set()})
        about["rels"].update(values)
        for value in values:
            rels.setdefault(value, {})[url] = None
        text = node.text(deep=True)
        if text.strip():
            about.setdefault("text", text)
        for name in _LINK_ATTRIBUTES:
            if attributes.get(name) is not None:
                about.setdefault(name, attributes[name])
    for about in urls.values():
        about["rels"] = sorted(about["rels"])
    return {value: list(found) for value, found in rels.items()}, urls
