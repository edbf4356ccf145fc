"""`extract`: the structured data of one document in memory, and its result."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import pyoxigraph as ox

from motherlode.api.items import read_items
from motherlode.api.jsonld import build_jsonld
from motherlode.crawler.parsing.page_parser import ParseResult, parse_document
from motherlode.index.page_record import parse_quads
from motherlode.links.collect import collect_links
from motherlode.model import Link, Problem, Syntax, TransformResult
from motherlode.model.terms import iri, page_iri
from motherlode.transform import TransformOptions

DEFAULT_URL = "urn:motherlode:document"
"""URL of a document whose URL is not given. Relative references in it cannot be resolved."""

Node = ox.NamedNode | ox.BlankNode
Term = Node | ox.Literal | ox.Triple


class Quad(NamedTuple):
    """A statement and the graph it belongs to, with the terms of pyoxigraph. `pyoxigraph.Quad(*quad)` converts it."""

    subject: Node | ox.Triple
    predicate: ox.NamedNode
    object: Term
    graph: Node


class ExtractedPage:
    """The structured data and the links of one document."""

    def __init__(self, parsed: ParseResult, *, syntaxes: frozenset[Syntax] | None = None) -> None:
        self._parsed = parsed
        self._syntaxes = syntaxes

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.url} {self.kind}: {len(self.quads)} quads, {len(self.problems)} problems>"

    @property
    def url(self) -> str:
        """The URL of the document. It names the graph of its statements."""
        return self._parsed.document.url

    @property
    def kind(self) -> str:
        """The detected kind of content: html, turtle, jsonld and so on."""
        return self._parsed.document.kind.value

    @cached_property
    def quads(self) -> Sequence[Quad]:
        """All distinct statements, with the graph that the document names, or else that of the page."""
        return tuple(Quad(*quad) for quad in parse_quads(nquads(self._parsed.result, self.url).encode()))

    @property
    def problems(self) -> Sequence[Problem]:
        """Errors of the document and repairs of broken input. The statements that could be read are kept."""
        return self._parsed.result.all_problems()

    @property
    def links(self) -> Sequence[Link]:
        """The links of markup and statements that a crawl would follow, each URL once."""
        return self._parsed.links

    def items(self) -> dict[str, list[dict[str, Any]]]:
        """Return the items by syntax as dicts, as extruct gives them with uniform=True: @context, @type, properties.

        An RDF document has one entry, whose items are node objects of expanded JSON-LD.
        """
        return read_items(self._parsed.document, self._parsed.result, self._syntaxes)

    def jsonld(self) -> dict[str, Any]:
        """Return one JSON-LD document of all statements: nodes merged by IRI, nested, and compacted.

        >>> body = '<p itemscope itemtype="http://schema.org/Person"><b itemprop="name">Ada</b>'
        >>> extract(body).jsonld()
        {'@context': 'https://schema.org', '@type': 'Person', 'name': 'Ada'}
        """
        return build_jsonld(it for found in self._parsed.result.extractions for it in found.statements)[0]


def extract(
    body: bytes | str, *, url: str = DEFAULT_URL, content_type: str = "", syntaxes: Iterable[str] | None = None
) -> ExtractedPage:
    """Return the structured data of a document: HTML with JSON-LD, Microdata, RDFa or microformats, or any RDF syntax.

    The content itself shows its kind. `content_type` is the Content-Type header of the response, if there was one.
    `url` is the base of relative references. `syntaxes` limits the work to some syntaxes, such as `["jsonld"]`.
    Broken input raises no exception: what could be read is in `quads`, and what could not is in `problems`. A relative
    `url` raises ValueError.

    >>> page = extract('<p vocab="http://schema.org/" typeof="Person"><b property="name">Ada</b>', url="http://a.example/")
    >>> [str(quad.object) for quad in page.quads if quad.predicate.value == "http://schema.org/name"]
    ['"Ada"']
    """
    if iri(page_iri(url)[1:-1]) is None:  # a URL with spaces is repaired
        raise ValueError(f"url {url!r} is not a URL: give the whole URL of the page, as in https://example.org/page")
    if isinstance(body, str):
        body, content_type = body.encode(errors="replace"), _with_utf8(content_type)
    elif not isinstance(body, bytes):
        raise TypeError(f"the body must be bytes or str, not {type(body).__name__}")
    options = TransformOptions(syntaxes=None if syntaxes is None else frozenset(map(_parse_syntax, syntaxes)))
    parsed = parse_document(body, url=url, content_type=content_type, options=options, collect_links=collect_links)
    return ExtractedPage(parsed, syntaxes=options.syntaxes)


def _parse_syntax(name: str) -> Syntax:
    try:
        return Syntax(name)
    except ValueError:
        known = ", ".join(syntax.value for syntax in Syntax)
        raise ValueError(f"unknown syntax {name!r}; known: {known}") from None


def _with_utf8(content_type: str) -> str:
    """Return a Content-Type header that declares UTF-8, whatever the header of the response declared."""
    return f"{content_type.partition(';')[0].strip()}; charset=utf-8"


def nquads(result: TransformResult, url: str) -> str:
    """Return the distinct statements of a page as N-Quads."""
    page = page_iri(url)
    lines = {
        f"{subject} {predicate} {object_} {graph or page} .\n": None
        for extraction in result.extractions
        for subject, predicate, object_, graph in extraction.statements
    }
    return "".join(lines)
