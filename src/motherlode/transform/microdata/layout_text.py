"""The text of an element as a browser lays it out: white space collapsed, block elements on lines of their own.

The rules are those that users of extruct know: one line break around lines and cells of a layout, an empty line around
paragraphs and headings, and a space between inline elements unless punctuation follows.
"""

from collections.abc import Mapping

from selectolax.lexbor import LexborHTMLParser, LexborNode

_LINE_TAGS = (
    *("article", "aside", "br", "dd", "details", "div", "dt", "fieldset", "figcaption", "footer", "form", "header"),
    *("hr", "legend", "li", "main", "nav", "table", "tr"),
)
_PARAGRAPH_TAGS = (
    *("blockquote", "dl", "figure", "h1", "h2", "h3", "h4", "h5", "h6", "ol", "p", "pre", "title", "ul"),
)
_HIDDEN_TAGS = ("script", "style", "link", "meta")
_CLOSING_PUNCTUATION = frozenset(',:;.!?")')
_LINE, _PARAGRAPH = 1, 2


def _read_tag_ids() -> Mapping[str, int]:
    """Return lexbor's numbers of tags. They are read from parsed samples because they differ between versions."""
    found = {}
    for name in (*_LINE_TAGS, *_PARAGRAPH_TAGS, *_HIDDEN_TAGS):
        markup = f"<table><{name}>" if name == "tr" else f"<{name}>"
        node = LexborHTMLParser(markup).css_first(name)
        assert node is not None
        found[name] = node.tag_id
    return found


def _read_text_ids() -> tuple[int, int]:
    nodes = LexborHTMLParser("<p>text<!--comment-->").css("p")[0].traverse(include_text=True)
    by_tag = {node.tag or "": node.tag_id for node in nodes}
    return by_tag["-text"], by_tag["-comment"]


_TAG_IDS = _read_tag_ids()
_TEXT, _COMMENT = _read_text_ids()
_BREAKS = {
    **{_TAG_IDS[tag]: _LINE for tag in _LINE_TAGS},
    **{_TAG_IDS[tag]: _PARAGRAPH for tag in _PARAGRAPH_TAGS},
}
"""The break before and after each element that has one."""
_SKIPPED = frozenset({_COMMENT, *(_TAG_IDS[tag] for tag in _HIDDEN_TAGS)})


class _LayoutWriter:
    """Joins pieces of text and breaks. Adjacent texts are one piece, even with a comment or a script between them."""

    def __init__(self) -> None:
        self.chunks: list[str] = []
        self._pending: list[str] = []
        self._last_break = _PARAGRAPH
        self._last_text = ""

    def add_text(self, text: str) -> None:
        self._pending.append(text)

    def add_element_edge(self, tag_id: int) -> None:
        """End the current piece at a start or end tag, with the break that the element has."""
        if self._pending:
            self.end_piece()
        wanted = _BREAKS.get(tag_id, 0)
        if wanted > self._last_break:
            self.chunks.append("\n" * (wanted - self._last_break))
            self._last_break = wanted

    def end_piece(self) -> None:
        """Write the pending texts, with a space before them if one is needed."""
        raw = self._pending[0] if len(self._pending) == 1 else "".join(self._pending)
        self._pending.clear()
        text = " ".join(raw.split())
        if not text:
            return
        last = self._last_text
        is_separate = last[-1:].isspace() or (text[0] not in _CLOSING_PUNCTUATION and last[-1:] != "(")
        if not self._last_break and is_separate:
            self.chunks.append(" ")
        self.chunks.append(text)
        self._last_text, self._last_break = raw, 0


def read_layout_text(root: LexborNode) -> str:
    """Return the visible text of an element."""
    child = root.child
    if child is None:
        return ""
    if child.tag_id == _TEXT and child.next is None:  # the usual case
        return " ".join((child.text_content or "").split())
    writer = _LayoutWriter()
    node, depth = child, 1
    while True:
        tag_id = node.tag_id
        if tag_id == _TEXT:
            writer.add_text(node.text_content or "")
        elif tag_id not in _SKIPPED:
            writer.add_element_edge(tag_id)
            inner = node.child
            if inner is not None:
                node, depth = inner, depth + 1
                continue
            writer.add_element_edge(tag_id)
        following = node.next
        while following is None and depth > 1:
            parent = node.parent
            assert parent is not None
            node, depth = parent, depth - 1
            writer.add_element_edge(node.tag_id)
            following = node.next
        if following is None:
            break
        node = following
    writer.add_element_edge(-1)
    return "".join(writer.chunks).strip()
