"""Serialization of the content of an element as a well-formed XML fragment (HTML+RDFa 1.1, section 3.4).

In HTML the namespace of an element depends on its ancestors, not on its `xmlns` attributes, so it is declared anew.
"""

import re
from collections.abc import Mapping
from html import escape
from typing import Any

import msgspec
from lxml import etree
from selectolax.lexbor import LexborNode

from motherlode.www.media_types import XHTML_NAMESPACE
from motherlode.www.xml import coerce_ncname, is_ncname, local_name

_SVG = "http://www.w3.org/2000/svg"
_MATHML = "http://www.w3.org/1998/Math/MathML"
_XLINK = "http://www.w3.org/1999/xlink"
_OPENED_BY = {"svg": _SVG, "math": _MATHML}
_HTML_INSIDE = {
    _SVG: frozenset({"foreignObject", "desc", "title"}),
    _MATHML: frozenset({"mi", "mo", "mn", "ms", "mtext"}),
}
"""Elements of other namespaces whose content is HTML (HTML, section 13.2.6)."""
_RESERVED = frozenset({"xml", "xmlns"})
_INVALID_CHARACTERS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_HYPHENS = re.compile(r"-(?=-|\Z)")


class _Scope(msgspec.Struct, frozen=True):
    """The namespaces in scope of the children of an element."""

    content: str
    """The namespace of child elements other than `svg` and `math`."""
    default: str
    """The namespace that is declared without a prefix; "" for the outermost elements."""
    prefixes: Mapping[str, str]


def serialize_fragment(node: LexborNode, declared: Mapping[str, str]) -> str:
    """Return the content of an element as XML, given the namespaces that are declared around it."""
    known = {prefix: iri for prefix, iri in declared.items() if _can_be_declared(prefix, iri)}
    outside = _Scope(_content_namespace(node), "", {})
    return "".join(_serialize(child, outside, known) for child in reversed(_reversed_children(node)))


def _serialize(top: LexborNode, outside: _Scope, declared: Mapping[str, str]) -> str:
    """Return a node as XML. It uses a stack instead of recursion because pages may be nested very deeply."""
    parts: list[str] = []
    stack: list[tuple[LexborNode, _Scope] | str] = [(top, outside)]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            parts.append(item)
            continue
        node, scope = item
        if node.is_text_node:
            parts.append(_escape_text(node.text_content or ""))
        elif node.is_comment_node:
            parts.append(_serialize_comment((node.html or "")[4:-3]))
        elif node.is_element_node:
            name, start, inside = _serialize_start_tag(node, scope, declared if node is top else {})
            children = _reversed_children(node)
            parts.append(f"<{name}{start}" + (">" if children else "/>"))
            if children:
                stack.append(f"</{name}>")
                stack.extend((child, inside) for child in children)
    return "".join(parts)


def _serialize_start_tag(node: LexborNode, scope: _Scope, declared: Mapping[str, str]) -> tuple[str, str, _Scope]:
    """Return the name of an element, its attributes and declarations, and the scope of its children."""
    tag = node.tag or ""
    namespace = _OPENED_BY.get(tag, scope.content)
    attributes = {name: value or "" for name, value in node.attributes.items()}
    new = {**declared, **_read_declarations(attributes)}
    has_xlink = namespace != XHTML_NAMESPACE and any(name.startswith("xlink:") for name in attributes)
    if has_xlink and scope.prefixes.get("xlink") != _XLINK:
        new["xlink"] = _XLINK
    prefixes = {**scope.prefixes, **new} if new else scope.prefixes
    written = "".join(
        f' {_qualified_name(name, prefixes)}="{_escape_text(value, quote=True)}"'
        for name, value in attributes.items()
        if name != "xmlns" and not name.startswith("xmlns:")
    )
    if namespace != scope.default:
        new[""] = namespace
    written += _serialize_declarations(new)
    return _qualified_name(tag, prefixes), written, _Scope(_child_namespace(tag, namespace), namespace, prefixes)


def _read_declarations(attributes: Mapping[str, str]) -> dict[str, str]:
    found = ((name.removeprefix("xmlns:"), iri) for name, iri in attributes.items() if name.startswith("xmlns:"))
    return {prefix: iri for prefix, iri in found if _can_be_declared(prefix, iri)}


def _can_be_declared(prefix: str, iri: str) -> bool:
    return bool(iri) and is_ncname(prefix) and prefix not in _RESERVED


def _content_namespace(node: LexborNode) -> str:
    """Return the namespace of the content of an element, which depends on its ancestors."""
    path: list[str] = []
    ancestor: LexborNode | None = node
    while ancestor is not None and (not path or path[-1] not in _OPENED_BY):
        path.append(ancestor.tag or "")
        ancestor = ancestor.parent
    content = XHTML_NAMESPACE
    for tag in reversed(path):
        content = _child_namespace(tag, _OPENED_BY.get(tag, content))
    return content


def _child_namespace(tag: str, namespace: str) -> str:
    return XHTML_NAMESPACE if tag in _HTML_INSIDE.get(namespace, ()) else namespace


def _qualified_name(name: str, prefixes: Mapping[str, str]) -> str:
    """Return a name unchanged if its prefix is declared, otherwise coerced to a name without a colon."""
    prefix, colon, local = name.partition(":")
    is_known = prefix == "xml" or prefix in prefixes
    return name if colon and is_known and is_ncname(local) else coerce_ncname(name)


def _escape_text(text: str, *, quote: bool = False) -> str:
    return escape(_INVALID_CHARACTERS.sub("\ufffd", text), quote=quote)


def _serialize_comment(text: str) -> str:
    """Return a comment without two hyphens in a row or one at its end, which XML does not allow."""
    text = _HYPHENS.sub("- ", _INVALID_CHARACTERS.sub("\ufffd", text))
    return f"<!--{text}-->"


def _reversed_children(node: LexborNode) -> list[LexborNode]:
    found: list[LexborNode] = []
    child = node.last_child
    while child is not None:
        found.append(child)
        child = child.prev
    return found


# XML documents

XML_ATTRIBUTES = {
    "{http://www.w3.org/XML/1998/namespace}lang": "xml:lang",
    "{http://www.w3.org/XML/1998/namespace}base": "xml:base",
}


def read_xml_text(node: Any) -> str:
    """Return the text content without comments, processing instructions and unresolved entities."""
    parts = []
    for event, item in etree.iterwalk(node, events=("start", "end", "comment", "pi")):
        if event == "start":
            parts.append(item.text if isinstance(item.tag, str) else "")
        elif item is not node:
            parts.append(item.tail)
    return "".join(filter(None, parts))


def serialize_xml_content(node: Any, namespaces: Mapping[str, str]) -> str:
    """Return an XML literal, which keeps the namespaces in scope (RDFa Core 1.1, section 7.5, step 11)."""
    parts = [escape(node.text or "", quote=False)]
    for child in node:
        if isinstance(child.tag, str):
            parts.extend(_serialize_xml(child, namespaces))
        else:
            parts.append(_serialize_other(child))
        parts.append(escape(child.tail or "", quote=False))
    return "".join(parts)


def _serialize_xml(top: Any, namespaces: Mapping[str, str]) -> list[str]:
    parts: list[str] = []
    declared = dict(namespaces)
    for event, item in etree.iterwalk(top, events=("start-ns", "start", "end", "comment", "pi")):
        if event == "start-ns":
            declared[item[0] or ""] = item[1] or ""
            continue
        if event in ("comment", "pi"):
            parts.append(_serialize_other(item))
        elif not isinstance(item.tag, str):  # an unresolved entity
            if event == "start":
                continue
        elif event == "start":
            end = ">" if len(item) or item.text else "/>"
            parts.append(f"<{_name(item)}{_serialize_attributes(item)}{_serialize_declarations(declared)}{end}")
            parts.append(escape(item.text or "", quote=False))
            declared = {}
            continue
        elif len(item) or item.text:
            parts.append(f"</{_name(item)}>")
        if item is not top:
            parts.append(escape(item.tail or "", quote=False))
    return parts


def _serialize_other(item: Any) -> str:
    """Return a comment or processing instruction; "" for an unresolved entity."""
    if item.tag is etree.Comment:
        return f"<!--{item.text or ''}-->"
    return f"<?{item.target} {item.text or ''}?>" if item.tag is etree.PI else ""


def _name(item: Any) -> str:
    return f"{item.prefix}:{local_name(item)}" if item.prefix else local_name(item)


def _serialize_attributes(item: Any) -> str:
    prefixes = {iri: prefix for prefix, iri in item.nsmap.items() if prefix} if item.attrib else {}
    parts = []
    for name, value in item.attrib.items():
        namespace, _, local = name[1:].rpartition("}") if name[0] == "{" else ("", "", name)
        prefix = XML_ATTRIBUTES[name].partition(":")[0] if name in XML_ATTRIBUTES else prefixes.get(namespace, "")
        parts.append(f' {prefix}{":" if prefix else ""}{local}="{escape(value)}"')
    return "".join(parts)


def _serialize_declarations(declared: Mapping[str, str]) -> str:
    return "".join(
        f' xmlns{":" if prefix else ""}{prefix}="{_escape_text(iri, quote=True)}"'
        for prefix, iri in sorted(declared.items())
    )
