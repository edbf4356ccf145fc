"""The text of an HTML page that a reader sees: no scripts, no styles, no comments."""

from __future__ import annotations

from collections.abc import Iterator

from selectolax.lexbor import LexborNode

from motherlode.model import ContentKind
from motherlode.www.document import Document

_HIDDEN_TAGS = frozenset({"script", "style", "noscript", "template", "svg", "link", "meta", "-comment"})
_LINE_TAGS = frozenset(
    {
        *(
            "address",
            "article",
            "aside",
            "blockquote",
            "br",
            "caption",
            "dd",
            "div",
            "dl",
            "dt",
            "figcaption",
            "footer",
        ),
        *("form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "li", "main", "nav", "ol", "option", "p", "pre"),
        *("section", "table", "td", "th", "tr", "ul"),
    }
)
"""Elements that begin a new line."""


def iter_visible(root: LexborNode) -> Iterator[LexborNode]:
    """Yield the descendants of an element in document order, without hidden elements and their content."""
    node, depth = root.child, 1
    while node is not None:
        is_hidden = node.tag in _HIDDEN_TAGS
        if not is_hidden:
            yield node
        child = None if is_hidden else node.child
        if child is not None:
            node, depth = child, depth + 1
            continue
        while node is not None and node.next is None and depth > 1:
            node, depth = node.parent, depth - 1
        node = node.next if node is not None else None


def visible_text(document: Document, *, max_characters: int) -> str:
    """Return the text of an HTML page or of plain text, one line per block, cut at a length. Other kinds have none."""
    if document.kind is ContentKind.TEXT:
        return document.text[:max_characters]
    if document.kind not in (ContentKind.HTML, ContentKind.XHTML) or document.html.body is None:
        return ""
    lines: list[list[str]] = [[]]
    characters = 0
    for node in iter_visible(document.html.body):
        if node.tag in _LINE_TAGS:
            lines.append([])
        words = (node.text_content or "").split() if node.tag == "-text" else []
        lines[-1] += words
        characters += sum(map(len, words)) + len(words)
        if characters > max_characters:
            break
    return "\n".join(" ".join(words) for words in lines if words)[:max_characters]
