"""What stands around a link: its own text, the text beside it, and the path of elements down to it."""

from __future__ import annotations

from collections.abc import Mapping

from selectolax.lexbor import LexborNode

from motherlode.extract.options import MAX_TEXT
from motherlode.www.html_budget import TextBudget

_SIDE = MAX_TEXT // 2
_LONGEST_SCAN = 4 * MAX_TEXT
"""White space is collapsed in so many characters of a text; the rest cannot matter."""
_MAX_PATH = 240
_MAX_CLASSES = 40


def shortened(text: str) -> str:
    """Single spaces, and cut at the limit.

    >>> shortened("  so \\n much ")
    'so much'
    """
    return " ".join(text[:_LONGEST_SCAN].split())[:MAX_TEXT] if text else ""


class Surroundings:
    """Reads the surroundings of the links of one page; parents are looked at once, whoever hangs below them."""

    def __init__(self, budget: TextBudget) -> None:
        self._paths: dict[int, str] = {}
        self._budget = budget
        """Anchors can be nested by tricks, and then the same text is read again and again."""

    def anchor(self, element: LexborNode, attributes: Mapping[str, str | None]) -> str:
        """The text that a reader clicks on; for images, the text in their place."""
        text = shortened(self._text_of(element))
        if text:
            return text
        for name in ("aria-label", "alt"):
            if attributes.get(name):
                return shortened(attributes[name] or "")
        image = element.first_child
        if image is not None and image.tag == "-text":  # white space
            image = image.next
        return shortened(image.attributes.get("alt") or "") if image is not None and image.tag == "img" else ""

    def _text_of(self, element: LexborNode) -> str:
        if self._budget.is_spent:
            return ""
        text = element.text()
        self._budget.spend(text)
        return text

    def context(self, element: LexborNode) -> str:
        """Text beside the element, or, where it stands alone, beside its parent."""
        before, after = _beside(element)
        if not before and not after:
            parent = element.parent
            if parent is None or parent.tag == "body":
                return ""
            before, after = _beside(parent)
        return f"{before} {after}".strip()

    def tag_path(self, element: LexborNode, tag: str, classes: str | None) -> str:
        """Element names with classes, from the root down to the element."""
        parent = element.parent
        path = self._paths.get(parent.mem_id) if parent is not None else ""
        return _step(self._path(parent) if path is None else path, tag, classes)

    def _path(self, node: LexborNode | None) -> str:
        """The path of a node that was not met before. A loop, not a recursion: pages nest as deep as they like."""
        waiting: list[LexborNode] = []
        path: str | None = None
        while node is not None and node.is_element_node:
            path = self._paths.get(node.mem_id)
            if path is not None:
                break
            waiting.append(node)
            node = node.parent
        path = path or ""
        for node in reversed(waiting):
            if len(path) < _MAX_PATH:
                path = _step(path, node.tag or "", node.attributes.get("class"))
            self._paths[node.mem_id] = path
        return path


def _step(path: str, tag: str, classes: str | None) -> str:
    if classes:
        tag = f"{tag}.{'.'.join(classes[:_MAX_CLASSES].split())}"
    return f"{path} {tag}" if path else tag


def _beside(element: LexborNode) -> tuple[str, str]:
    """Text right before and right after an element: of its own siblings only, so that no text is read often."""
    before, after = element.prev, element.next
    return (
        " ".join(before.text(deep=False)[-_SIDE:].split()) if before is not None else "",
        " ".join(after.text(deep=False)[:_SIDE].split()) if after is not None else "",
    )
