"""A document: a body with its detected kind, and its text, HTML tree and XML tree, each created at most once."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from lxml import etree
from selectolax.lexbor import LexborDocumentOptions, LexborHTMLParser

from motherlode.model import ContentKind, Detected, Problem
from motherlode.www.html_limits import VOID_ELEMENTS, guarded
from motherlode.www.html_prefilter import Mark, marks_in
from motherlode.www.iri import check, repair_message, resolve_and_check
from motherlode.www.urls import parse
from motherlode.www.xml import Element, XmlTree, parse_xml

_EMPTY = re.compile(rb"<([A-Za-z][^\s/>\"']*+)((?:[^>\"'/]++|/(?!>)|\"[^\"]*+\"|'[^']*+')*+)/>")


def with_end_tags(markup: bytes) -> bytes:
    """Return the markup with an end tag for every element that is closed by a slash."""
    return _EMPTY.sub(_spelt_out, markup) if b"/>" in markup else markup


def _spelt_out(match: re.Match[bytes]) -> bytes:
    name, attributes = match[1], match[2]
    return match[0] if name.lower() in VOID_ELEMENTS else b"<" + name + attributes + b"></" + name + b">"


_SECTION = re.compile(
    rb"<(script|style)\b[^<>]*(?<!/)>.*?(?:</\1\s*>|\Z)|<!--.*?(?:-->|\Z)|<!\[CDATA\[(?:(.*?)\]\]>|.*)",
    re.DOTALL | re.IGNORECASE,
)


def with_text_of_sections(markup: bytes) -> bytes:
    """Return the markup of XHTML with its CDATA sections as text, except in scripts, style sheets and comments."""
    return _SECTION.sub(_as_text, markup) if b"<![CDATA[" in markup else markup


def _as_text(match: re.Match[bytes]) -> bytes:
    section = match[2]
    if section is None:
        return match[0]
    return section.replace(b"&", b"&amp;").replace(b"<", b"&lt;").replace(b">", b"&gt;")


_CDATA = re.compile(r"<!\[CDATA\[.*?\]\]>", re.DOTALL)
_UTF8_NAMES = frozenset({"utf-8", "utf8", "utf_8", "utf-8-sig", "utf_8_sig", "ascii", "us-ascii"})
_UTF8_MARK = b"\xef\xbb\xbf"
_WEB_SCHEMES = ("http://", "https://")
# With mutation events, the parser would copy the selected option of a select element, so its text would appear twice.
_PARSER_OPTIONS = int(LexborDocumentOptions.WO_EVENTS)


@dataclass(frozen=True, slots=True)
class Script:
    """A `script` element with a type."""

    content: str
    media_type: str
    """The value of the `type` attribute as written, with its parameters."""
    identifier: str = ""


class Document:
    """The input of transform and links. Both use the same trees."""

    def __init__(self, *, url: str, body: bytes, detected: Detected) -> None:
        self.url = url
        """The URL of the page. It is the base of relative references unless the content names another."""
        self.body = body
        self.kind: ContentKind = detected.kind
        self.charset = detected.charset
        self.problems: list[Problem] = []
        """Repairs that were needed to parse the body. Filled when it is parsed."""

    @cached_property
    def text(self) -> str:
        """The body as text. Bytes that are invalid in the charset become U+FFFD."""
        return self.body.decode(self.charset, errors="replace")

    @cached_property
    def marks(self) -> frozenset[Mark]:
        """The features that the page may have, from a scan of its bytes."""
        is_ascii_superset = not self.charset.startswith(("utf-16", "utf-32"))
        return marks_in(self.body if is_ascii_superset else self.text.encode(errors="replace"))

    @cached_property
    def html(self) -> LexborHTMLParser:
        """The HTML5 tree. UTF-8 is passed to the parser undecoded, because decoding would add a quarter to the time."""
        if self.charset.lower() in _UTF8_NAMES:
            markup = self.body.removeprefix(_UTF8_MARK)
        else:
            markup = self.text.encode(errors="replace")
        if self.kind is ContentKind.XHTML:
            markup = with_end_tags(with_text_of_sections(markup))  # text may look like an element
        markup, messages = guarded(markup)
        self.problems.extend(Problem(syntax=None, message=message, repaired=True) for message in messages)
        return LexborHTMLParser(markup, options=_PARSER_OPTIONS)

    @cached_property
    def xml(self) -> XmlTree:
        """The XML tree, repaired if the body is not well-formed."""
        return parse_xml(self.body, charset=self.charset, html_entities=self.kind is ContentKind.XHTML)

    @cached_property
    def base(self) -> str:
        """The base URL of links: that of the first `base` element, or the URL of the page."""
        if self._base_href is None:
            return self.url
        href = parse(self._base_href, self.url) or ""
        return href.partition("#")[0] if href.startswith(_WEB_SCHEMES) else self.url

    @cached_property
    def iri(self) -> str:
        """The IRI of the page: its URL, repaired if it has characters that are not allowed in an IRI."""
        return check(self.url).value

    @cached_property
    def iri_base(self) -> str:
        """The base IRI of references in statements: like `base`, but by the rules of `www.iri`."""
        if self._base_href is None:
            return self.iri
        iri = resolve_and_check(self.url, self._base_href)
        if not iri.is_valid or not iri.value.startswith(_WEB_SCHEMES):
            return self.base
        if iri.is_repaired:
            self.problems.append(Problem(syntax=None, message=f"base: {repair_message(iri)}", repaired=True))
        return iri.value.partition("#")[0]

    @cached_property
    def _base_href(self) -> str | None:
        element = self.html.css_first("base[href]") if Mark.BASE in self.marks else None
        return None if element is None else element.attributes.get("href") or ""

    def find_scripts(self, has_wanted_type: Callable[[str], bool]) -> list[Script]:
        """Return the scripts whose type is wanted, in document order. XHTML scripts are read as XML if that differs."""
        found = [
            Script(node.text(), node.attributes.get("type") or "", node.attributes.get("id") or "")
            for node in self.html.css("script[type]")
            if node.tag == "script" and has_wanted_type(node.attributes.get("type") or "")
        ]
        if self.kind is not ContentKind.XHTML or not any(_may_differ_in_xml(script.content) for script in found):
            return found
        tree = self.xml
        if tree.root is None or tree.error:  # then all extractors read the page as HTML
            return found
        nodes = [node for node in tree.root.iter("{*}script") if has_wanted_type(node.get("type") or "")]
        if len(nodes) != len(found):  # a CDATA section that contains script tags
            return [_read_as_xml(node, "") for node in nodes]
        pairs = zip(nodes, found, strict=True)
        return [_read_as_xml(node, it.content) if _may_differ_in_xml(it.content) else it for node, it in pairs]


def _may_differ_in_xml(content: str) -> bool:
    """Return whether XML may read a script differently from HTML.

    The reason is a character reference, or an end tag inside a CDATA section.
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
