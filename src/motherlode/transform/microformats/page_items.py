"""The items of a page, and the canonical JSON of microformats2 (microformats2-parsing, "parse a document")."""

from typing import Any

from selectolax.lexbor import LexborNode

from motherlode.transform.microformats.class_names import CLASSIC_ROOTS, parse_class
from motherlode.transform.microformats.value_parsing import Item, Value, resolve
from motherlode.transform.microformats.walker import ItemWalker
from motherlode.www.document import Document

_ROOTS = ",".join([*(f".{root}" for root in CLASSIC_ROOTS), '[class*="h-"]'])


def read_items(document: Document, *, ignored: frozenset[str] = frozenset()) -> tuple[list[Item], list[str]]:
    """Return the items of a page in order, and messages about limits. Classes in `ignored` start no items."""
    roots = [node for node in document.html.css(_ROOTS) if _is_root(node, ignored)]
    if not roots:
        return [], []
    walker = ItemWalker(document, ignored=ignored)
    for node in roots:
        if node.mem_id not in walker.seen:
            walker.read(node)
    return walker.items, sorted(walker.limits)


def _is_root(node: LexborNode, ignored: frozenset[str]) -> bool:
    names = parse_class(node.attributes.get("class") or "")
    return bool(names.classic_roots) or not ignored.issuperset(names.roots)


# Canonical JSON

_LINKS = "a[rel][href],area[rel][href],link[rel][href]"
_LINK_ATTRIBUTES = ("hreflang", "media", "title", "type")


def parse(document: Document) -> dict[str, Any]:
    """Return items, rels and rel-urls of a page, including the layout classes that `extract` ignores."""
    rels, rel_urls = _read_rels(document)
    return {"items": parse_items(document), "rels": rels, "rel-urls": rel_urls}


def parse_items(document: Document, *, with_languages: bool = False) -> list[dict[str, Any]]:
    """Return only the items of `parse`. With languages, items and markup have the key lang, and classic ones an id."""
    writer = _ItemJson(with_languages=with_languages)
    return [writer.write(item) for item in read_items(document)[0]]


class _ItemJson:
    """Writes items as canonical JSON."""

    def __init__(self, *, with_languages: bool) -> None:
        self._has_languages = with_languages

    def write(self, item: Item) -> dict[str, Any]:
        found: dict[str, Any] = {
            "type": list(item.types),
            "properties": {name: [self._value(value, item) for value in item.values(name)] for name in item.properties},
        }
        if item.id and (self._has_languages or not item.is_classic):
            found["id"] = item.id
        if self._has_languages and item.language:
            found["lang"] = item.language
        if item.children:
            found["children"] = [self.write(child) for child in item.children]
        return found

    def _value(self, value: Value, owner: Item) -> Any:
        if value.item is not None:
            inner = value.item_value
            plain = self._value(inner, value.item) if isinstance(inner, Value) else inner
            nested = {**self.write(value.item), "value": plain}
            return nested if value.html is None else {**nested, "html": value.html}
        if value.html is not None:
            markup = {"value": value.text, "html": value.html}
            return {**markup, "lang": value.language} if self._has_languages and value.language else markup
        # parsers of classic microformats do not return alternative texts
        return value.text if value.alt is None or owner.is_classic else {"value": value.text, "alt": value.alt}


def _read_rels(document: Document) -> tuple[dict[str, list[str]], dict[str, dict[str, Any]]]:
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
