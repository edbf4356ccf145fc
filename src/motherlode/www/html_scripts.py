"""The `script` elements of a page that may contain data.

In HTML the content of a script is raw text. In XHTML it is XML: `&amp;` is an ampersand, and CDATA sections are
resolved. An HTML parser reads nearly all XHTML scripts alike, so the XML tree is built only if a script may differ.
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
    """As written, with parameters."""
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
    if tree.root is None or tree.error:  # then all extractors read the page as HTML
        return found
    nodes = [node for node in tree.root.iter("{*}script") if has_wanted_type(node.get("type") or "")]
    if len(nodes) != len(found):  # a CDATA section that contains script tags
        return [_read_as_xml(node, "") for node in nodes]
    pairs = zip(nodes, found, strict=True)
    return [_read_as_xml(node, it.content) if _may_differ_in_xml(it.content) else it for node, it in pairs]


def _may_differ_in_xml(content: str) -> bool:
    """Return whether a script may differ in XML: because of a reference, or an end tag inside a CDATA section.

    >>> _may_differ_in_xml("a &amp; b"), _may_differ_in_xml("//<![CDATA[ a & b //]]>"), _may_differ_in_xml("<![CDATA[")
    (True, False, True)
    """
    rest = _CDATA.sub("", content) if "<![CDATA[" in content else content
    return "&" in rest or "<![CDATA[" in rest


def _read_as_xml(node: Element, raw: str) -> Script:
    """Return a script as parsed by XML. If it contains tags, use `raw`, because the author meant them as text."""
    parts = [node.text or ""]
    for child in node:
        if isinstance(child.tag, str):
            parts = [raw]
            break
        if child.tag is etree.Comment:  # pages hide scripts in comments
            parts.append(child.text or "")
        parts.append(child.tail or "")
    return Script("".join(parts), node.get("type") or "", node.get("id") or "")
