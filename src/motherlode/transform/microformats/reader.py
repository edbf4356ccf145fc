"""From a page to its items: finds the root elements by one selector and walks each of them once."""

from __future__ import annotations

from dataclasses import dataclass

from selectolax.lexbor import LexborNode

from motherlode.model import ContentKind
from motherlode.transform.microformats.classic import CLASSIC_ROOTS
from motherlode.transform.microformats.items import Item
from motherlode.transform.microformats.names import class_names
from motherlode.transform.microformats.walk import Walk
from motherlode.www.document import Document
from motherlode.www.html_ancestry import languages

_ROOTS = ",".join([*(f".{root}" for root in CLASSIC_ROOTS), '[class*="h-"]'])


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The microformats of a page."""

    items: tuple[Item, ...]
    limits: tuple[str, ...]
    """Limits that were met, in words."""


def read_items(document: Document, *, ignored: frozenset[str] = frozenset()) -> Found:
    """The items of a page in document order; class names in `ignored` open none."""
    roots = [node for node in document.html.css(_ROOTS) if _is_root(node, ignored)]
    if not roots:
        return Found(items=(), limits=())
    language_of = languages(document, default="")
    is_xml = document.kind is ContentKind.XHTML
    walk = Walk(base=document.iri_base, ignored=ignored, by_id=_Ids(document).find, is_xml=is_xml)
    for node in roots:
        if node.mem_id not in walk.seen:
            walk.read(node, language_of(node))
    return Found(items=tuple(walk.items), limits=tuple(sorted(walk.limits)))


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
