"""The nearest marked ancestor of elements of an HTML tree, in time linear in the tree however often it is asked."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

from selectolax.lexbor import LexborNode

Mark = TypeVar("Mark")


class Ancestry(Generic[Mark]):
    """Some elements of a tree bear a mark; any element can be asked for the mark that is nearest above it.

    Every element on the way up is remembered with the answer, so no way is gone twice.

    >>> from selectolax.lexbor import LexborHTMLParser
    >>> tree = LexborHTMLParser("<section id=s><div><p>x")
    >>> ancestry = Ancestry([(tree.css_first("section"), "S")], default="")
    >>> ancestry.above(tree.css_first("p")), ancestry.above(tree.css_first("section"))
    ('S', '')
    """

    __slots__ = ("_default", "_known", "_mark_of")

    def __init__(
        self,
        marked: Iterable[tuple[LexborNode, Mark]] = (),
        *,
        default: Mark,
        mark_of: Callable[[LexborNode], Mark | None] | None = None,
    ) -> None:
        self._known: dict[int, Mark] = {node.mem_id: mark for node, mark in marked}
        """The mark that holds below each element that was met."""
        self._default = default
        self._mark_of = mark_of
        """Tells the mark of an element that was not met before, if it has one."""

    def above(self, node: LexborNode) -> Mark:
        """The mark of the nearest proper ancestor that has one."""
        parent = node.parent
        return self._default if parent is None else self.at(parent)

    def at(self, node: LexborNode) -> Mark:
        """The mark of the element itself, or else of its nearest ancestor."""
        known, mark_of = self._known, self._mark_of
        passed: list[int] = []
        mark = self._default
        here: LexborNode | None = node
        while here is not None:
            key = here.mem_id
            if key in known:
                mark = known[key]
                break
            passed.append(key)
            own = mark_of(here) if mark_of is not None else None
            if own is not None:
                mark = own
                break
            here = here.parent
        for key in passed:
            known[key] = mark
        return mark


def languages(*, default: str) -> Ancestry[str]:
    """The language of every element, by the nearest `lang` attribute (HTML, section 3.2.6.2).

    >>> from selectolax.lexbor import LexborHTMLParser
    >>> tree = LexborHTMLParser("<html lang=en><p>a<p lang='de'>b<i>c")
    >>> [languages(default="").at(node) for node in tree.css("p, i")]
    ['en', 'de', 'de']
    """
    return Ancestry(default=default, mark_of=_language)


def _language(element: LexborNode) -> str | None:
    attributes = element.attributes
    if "lang" not in attributes:
        return None
    return (attributes["lang"] or "").strip()
