"""Stylesheets: which ones match a document, how they are applied, and how HTML becomes XHTML for them.

A document can name transformations by GRDDL (W3C Recommendation of 2007, sections 2 to 5). They are never fetched: the
user's allow-list maps their URLs to stylesheets.
"""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from html import escape
from importlib.resources import files
from typing import Any, NamedTuple

import pyoxigraph as ox
from selectolax.lexbor import LexborNode

from motherlode.model import ContentKind, Extraction, Problem, Statement, Syntax
from motherlode.transform.bnodes import BlankNames
from motherlode.transform.options import TransformOptions
from motherlode.transform.xslt import xslt_engine as engine
from motherlode.transform.xslt.rdf_results import read_rdf
from motherlode.transform.xslt.sandbox import SANDBOX, StylesheetOutput
from motherlode.www.document import Document
from motherlode.www.html_prefilter import Mark
from motherlode.www.iri import resolve
from motherlode.www.media_types import MEDIA, XHTML_NAMESPACE
from motherlode.www.xml import repair_ampersands

# Transformations by GRDDL

DATA_VIEW = "http://www.w3.org/2003/g/data-view"
_ATTRIBUTE = f"{{{DATA_VIEW}#}}transformation"
_MAX_TRANSFORMATIONS = 10

NamedAndImplied = tuple[list[str], list[str]]
"""URLs of the transformations that a document names, and of namespaces or profiles that may imply a transformation."""


def find_in_xml(root: Any, namespace: str, base: str) -> NamedAndImplied:
    """Find the GRDDL transformations of an XML document.

    They are named by the root element's attribute `data-view:transformation` (GRDDL, section 2), or implied by the root
    element's namespace (section 3).
    """
    named = [resolve(root.base or base, one) for one in (root.get(_ATTRIBUTE) or "").split()]
    return named, [namespace] if namespace else []


def find_in_html(document: Document) -> NamedAndImplied:
    """Find the GRDDL transformations of an HTML document.

    If `head` has the GRDDL profile, they are named by links with rel=transformation (GRDDL, section 4). Any other
    profile may imply a transformation (section 5).
    """
    head = document.html.css_first("head[profile]")
    profiles = (head.attributes.get("profile") or "").split() if head is not None else []
    named = []
    if DATA_VIEW in profiles:
        for node in document.html.css('link[rel~="transformation"][href],a[rel~="transformation"][href]'):
            named.append(resolve(document.url, (node.attributes["href"] or "").strip()))
    return named, [resolve(document.url, profile) for profile in profiles if profile != DATA_VIEW]


# HTML as XHTML: MultiCrawler's repair step (section 3.3), done by the HTML5 parser

_ASCII_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9._-]*")
_NOT_XML = "[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"
"""Pattern of characters that XML does not allow. It is compiled at its first use, because that takes 3 ms."""
_MAX_DEPTH = 200
"""Maximum number of levels of elements. The tags of deeper elements are left out, because the XML parser accepts only
256 levels."""


def to_xhtml(document: Document) -> bytes:
    """Return a page as well-formed XHTML without comments, scripts, styles and names that XML does not allow.

    >>> from motherlode.model import ContentKind, Detected, DetectionEvidence
    >>> detected = Detected(kind=ContentKind.HTML, evidence=DetectionEvidence.CONTENT)
    >>> to_xhtml(Document(url="http://e.org/", body=b"<p @x=1 id=a>b&amp;<br>", detected=detected))[43:]
    b'<head></head><body><p id="a">b&amp;<br></br></p></body></html>'
    """
    parts: list[str] = []
    root = document.html.root
    if root is not None:
        _serialize(root, document.url, parts)
    return "".join(parts).encode(errors="replace")


def _serialize(root: LexborNode, url: str, parts: list[str]) -> None:
    """Append the markup of a tree to `parts`. There is no recursion because the tree may be very deep."""
    open_tags: list[str] = []
    node: LexborNode | None = root
    first = root.mem_id
    while node is not None:
        tag = node.tag or ""
        inside = None
        if tag == "-text":
            parts.append(_escape_text(node.text_content or ""))
        elif node.is_element_node:
            attributes = node.attributes
            if tag == "base" and attributes.get("href"):  # XSLT 1.0 has no function to resolve a reference
                attributes["href"] = resolve(url, (attributes["href"] or "").strip())
            open_tags.append(_add_start_tag(tag, attributes, len(open_tags), parts))
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


def _add_start_tag(tag: str, attributes: dict[str, str | None], depth: int, parts: list[str]) -> str:
    """Append a start tag to `parts`; return its end tag, or "" if the tags of the element are left out."""
    if depth >= _MAX_DEPTH or not _ASCII_NAME.fullmatch(tag):
        return ""
    written = [
        f' {name}="{_escape_text(value or "")}"'
        for name, value in attributes.items()
        if _ASCII_NAME.fullmatch(name) and name != "xmlns"
    ]
    namespace = f' xmlns="{XHTML_NAMESPACE}"' if depth == 0 else ""
    parts.append(f"<{tag}{namespace}{''.join(written)}>")
    return f"</{tag}>"


def _escape_text(text: str) -> str:
    return escape(re.sub(_NOT_XML, "", text))


# Application of stylesheets

FEEDS = {ContentKind.RSS: "rss", ContentKind.ATOM: "atom"}
"""The built-in stylesheet of each kind of feed."""
_MIN_SANDBOX_BYTES = 2_000_000
"""Documents of this size use the sandbox even for built-in stylesheets."""
_STYLESHEET_SHARE = 0.8
"""Share of the time limit for stylesheets. The remaining time is for parsing their output."""


class ChosenSheet(NamedTuple):
    """A stylesheet to apply to a document."""

    name: str
    xslt: bytes
    is_builtin: bool = False


@lru_cache(maxsize=8)
def builtin(name: str) -> bytes:
    """Return a built-in stylesheet: `rss`, `atom`, or `xhtml`, which is applied only if the job file names it."""
    return files(__package__).joinpath("sheets", f"{name}.xsl").read_bytes()


def fault_in(xslt: bytes) -> str:
    """Return the error of a stylesheet, or "". The reader of the configuration reports it."""
    try:
        engine.compile_sheet(xslt)
    except ValueError as error:
        return str(error)
    return ""


def wants(document: Document, options: TransformOptions) -> bool:
    """Whether a stylesheet may match the document. The check costs at most a search for bytes."""
    if document.kind in FEEDS:
        return True
    if not options.stylesheets and not options.transformations and Mark.DATA_VIEW not in document.marks:
        return False
    return MEDIA[document.kind].is_html or MEDIA[document.kind].is_xml


def extract(document: Document, names: BlankNames, options: TransformOptions) -> Extraction:
    """Extract statements by applying the stylesheets that match a document."""
    syntax = Syntax.FEED if document.kind in FEEDS else Syntax.GRDDL
    if not wants(document, options):
        return Extraction(syntax=syntax)
    transformation = _Transformation(document, names, options, syntax)
    if MEDIA[document.kind].is_html:
        transformation.run_html()
    else:
        transformation.run_xml()
    return Extraction(
        syntax=syntax, statements=tuple(transformation.statements), problems=tuple(transformation.problems)
    )


class _Transformation:
    """Applies the matching stylesheets to one document."""

    def __init__(self, document: Document, names: BlankNames, options: TransformOptions, syntax: Syntax) -> None:
        self.statements: dict[Statement, None] = {}
        self.problems: list[Problem] = []
        self._document = document
        self._names = names
        self._options = options
        self._syntax = syntax

    def run_xml(self) -> None:
        """Transform a document that is XML. Its ampersands are repaired, because the parser would drop text."""
        body = _xml_bytes(self._document)
        repaired = repair_ampersands(body)
        if len(body) < _MIN_SANDBOX_BYTES:
            root, faults = engine.read_xml(body, self._document.url)
            if repaired != body:
                root, _ = engine.read_xml(repaired, self._document.url)
            tree = root
            self._report(faults, repaired=root is not None)
        else:
            root, tree = engine.read_root(repaired, self._document.url), None
            self._report([("a bare & was read as &amp;", None, None)] if repaired != body else (), repaired=True)
        if root is None:
            if tree is None and not self.problems:
                self._report([("the document is not XML", None, None)])
            return
        namespace, name = engine.split_name(root)
        found = find_in_xml(root, namespace, self._document.url)
        self._apply(self._choose_sheets(namespace, name, found), repaired, tree)

    def run_html(self) -> None:
        """Transform a document that is HTML."""
        sheets = self._choose_sheets(XHTML_NAMESPACE, "html", find_in_html(self._document))
        if sheets:
            self._apply(sheets, to_xhtml(self._document), None)

    def _choose_sheets(self, namespace: str, root: str, transformations: NamedAndImplied) -> list[ChosenSheet]:
        """Return the stylesheets of the allowed transformations, and one more: the user's first that fits, or ours."""
        named, implied = transformations
        allowed = self._options.transformations
        urls = list(dict.fromkeys([*named, *(one for one in implied if one in allowed)]))[:_MAX_TRANSFORMATIONS]
        refused = [f"the transformation {url[:300]} is not on the allow-list" for url in urls if url not in allowed]
        self._report((message, None, None) for message in refused)
        found = [ChosenSheet(url, allowed[url]) for url in urls if url in allowed]
        chosen = next((sheet for sheet in self._options.stylesheets if sheet.fits(namespace, root)), None)
        feed = FEEDS.get(self._document.kind)
        if chosen is not None:
            found.append(ChosenSheet(chosen.name, chosen.xslt))
        elif feed is not None:
            found.append(ChosenSheet(feed, builtin(feed), is_builtin=True))
        return found

    def _apply(self, sheets: Sequence[ChosenSheet], body: bytes, tree: Any) -> None:
        """Apply stylesheets to a document. `tree` is its root element if it was parsed in this process."""
        for sheet in sheets:
            output = self._apply_sheet(sheet, body, tree, self._options.seconds * _STYLESHEET_SHARE / len(sheets))
            if tree is None:
                self._report(output.faults, repaired=not output.failure)
            if output.failure:
                self._report([(f"{sheet.name}: {output.failure}", None, None)])
                continue
            found = read_rdf(
                output.body,
                ox.RdfFormat.TURTLE if output.is_text else ox.RdfFormat.RDF_XML,
                base=self._document.url,
                names=self._names,
                syntax=self._syntax,
                most=self._options.statements,
            )
            self.statements.update(dict.fromkeys(found.statements))
            self.problems += found.problems

    def _apply_sheet(self, sheet: ChosenSheet, body: bytes, tree: Any, seconds: float) -> StylesheetOutput:
        """Apply a built-in stylesheet to the tree, if there is one; otherwise use the sandbox."""
        if sheet.is_builtin and tree is not None:
            try:
                kind, written = engine.apply_sheet(_compile_builtin(sheet.name), tree, self._document.url)
            except ValueError as error:
                return StylesheetOutput(failure=str(error))
            return StylesheetOutput(body=written, is_text=kind == engine.TEXT)
        most_bytes = self._options.max_output_bytes
        return SANDBOX.apply(sheet.xslt, body, self._document.url, seconds=seconds, most_bytes=most_bytes)

    def _report(self, faults: Iterable[engine.Fault], *, repaired: bool = False) -> None:
        self.problems += [
            Problem(syntax=self._syntax, message=message, line=line, column=column, repaired=repaired)
            for message, line, column in faults
        ]


def _xml_bytes(document: Document) -> bytes:
    """Return the body in an encoding that the XML parser detects."""
    if document.charset.lower() in ("utf-8", "ascii", "us-ascii") or b"encoding" in document.body[:200]:
        return document.body
    return document.text.encode(errors="replace")


@lru_cache(maxsize=8)
def _compile_builtin(name: str) -> Any:
    return engine.compile_sheet(builtin(name))
