"""The stylesheets that fit a document, found, applied, and what they write read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any

import pyoxigraph as ox

from motherlode.model import ContentKind, Extraction, Problem, Statement, Syntax
from motherlode.transform.blank import BlankNames
from motherlode.transform.options import TransformOptions
from motherlode.transform.xslt import engine
from motherlode.transform.xslt.grddl import Wanted, wanted_by_html, wanted_by_xml
from motherlode.transform.xslt.results import read_rdf
from motherlode.transform.xslt.sandbox import SANDBOX, Made
from motherlode.transform.xslt.xhtml import to_xhtml
from motherlode.www.ampersands import escaped_ampersands
from motherlode.www.document import Document
from motherlode.www.marks import Mark
from motherlode.www.media import MEDIA, XHTML_NAMESPACE

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
            self._record(faults, mended=root is not None)
        else:
            root, tree = engine.read_start(mended, self._document.url), None
            self._record([("a bare & was read as &amp;", None, None)] if mended != body else (), mended=True)
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
                self._record(made.faults, mended=not made.failure)
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
            most_bytes=self._options.made_bytes,
        )

    def _record(self, faults: Iterable[engine.Located], *, mended: bool) -> None:
        self.problems += [
            Problem(syntax=self._syntax, message=message, line=line, column=column, mended=mended)
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
