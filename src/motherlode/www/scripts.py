"""The `script` elements of a page that may hold data, as the page's own syntax reads them.

In HTML the content of a script is raw text. In XHTML it is XML: `&amp;` is an ampersand, and a CDATA section is its
content. HTML parsers read nearly all XHTML alike, so the XML tree is made only for scripts that it may read otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from lxml import etree

from motherlode.model import ContentKind
from motherlode.www.document import Document
from motherlode.www.xmltree import Element

_CDATA, _CDATA_END = "<![CDATA[", "]]>"


@dataclass(frozen=True, slots=True)
class Script:
    """A `script` element with a type."""

    content: str
    media_type: str
    """As it is written, with parameters."""
    identifier: str = ""
    """The `id` of the element, or ""."""


def find_scripts(document: Document, has_wanted_type: Callable[[str], bool]) -> list[Script]:
    """Return the scripts of a page whose type is wanted, in document order."""
    found = [
        Script(node.text(), node.attributes.get("type") or "", node.attributes.get("id") or "")
        for node in document.html.css("script[type]")
        if node.tag == "script" and has_wanted_type(node.attributes.get("type") or "")
    ]
    if document.kind is not ContentKind.XHTML or not any(_may_differ_in_xml(script.content) for script in found):
        return found
    tree = document.xml
    if tree.root is None or tree.error:  # then the page is read as HTML by every syntax
        return found
    nodes = [node for node in tree.root.iter("{*}script") if has_wanted_type(node.get("type") or "")]
    return list(_read_as_xml(nodes, found))


def _may_differ_in_xml(content: str) -> bool:
    """Whether XML may read a script otherwise: by a reference, or by an end tag inside a CDATA section."""
    return "&" in content or content.count(_CDATA) != content.count(_CDATA_END)


def _read_as_xml(nodes: list[Element], read_as_html: list[Script]) -> Iterator[Script]:
    for number, node in enumerate(nodes):
        content = _content(node)
        if content is None:  # tags in the script: its author took it for raw text
            content = read_as_html[number].content if len(nodes) == len(read_as_html) else ""
        yield Script(content, node.get("type"), node.get("id") or "")


def _content(node: Element) -> str | None:
    """Return the text of a script, comments included because pages hide scripts in them; None if it has elements."""
    parts = [node.text or ""]
    for child in node:
        if isinstance(child.tag, str):
            return None
        if child.tag is etree.Comment:
            parts.append(child.text or "")
        parts.append(child.tail or "")
    return "".join(parts)
