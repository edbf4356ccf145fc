"""Which transformations a document asks for (GRDDL, W3C Recommendation of 2007, sections 2 to 5).

They are never fetched: the user's allow-list says which stylesheet stands for which address.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from html import escape
from importlib.resources import files
from typing import Any

import pyoxigraph as ox
from selectolax.lexbor import LexborNode

from motherlode.model import ContentKind, Extraction, Problem, Statement, Syntax
from motherlode.transform.bnodes import BlankNames
from motherlode.transform.options import TransformOptions
from motherlode.transform.xslt import xslt_engine as engine
from motherlode.transform.xslt.rdf_results import read_rdf
from motherlode.transform.xslt.sandbox import SANDBOX, Made
from motherlode.www.document import Document
from motherlode.www.html_prefilter import Mark
from motherlode.www.iri import resolve
from motherlode.www.media_types import MEDIA, XHTML_NAMESPACE
from motherlode.www.xml import escaped_ampersands

DATA_VIEW = "http://www.w3.org/2003/g/data-view"
_ATTRIBUTE = f"{{{DATA_VIEW}#}}transformation"
_MOST = 10
"""Transformations of one document."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """The transformations that a document names: those on the allow-list, and the rest."""

    allowed: tuple[tuple[str, bytes], ...] = ()
    """Address and stylesheet."""
    refused: tuple[str, ...] = ()


def wanted_by_xml(root: Any, namespace: str, base: str, allowed: Mapping[str, bytes]) -> Wanted:
    """From the root element's data-view:transformation attribute (section 2) and its namespace (section 3)."""
    named = [resolve(root.base or base, one) for one in (root.get(_ATTRIBUTE) or "").split()]
    return _sort(named, [namespace] if namespace else [], allowed)


def wanted_by_html(document: Document, base: str, allowed: Mapping[str, bytes]) -> Wanted:
    """From rel=transformation links, which count under the GRDDL profile (section 4), and from other profiles (5)."""
    head = document.html.css_first("head[profile]")
    profiles = (head.attributes.get("profile") or "").split() if head is not None else []
    named = []
    if DATA_VIEW in profiles:
        for node in document.html.css('link[rel~="transformation"][href],a[rel~="transformation"][href]'):
            named.append(resolve(base, (node.attributes["href"] or "").strip()))
    return _sort(named, [resolve(base, profile) for profile in profiles if profile != DATA_VIEW], allowed)


def _sort(for_label: list[str], known: list[str], allowed: Mapping[str, bytes]) -> Wanted:
    """A namespace or profile that is not on the list asked for nothing; a transformation that is not was refused."""
    found = list(dict.fromkeys([*for_label, *(one for one in known if one in allowed)]))[:_MOST]
    return Wanted(
        allowed=tuple((one, allowed[one]) for one in found if one in allowed),
        refused=tuple(one for one in found if one not in allowed),
    )


# ── HTML as well-formed XHTML, for stylesheets: MultiCrawler's repair step (section 3.3), done by the HTML5 parser.

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


# ── The stylesheets that fit a document, found, applied, and what they write read.

FEEDS = {ContentKind.RSS: "rss", ContentKind.ATOM: "atom"}
_LARGE = 2_000_000
"""Bytes from which on even our own stylesheets run in the sandbox."""
_SHARE = 0.8
"""Of the time of a syntax, what stylesheets may take; the rest is for reading what they wrote."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """A stylesheet that is about to be applied."""

    name: str
    xslt: bytes
    is_ours: bool = False


@lru_cache(maxsize=8)
def builtin(name: str) -> bytes:
    """One of our own stylesheets: `rss`, `atom`, or `xhtml`, which is only used where a user asks for it."""
    return files(__package__).joinpath("sheets", f"{name}.xsl").read_bytes()


def fault_in(xslt: bytes) -> str:
    """What is wrong with a stylesheet, or ""; for whoever reads it from the user's configuration."""
    try:
        engine.compile_sheet(xslt)
    except ValueError as error:
        return str(error)
    return ""


def wants(document: Document, options: TransformOptions) -> bool:
    """Whether some stylesheet may fit the document; costs at most a byte search."""
    if document.kind in FEEDS:
        return True
    if not options.stylesheets and not options.transformations and Mark.DATA_VIEW not in document.marks:
        return False
    return MEDIA[document.kind].is_html or MEDIA[document.kind].is_xml


def extract(document: Document, names: BlankNames, options: TransformOptions) -> Extraction:
    """What the stylesheets that fit a document make of it."""
    syntax = Syntax.FEED if document.kind in FEEDS else Syntax.GRDDL
    if not wants(document, options):
        return Extraction(syntax=syntax)
    job = _Job(document, names, options, syntax)
    if MEDIA[document.kind].is_html:
        job.transform_html()
    else:
        job.transform_xml()
    return Extraction(syntax=syntax, statements=tuple(job.statements), problems=tuple(job.problems))


class _Job:
    """One document on its way through its stylesheets."""

    def __init__(self, document: Document, names: BlankNames, options: TransformOptions, syntax: Syntax) -> None:
        self.statements: dict[Statement, None] = {}
        self.problems: list[Problem] = []
        self._document = document
        self._names = names
        self._options = options
        self._syntax = syntax

    def transform_xml(self) -> None:
        body = _xml_bytes(self._document)
        mended = escaped_ampersands(body)
        if len(body) < _LARGE:
            root, faults = engine.read_xml(body, self._document.url)
            if mended != body:  # the parser would have left out what follows
                root, _ = engine.read_xml(mended, self._document.url)
            tree = root
            self._record(faults, repaired=root is not None)
        else:
            root, tree = engine.read_start(mended, self._document.url), None
            self._record([("a bare & was read as &amp;", None, None)] if mended != body else (), repaired=True)
        body = mended
        if root is None:
            if tree is None and not self.problems:
                self._problem("there is no XML")
            return
        namespace, name = engine.qualified(root)
        wanted = wanted_by_xml(root, namespace, self._document.url, self._options.transformations)
        own = FEEDS.get(self._document.kind)
        self._apply(self._sheets(namespace, name, wanted, own), body, tree)

    def transform_html(self) -> None:
        wanted = wanted_by_html(self._document, self._document.url, self._options.transformations)
        sheets = self._sheets(XHTML_NAMESPACE, "html", wanted, None)
        if sheets:
            self._apply(sheets, to_xhtml(self._document), None)

    def _sheets(self, namespace: str, root: str, wanted: Wanted, own: str | None) -> list[Sheet]:
        """The user's first that fits, or else our own; and those that the document names."""
        for address in wanted.refused:
            message = f"the transformation {address[:300]} is not on the allow-list"
            self.problems.append(Problem(syntax=self._syntax, message=message))
        found = [Sheet(name=address, xslt=xslt) for address, xslt in wanted.allowed]
        chosen = next((sheet for sheet in self._options.stylesheets if sheet.fits(namespace, root)), None)
        if chosen is not None:
            found.append(Sheet(name=chosen.name, xslt=chosen.xslt))
        elif own is not None:
            found.append(Sheet(name=own, xslt=builtin(own), is_ours=True))
        return found

    def _apply(self, sheets: Sequence[Sheet], body: bytes, tree: Any) -> None:
        """Applies stylesheets to a document, which has been read already where `tree` is not None."""
        for sheet in sheets:
            made = self._run(sheet, body, tree, self._options.seconds * _SHARE / len(sheets))
            if tree is None:
                self._record(made.faults, repaired=not made.failure)
            if made.failure:
                self._problem(f"{sheet.name}: {made.failure}")
                continue
            found = read_rdf(
                made.body,
                ox.RdfFormat.TURTLE if made.is_text else ox.RdfFormat.RDF_XML,
                base=self._document.url,
                names=self._names,
                syntax=self._syntax,
                most=self._options.statements,
            )
            self.statements.update(dict.fromkeys(found.statements))
            self.problems += found.problems

    def _run(self, sheet: Sheet, body: bytes, tree: Any, seconds: float) -> Made:
        if sheet.is_ours and tree is not None:
            try:
                kind, made = engine.apply_sheet(_compiled(sheet.name), tree, self._document.url)
            except ValueError as error:
                return Made(failure=str(error))
            return Made(body=made, is_text=kind == engine.TEXT)
        return SANDBOX.apply(
            sheet.xslt,
            body,
            self._document.url,
            seconds=seconds,
            most_bytes=self._options.max_output_bytes,
        )

    def _record(self, faults: Iterable[engine.Located], *, repaired: bool) -> None:
        self.problems += [
            Problem(syntax=self._syntax, message=message, line=line, column=column, repaired=repaired)
            for message, line, column in faults
        ]

    def _problem(self, message: str) -> None:
        self.problems.append(Problem(syntax=self._syntax, message=message))


def _xml_bytes(document: Document) -> bytes:
    """The body in an encoding that the XML parser will find out by itself."""
    if document.charset.lower() in ("utf-8", "ascii", "us-ascii") or b"encoding" in document.body[:200]:
        return document.body
    return document.text.encode(errors="replace")


@lru_cache(maxsize=8)
def _compiled(name: str) -> Any:
    return engine.compile_sheet(builtin(name))
