"""What is inside an element of HTML as a fragment of XML, well-formed with its namespaces (HTML+RDFa 1.1, section 3.4).

HTML knows the namespaces of its elements by where they stand, and may write whatever it likes about them. So they are
worked out and declared afresh: on each outermost element, together with all that the document declares around it, and
inside wherever they change.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import escape

import msgspec
from selectolax.lexbor import LexborNode

from motherlode.www.xml_names import coerce_ncname, is_ncname

_XHTML = "http://www.w3.org/1999/xhtml"
_SVG = "http://www.w3.org/2000/svg"
_MATHML = "http://www.w3.org/1998/Math/MathML"
_XLINK = "http://www.w3.org/1999/xlink"
_OPENED_BY = {"svg": _SVG, "math": _MATHML}
_HTML_INSIDE = {
    _SVG: frozenset({"foreignObject", "desc", "title"}),
    _MATHML: frozenset({"mi", "mo", "mn", "ms", "mtext"}),
}
"""Elements of other namespaces whose content is HTML again (HTML, section 13.2.6)."""
_RESERVED = frozenset({"xml", "xmlns"})
_NO_CHARACTER = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_HYPHENS = re.compile(r"-(?=-|\Z)")


class _Scope(msgspec.Struct, frozen=True):
    """What holds for the children of an element."""

    content: str
    """The namespace of children that open none of their own."""
    default: str
    """The namespace that is declared without a prefix; "" outside of the fragment."""
    prefixes: Mapping[str, str]


def fragment(node: LexborNode, declared: Mapping[str, str]) -> str:
    """The markup inside an element, with the namespaces that are `declared` around it."""
    known = {prefix: iri for prefix, iri in declared.items() if _can_be_declared(prefix, iri)}
    outside = _Scope(_namespace_inside(node), "", {})
    return "".join(_serialized(child, outside, known) for child in reversed(_children(node)))


def _serialized(top: LexborNode, outside: _Scope, declared: Mapping[str, str]) -> str:
    """A node as XML. A stack instead of recursion: pages nest as they like."""
    parts: list[str] = []
    waiting: list[tuple[LexborNode, _Scope] | str] = [(top, outside)]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            parts.append(item)
            continue
        node, scope = item
        if node.is_text_node:
            parts.append(_text(node.text_content or ""))
        elif node.is_comment_node:
            parts.append(_comment((node.html or "")[4:-3]))
        elif node.is_element_node:
            name, start, inside = _start_tag(node, scope, declared if node is top else {})
            children = _children(node)
            parts.append(f"<{name}{start}" + (">" if children else "/>"))
            if children:
                waiting.append(f"</{name}>")
                waiting.extend((child, inside) for child in children)
    return "".join(parts)


def _start_tag(node: LexborNode, scope: _Scope, declared: Mapping[str, str]) -> tuple[str, str, _Scope]:
    """The name of an element, all that follows it in its start tag, and what holds inside."""
    tag = node.tag or ""
    namespace = _namespace(tag, scope.content)
    attributes = {name: value or "" for name, value in node.attributes.items()}
    new = {**declared, **_own_declarations(attributes)}
    if namespace != _XHTML and scope.prefixes.get("xlink") != _XLINK and any(map(_is_xlink, attributes)):
        new["xlink"] = _XLINK
    prefixes = {**scope.prefixes, **new} if new else scope.prefixes
    spelt = "".join(
        f' {_name(name, prefixes)}="{_text(value, quote=True)}"'
        for name, value in attributes.items()
        if name != "xmlns" and not name.startswith("xmlns:")
    )
    if namespace != scope.default:
        new[""] = namespace
    for prefix, iri in sorted(new.items()):
        spelt += f' xmlns{":" if prefix else ""}{prefix}="{_text(iri, quote=True)}"'
    return _name(tag, prefixes), spelt, _Scope(_content(tag, namespace), namespace, prefixes)


def _own_declarations(attributes: Mapping[str, str]) -> dict[str, str]:
    found = ((name.removeprefix("xmlns:"), iri) for name, iri in attributes.items() if name.startswith("xmlns:"))
    return {prefix: iri for prefix, iri in found if _can_be_declared(prefix, iri)}


def _can_be_declared(prefix: str, iri: str) -> bool:
    return bool(iri) and is_ncname(prefix) and prefix not in _RESERVED


def _is_xlink(name: str) -> bool:
    return name.startswith("xlink:")


def _namespace_inside(node: LexborNode) -> str:
    """The namespace of what stands in an element, by the elements around it."""
    path: list[str] = []
    climbed: LexborNode | None = node
    while climbed is not None and (not path or path[-1] not in _OPENED_BY):
        path.append(climbed.tag or "")
        climbed = climbed.parent
    content = _XHTML
    for tag in reversed(path):
        content = _content(tag, _namespace(tag, content))
    return content


def _namespace(tag: str, around: str) -> str:
    return _OPENED_BY.get(tag, around)


def _content(tag: str, namespace: str) -> str:
    return _XHTML if tag in _HTML_INSIDE.get(namespace, ()) else namespace


def _name(name: str, prefixes: Mapping[str, str]) -> str:
    """A name with a prefix that is declared stays as it is; others may have no colon."""
    prefix, colon, local = name.partition(":")
    is_known = prefix == "xml" or prefix in prefixes
    return name if colon and is_known and is_ncname(local) else coerce_ncname(name)


def _text(text: str, *, quote: bool = False) -> str:
    return escape(_NO_CHARACTER.sub("\ufffd", text), quote=quote)


def _comment(text: str) -> str:
    """XML has no two hyphens in a comment, nor one at its end."""
    text = _HYPHENS.sub("- ", _NO_CHARACTER.sub("\ufffd", text))
    return f"<!--{text}-->"


def _children(node: LexborNode) -> list[LexborNode]:
    """The children of a node, the last one first."""
    found: list[LexborNode] = []
    child = node.last_child
    while child is not None:
        found.append(child)
        child = child.prev
    return found
