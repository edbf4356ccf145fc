"""What stands around a link: its own text, the text beside it, and the path of elements down to it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from selectolax.lexbor import LexborNode

from motherlode.links.href import MAX_TEXT
from motherlode.www.html_limits import TextBudget

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
        """Anchors can be nested by tricks, and then the same long text is read again and again."""
        self._is_silent = False
        """The budget is spent, so that no more texts are read."""

    def anchor(self, element: LexborNode, attributes: Mapping[str, str | None]) -> str:
        """The text that a reader clicks on; for images, the text in their place."""
        text = "" if self._is_silent else element.text_lexbor()
        if len(text) > _LONGEST_SCAN:  # all others together are bounded by the number of links
            self._budget.spend(text)
            self._is_silent = self._budget.is_spent
        return " ".join(text[:_LONGEST_SCAN].split())[:MAX_TEXT] or _text_instead(element, attributes)

    def tag_path(self, parent: LexborNode | None, tag: str, classes: str | None) -> str:
        """Element names with classes, from the root down to an element below the parent."""
        path: str | None = ""
        if parent is not None:
            key = parent.mem_id
            path = self._paths.get(key)
            if path is None:
                path = self._paths[key] = _below(self._path_above(parent), parent)
        return _step(path, tag, classes[:_MAX_CLASSES] if classes else "")

    def _path_above(self, node: LexborNode) -> str:
        """The path of a node's parent, which is mostly known."""
        parent = node.parent
        if parent is None:
            return ""
        path = self._paths.get(parent.mem_id)
        return self._climbed(parent) if path is None else path

    def _climbed(self, node: LexborNode | None) -> str:
        """The path of a node that was not met before. A loop, not a recursion: pages nest as deep as they like."""
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
            path = self._paths[key] = _below(path, node)
        return path


def context(element: LexborNode, parent: LexborNode | None) -> str:
    """Text beside an element, or, where it stands alone, beside its parent."""
    text = _beside(element)
    if text or parent is None or parent.tag == "body":
        return text
    return _beside(parent)


def _text_instead(element: LexborNode, attributes: Mapping[str, str | None]) -> str:
    for name in ("aria-label", "alt"):
        if attributes.get(name):
            return shortened(attributes[name] or "")
    image = element.first_child
    if image is not None and image.tag == "-text":  # white space
        image = image.next
    return shortened(image.attributes.get("alt") or "") if image is not None and image.tag == "img" else ""


def _below(path: str, node: LexborNode) -> str:
    if len(path) >= _MAX_PATH or not node.is_element_node:
        return path
    classes = node.attributes.get("class")
    return _step(path, node.tag or "", classes[:_MAX_CLASSES] if classes else "")


@lru_cache(maxsize=8192)
def _step(path: str, tag: str, classes: str) -> str:
    """Pages of one template take the same steps: of 100, 98 were taken before."""
    if classes:
        tag = f"{tag}.{'.'.join(classes.split())}"
    return f"{path} {tag}" if path else tag


def _beside(element: LexborNode) -> str:
    """Text right before and right after an element: of its own siblings only, so that no text is read often."""
    text = ""
    before, after = element.prev, element.next
    if before is not None and not before.is_empty_text_node:
        text = _own_text(before)[-_SIDE:]
    if after is not None and not after.is_empty_text_node:
        text = f"{text} {_own_text(after)[:_SIDE]}"
    return " ".join(text.split()) if text else ""


def _own_text(node: LexborNode) -> str:
    text = node.text_content  # of a text node, which most are: it costs a third of what `text` does
    return node.text(deep=False) if text is None else text
