"""The `script` elements of a page that may hold data, as the page's own syntax reads them.

In HTML the content of a script is raw text. In XHTML it is XML: `&amp;` is an ampersand, and a CDATA section is its
content. HTML parsers read nearly all XHTML alike, so the XML tree is made only for scripts that it may read otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from lxml import etree

from motherlode.model import ContentKind
from motherlode.www.document import Document
from motherlode.www.xml import Element

_CDATA = re.compile(r"<!\[CDATA\[.*?\]\]>", re.DOTALL)


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
    if len(nodes) != len(found):  # a CDATA section with tags of scripts in it
        return [_read_as_xml(node, "") for node in nodes]
    pairs = zip(nodes, found, strict=True)
    return [_read_as_xml(node, it.content) if _may_differ_in_xml(it.content) else it for node, it in pairs]


def _may_differ_in_xml(content: str) -> bool:
    """Whether XML may read a script otherwise: by a reference, or by an end tag inside a CDATA section.

    >>> _may_differ_in_xml("a &amp; b"), _may_differ_in_xml("//<![CDATA[ a & b //]]>"), _may_differ_in_xml("<![CDATA[")
    (True, False, True)
    """
    rest = _CDATA.sub("", content) if "<![CDATA[" in content else content
    return "&" in rest or "<![CDATA[" in rest


def _read_as_xml(node: Element, raw: str) -> Script:
    """Return a script as XML reads it; with its raw text if there are tags in it, which its author took for text."""
    parts = [node.text or ""]
    for child in node:
        if isinstance(child.tag, str):
            parts = [raw]
            break
        if child.tag is etree.Comment:  # pages hide scripts in comments
            parts.append(child.text or "")
        parts.append(child.tail or "")
    return Script("".join(parts), node.get("type") or "", node.get("id") or "")
