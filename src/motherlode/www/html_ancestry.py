"""The nearest marked ancestor of elements of an HTML tree, in time linear in the tree however often it is asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Generic, TypeVar

from selectolax.lexbor import LexborNode

from motherlode.www.document import Document
from motherlode.www.marks import Mark as PageMark

Mark = TypeVar("Mark")


class Ancestry(Generic[Mark]):
    """Some elements of a tree bear a mark; any element can be asked for the mark that is nearest above it.

    Every element on the way up is remembered with the answer, so no way is gone twice.

    >>> from selectolax.lexbor import LexborHTMLParser
    >>> tree = LexborHTMLParser("<section id=s><div><p>x")
    >>> ancestry = Ancestry({tree.css_first("section").mem_id: "S"}, default="")
    >>> ancestry.above(tree.css_first("p")), ancestry.above(tree.css_first("section"))
    ('S', '')
    """

    __slots__ = ("_default", "_known")

    def __init__(self, marked: Mapping[int, Mark], *, default: Mark) -> None:
        """The marks by the `mem_id` of their elements."""
        self._known = {**marked}
        """The mark that holds below each element that was met."""
        self._default = default

    def above(self, node: LexborNode) -> Mark:
        """The mark of the nearest proper ancestor that has one."""
        parent = node.parent
        return self._default if parent is None else self.at(parent)

    def at(self, node: LexborNode) -> Mark:
        """The mark of the element itself, or else of its nearest ancestor."""
        known = self._known
        key = node.mem_id
        if key in known:
            return known[key]
        passed = [key]
        mark = self._default
        here = node.parent
        while here is not None:
            key = here.mem_id
            if key in known:
                mark = known[key]
                break
            passed.append(key)
            here = here.parent
        for key in passed:
            known[key] = mark
        return mark


def languages(document: Document, *, default: str) -> Callable[[LexborNode], str]:
    """Tells the language of every element, by the nearest `lang` attribute (HTML, section 3.2.6.2)."""
    root = document.html.root
    attributes = root.attributes if root is not None else {}
    if "lang" in attributes and PageMark.LANGUAGES not in document.marks:
        everywhere = (attributes["lang"] or "").strip()
        return lambda _node: everywhere
    marked = [(node.mem_id, node.attributes) for node in document.html.css("[lang]")]
    # in SVG, the selector finds `xml:lang`, too
    own = {key: (attributes["lang"] or "").strip() for key, attributes in marked if "lang" in attributes}
    return Ancestry(own, default=default).at
