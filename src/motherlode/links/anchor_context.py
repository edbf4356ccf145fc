"""The context of a link in HTML: its text, the text next to it, and the path of elements from the root."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from selectolax.lexbor import LexborNode

from motherlode.links.href import MAX_TEXT_CHARACTERS
from motherlode.www.html_limits import TextBudget

_MAX_SIDE_CHARACTERS = MAX_TEXT_CHARACTERS // 2
_MAX_SCAN_CHARACTERS = 4 * MAX_TEXT_CHARACTERS
"""Characters of a text in which white space is collapsed. Later ones are not needed."""
_MAX_PATH_CHARACTERS = 240
_MAX_CLASS_CHARACTERS = 40


def shorten(text: str) -> str:
    """Return a text with single spaces, cut at the limit.

    >>> shorten("  so \\n much ")
    'so much'
    """
    return " ".join(text[:_MAX_SCAN_CHARACTERS].split())[:MAX_TEXT_CHARACTERS] if text else ""


class ContextReader:
    """Reads the context of the links of one page. The path of each parent element is computed once."""

    def __init__(self, budget: TextBudget) -> None:
        self._paths: dict[int, str] = {}
        self._budget = budget
        """Bounds hostile pages: anchors can be nested by tricks, and then the same long text is read many times."""
        self._is_exhausted = False
        """The budget is spent. No more texts are read."""

    def anchor(self, element: LexborNode, attributes: Mapping[str, str | None]) -> str:
        """Return the text of a link. For images, their alternative text."""
        text = "" if self._is_exhausted else element.text_lexbor()
        if len(text) > _MAX_SCAN_CHARACTERS:  # the total of shorter texts is bounded by the number of links
            self._budget.spend(text)
            self._is_exhausted = self._budget.is_spent
        return " ".join(text[:_MAX_SCAN_CHARACTERS].split())[:MAX_TEXT_CHARACTERS] or _alternative_text(
            element, attributes
        )

    def tag_path(self, parent: LexborNode | None, tag: str, classes: str | None) -> str:
        """Return the names and classes of the elements from the root to a child of `parent`."""
        path: str | None = ""
        if parent is not None:
            key = parent.mem_id
            path = self._paths.get(key)
            if path is None:
                path = self._paths[key] = _append_node(self._path_above(parent), parent)
        return _append_step(path, tag, classes[:_MAX_CLASS_CHARACTERS] if classes else "")

    def _path_above(self, node: LexborNode) -> str:
        """Return the path of a node's parent, which is mostly cached."""
        parent = node.parent
        if parent is None:
            return ""
        path = self._paths.get(parent.mem_id)
        return self._compute_path(parent) if path is None else path

    def _compute_path(self, node: LexborNode | None) -> str:
        """Return the path of a node that is not cached. A loop, because pages may nest too deep for recursion."""
        waiting: list[tuple[int, LexborNode]] = []
        path: str | None = None
        while node is not None and path is None:
            key = node.mem_id
            path = self._paths.get(key)
            if path is None:
                waiting.append((key, node))
                node = node.parent
        path = path or ""
        for key, node in reversed(waiting):
            path = self._paths[key] = _append_node(path, node)
        return path


def context(element: LexborNode, parent: LexborNode | None) -> str:
    """Return the text next to an element. If it is empty, the text next to its parent."""
    text = _adjacent_text(element)
    if text or parent is None or parent.tag == "body":
        return text
    return _adjacent_text(parent)


def _alternative_text(element: LexborNode, attributes: Mapping[str, str | None]) -> str:
    for name in ("aria-label", "alt"):
        if attributes.get(name):
            return shorten(attributes[name] or "")
    image = element.first_child
    if image is not None and image.tag == "-text":  # white space
        image = image.next
    return shorten(image.attributes.get("alt") or "") if image is not None and image.tag == "img" else ""


def _append_node(path: str, node: LexborNode) -> str:
    if len(path) >= _MAX_PATH_CHARACTERS or not node.is_element_node:
        return path
    classes = node.attributes.get("class")
    return _append_step(path, node.tag or "", classes[:_MAX_CLASS_CHARACTERS] if classes else "")


@lru_cache(maxsize=8192)
def _append_step(path: str, tag: str, classes: str) -> str:
    """Append an element to a path. Cached, because pages of one template repeat the same steps in 98 % of cases."""
    if classes:
        tag = f"{tag}.{'.'.join(classes.split())}"
    return f"{path} {tag}" if path else tag


def _adjacent_text(element: LexborNode) -> str:
    """Return the text of the previous and next sibling only, so that no text is read often."""
    text = ""
    before, after = element.prev, element.next
    if before is not None and not before.is_empty_text_node:
        text = _own_text(before)[-_MAX_SIDE_CHARACTERS:]
    if after is not None and not after.is_empty_text_node:
        text = f"{text} {_own_text(after)[:_MAX_SIDE_CHARACTERS]}"
    return " ".join(text.split()) if text else ""


def _own_text(node: LexborNode) -> str:
    text = node.text_content  # set for text nodes, which most are; three times as fast as `text`
    return node.text(deep=False) if text is None else text
