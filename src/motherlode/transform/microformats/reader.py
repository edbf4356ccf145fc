"""From a page to its items: finds the root elements by one selector and walks each of them once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from selectolax.lexbor import LexborNode

from motherlode.model import ContentKind
from motherlode.transform.microformats.class_names import CLASSIC_ROOTS, class_names
from motherlode.transform.microformats.items import Item, Value
from motherlode.transform.microformats.value_parsing import resolve
from motherlode.transform.microformats.walker import Walk
from motherlode.www.document import Document
from motherlode.www.html_ancestors import languages

_ROOTS = ",".join([*(f".{root}" for root in CLASSIC_ROOTS), '[class*="h-"]'])


@dataclass(frozen=True, slots=True, kw_only=True)
class PageItems:
    """The microformats of a page."""

    items: tuple[Item, ...]
    limits: tuple[str, ...]
    """Limits that were met, in words."""


def read_items(document: Document, *, ignored: frozenset[str] = frozenset()) -> PageItems:
    """The items of a page in document order; class names in `ignored` open none."""
    roots = [node for node in document.html.css(_ROOTS) if _is_root(node, ignored)]
    if not roots:
        return PageItems(items=(), limits=())
    language_of = languages(document, default="")
    is_xml = document.kind is ContentKind.XHTML
    walk = Walk(base=document.iri_base, ignored=ignored, by_id=_Ids(document).find, is_xml=is_xml)
    for node in roots:
        if node.mem_id not in walk.seen:
            walk.read(node, language_of(node))
    return PageItems(items=tuple(walk.items), limits=tuple(sorted(walk.limits)))


def _is_root(node: LexborNode, ignored: frozenset[str]) -> bool:
    names = class_names(node.attributes.get("class") or "")
    return bool(names.classic_roots) or not ignored.issuperset(names.roots)


class _Ids:
    """Elements by id, for the include pattern; the first of a name wins."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._nodes: dict[str, LexborNode] | None = None

    def find(self, name: str) -> LexborNode | None:
        if self._nodes is None:
            self._nodes = {}
            for node in self._document.html.css("[id]"):
                self._nodes.setdefault(node.attributes["id"] or "", node)
        return self._nodes.get(name)


# ── The canonical JSON of microformats2 (microformats2-parsing, "parse a document for microformats").

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
