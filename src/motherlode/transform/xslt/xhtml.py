"""HTML as well-formed XHTML, for stylesheets: MultiCrawler's repair step (section 3.3), done by the HTML5 parser."""

from __future__ import annotations

import re
from html import escape

from selectolax.lexbor import LexborNode

from motherlode.www.document import Document
from motherlode.www.iri import resolve
from motherlode.www.media import XHTML_NAMESPACE

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9._-]*")
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_DEEPEST = 200
"""The XML parser takes no more than 256 levels. Elements further down are written as if they stood at this one."""


def to_xhtml(document: Document) -> bytes:
    """A page as XHTML: names that XML does not know are left out, and so are comments, scripts and styles.

    >>> from motherlode.model import ContentKind, Detected, Evidence
    >>> detected = Detected(kind=ContentKind.HTML, evidence=Evidence.CONTENT)
    >>> to_xhtml(Document(url="http://e.org/", body=b"<p @x=1 id=a>b&amp;<br>", detected=detected))[43:]
    b'<head></head><body><p id="a">b&amp;<br></br></p></body></html>'
    """
    parts: list[str] = []
    root = document.html.root
    if root is not None:
        _write(root, document.url, parts)
    return "".join(parts).encode(errors="replace")


def _write(root: LexborNode, url: str, parts: list[str]) -> None:
    """Walks the tree without recursion, for it may be very deep."""
    open_tags: list[str] = []
    node: LexborNode | None = root
    first = root.mem_id
    while node is not None:
        tag = node.tag or ""
        inside = None
        if tag == "-text":
            parts.append(_text(node.text_content or ""))
        elif node.is_element_node:
            attributes = node.attributes
            if tag == "base" and attributes.get("href"):  # no stylesheet can resolve it against the page's own address
                attributes["href"] = resolve(url, (attributes["href"] or "").strip())
            open_tags.append(_start(tag, attributes, len(open_tags), parts))
            inside = node.child if tag not in ("script", "style") else None
            if inside is None:
                parts.append(open_tags.pop())
        if inside is not None:
            node = inside
            continue
        while node is not None and (node.mem_id == first or node.next is None):
            if node.mem_id == first:
                return
            node = node.parent
            parts.append(open_tags.pop())
        node = node.next if node is not None else None


def _start(tag: str, attributes: dict[str, str | None], depth: int, parts: list[str]) -> str:
    """Writes a start tag; gives the end tag that it wants, or "" where the element is left out."""
    if depth >= _DEEPEST or not _NAME.fullmatch(tag):
        return ""
    written = [
        f' {name}="{_text(value or "")}"'
        for name, value in attributes.items()
        if _NAME.fullmatch(name) and name != "xmlns"
    ]
    namespace = f' xmlns="{XHTML_NAMESPACE}"' if depth == 0 else ""
    parts.append(f"<{tag}{namespace}{''.join(written)}>")
    return f"</{tag}>"


def _text(text: str) -> str:
    return escape(_NOT_XML.sub("", text))
