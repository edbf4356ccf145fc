"""The extractor as a spider middleware: it yields each thing that a page describes as an item."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pyoxigraph
from scrapy.crawler import Crawler
from scrapy.http import Response

from motherlode.crawler.parsing.page_parser import parse_document
from motherlode.integrations.scrapy.result_middleware import page_body, response_headers
from motherlode.links.headers import context_links
from motherlode.model import TransformResult
from motherlode.model.terms import RDF_TYPE
from motherlode.policies.targets import ntriples
from motherlode.transform import TransformOptions

_TYPE = RDF_TYPE.strip("<>")


@dataclass(slots=True, kw_only=True)
class Thing:
    """A thing that a page describes, with at least one type."""

    url: str
    """The URL of the page."""
    id: str
    """The IRI of the thing, or a blank node such as `_:b0`, which has a meaning only among the things of one page."""
    types: list[str] = field(default_factory=list)
    """The IRIs of its classes."""
    properties: dict[str, list[str]] = field(default_factory=dict)
    """The values of each property: texts, and IRIs or blank nodes of other things."""


class StructuredDataMiddleware:
    """Yields a `Thing` for each typed thing of a page, in any syntax, after what the spider yields.

    It needs no other part of Motherlode. Pages with an error status, which the spider does not see, yield nothing.
    """

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> StructuredDataMiddleware:
        return cls()

    def process_spider_output(self, response: Response, result: Iterable[Any]) -> Iterator[Any]:
        yield from result
        yield from read_things(response)

    async def process_spider_output_async(self, response: Response, result: AsyncIterator[Any]) -> AsyncIterator[Any]:
        async for found in result:
            yield found
        for thing in read_things(response):
            yield thing


def read_things(response: Response) -> Iterator[Thing]:
    """Yield the typed things of a response, in the order of their identifiers."""
    headers = response_headers(response)
    page = page_body(response, headers)
    parsed = parse_document(
        page.body,
        url=page.url,
        content_type=page.content_type,
        options=TransformOptions(),
        contexts=context_links(page.headers, page_url=page.url) if page.headers else (),
    )
    yield from things(parsed.result, response.url)


def things(result: TransformResult, url: str) -> Iterator[Thing]:
    """Yield the typed things in the statements of a page."""
    found: dict[str, Thing] = {}
    for triple in pyoxigraph.parse(ntriples(result), pyoxigraph.RdfFormat.N_TRIPLES, lenient=True):
        if isinstance(triple.subject, pyoxigraph.Triple) or isinstance(triple.object, pyoxigraph.Triple):
            continue
        name = _text(triple.subject)
        thing = found.setdefault(name, Thing(url=url, id=name))
        if triple.predicate.value == _TYPE:
            thing.types.append(_text(triple.object))
        else:
            thing.properties.setdefault(triple.predicate.value, []).append(_text(triple.object))
    return (thing for thing in found.values() if thing.types)


def _text(term: pyoxigraph.NamedNode | pyoxigraph.BlankNode | pyoxigraph.Literal) -> str:
    value: str = term.value
    return f"_:{value}" if isinstance(term, pyoxigraph.BlankNode) else value
