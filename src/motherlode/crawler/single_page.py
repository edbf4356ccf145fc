"""One page without a crawl: what `motherlode extract` reads. `fetching` gets it where it has an address."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import BinaryIO, cast

from motherlode import __version__
from motherlode.crawler.bounded_input import (
    DEFAULT_MAX_BYTES,
    BoundedInput,
    InputError,
    InputLimits,
    open_input,
    too_long,
)
from motherlode.crawler.config.errors import JobError
from motherlode.crawler.engine.robots_and_dns import PoliteFetcher, TellWait
from motherlode.crawler.parsing.messages import MOST_CONTEXTS, SubrequestResults
from motherlode.crawler.parsing.page_parser import parse_document
from motherlode.detect import detect
from motherlode.fetch import HttpFetcher, HttpLimits, HttpOptions, RobotsRules
from motherlode.frontier import MAX_REDIRECTS, Frontier, MemoryStorage, Politeness
from motherlode.links import context_links
from motherlode.model import (
    DOCUMENT_SYNTAXES,
    ContentKind,
    Extraction,
    FailureKind,
    Page,
    Problem,
    Request,
    Statement,
    Syntax,
    TransformResult,
)
from motherlode.policies import policy_from
from motherlode.transform import TransformOptions
from motherlode.transform.bnodes import BlankNames
from motherlode.transform.plugin_registry import installed_transformers, transformable_types
from motherlode.transform.rdf_documents import find_label_mismatch, read
from motherlode.www.media_types import MEDIA, by_extension, by_media_type
from motherlode.www.urls import canonical

_SECONDS_A_SYNTAX = 60.0
"""More patient than a crawl: somebody is waiting for this one page."""


_HEAD = 1 << 20
"""RDF documents longer than this are read as a stream."""
_PIECE = 20_000
"""Statements that are held at a time."""
_PIECE_CHARACTERS = 1 << 22
"""Characters of their objects, likewise."""
_MAY_BE_EMPTY = frozenset(
    {ContentKind.TURTLE, ContentKind.TRIG, ContentKind.N_TRIPLES, ContentKind.N_QUADS, ContentKind.N3}
)
"""Nothing at all is a document in these, with no statements in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InputSource:
    """A body, or the file that holds it, with what is known from outside."""

    url: str
    content_type: str = ""
    body: bytes = b""
    path: Path | None = None
    descriptor: int | None = None
    """An open file in the place of `path`: that of stdin."""
    contexts: tuple[str, ...] = ()
    """JSON-LD contexts that the headers of the answer name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentPart:
    """Facts of a source, and the kind of content that it was found to be."""

    kind: ContentKind
    facts: TransformResult


GetContexts = Callable[[Sequence[str]], Mapping[str, bytes]]
"""From the URLs of JSON-LD contexts to those contexts that can be had."""


def read_source(
    source: InputSource,
    syntaxes: frozenset[Syntax] | None,
    get_contexts: GetContexts | None = None,
    limits: InputLimits = InputLimits(),  # noqa: B008 - it is frozen
    *,
    strict_jsonld: bool = False,
) -> Iterator[DocumentPart]:
    """Yield the facts of a source; of a large RDF document piece by piece, so that it need not fit into memory.

    Raises InputError if the source cannot be read or passes a limit. What was read of a large document comes before.
    """
    options = TransformOptions(
        syntaxes=syntaxes, strict_jsonld=strict_jsonld, seconds=_SECONDS_A_SYNTAX, statements=10_000_000
    )
    named = source.url if source.path is None else _name_for_detection(source.path, source.url)
    try:
        with _opened(source, limits) as stream:
            head = stream.read_fully(_HEAD)
            detected = detect(head, url=named, content_type=source.content_type)
            syntax = MEDIA[detected.kind].syntax
            if syntax in DOCUMENT_SYNTAXES and len(head) == _HEAD and (syntaxes is None or syntax in syntaxes):
                if (problem := find_label_mismatch(detected.kind, source.content_type, named)) is not None:
                    yield DocumentPart(kind=detected.kind, facts=TransformResult(problems=(problem,)))
                for facts in _in_pieces(_Rejoined(head, stream), syntax, source.url, detected.charset):
                    yield DocumentPart(kind=detected.kind, facts=facts)
            elif (
                detected.kind is ContentKind.BINARY and not installed_transformers()
            ):  # the rest would be read for nothing
                yield _whole(source, head, named, options, get_contexts)
            else:
                yield _whole(source, stream.read_rest(head), named, options, get_contexts)
    except OSError as error:
        raise InputError(f"{_name(source)} cannot be read: {error.strerror}") from error


@contextmanager
def _opened(source: InputSource, limits: InputLimits) -> Iterator[BoundedInput | _Body]:
    if source.path is not None:
        with open_input(source.path, limits) as stream:
            yield stream
    elif source.descriptor is not None:
        yield BoundedInput(source.descriptor, name=_name(source), limits=limits)
    else:
        if len(source.body) > limits.max_bytes:
            raise too_long(_name(source), limits.max_bytes)
        yield _Body(source.body)


def _name(source: InputSource) -> str:
    """Return what errors call a source."""
    if source.descriptor is not None:
        return "stdin"
    return source.url if source.path is None else str(source.path)


class _Body:
    """A body in memory with the methods of `BoundedInput`."""

    def __init__(self, body: bytes) -> None:
        self._body = body
        self._stream = io.BytesIO(body)

    def read(self, size: int) -> bytes:
        return self._stream.read(size)

    def read_fully(self, size: int) -> bytes:
        return self._stream.read(size)

    def read_rest(self, _head: bytes) -> bytes:
        return self._body


class _Rejoined:
    """A stream whose first bytes were read before."""

    def __init__(self, head: bytes, stream: BoundedInput | _Body) -> None:
        self._head = io.BytesIO(head)
        self._stream = stream

    def read(self, size: int) -> bytes:
        return self._head.read(size) or self._stream.read(size)


def _whole(
    source: InputSource, body: bytes, named: str, options: TransformOptions, get_contexts: GetContexts | None
) -> DocumentPart:
    understand_with = partial(
        parse_document,
        body,
        url=source.url,
        content_type=source.content_type,
        options=options,
        contexts=source.contexts,
        named=named,
    )
    understood = understand_with()
    asked: dict[str, bytes | None] = {}
    while get_contexts and (wanted := _wanted(understood.facts, asked)):  # a context may want others in its turn
        asked |= {**dict.fromkeys(wanted), **get_contexts(wanted)}
        contexts = {url: context for url, context in asked.items() if context is not None}
        understood = understand_with(supplies=SubrequestResults(contexts=contexts))
    kind = understood.document.kind
    if kind is ContentKind.EMPTY:
        said_to_be = by_media_type(source.content_type) or by_extension(named)
        kind = said_to_be if said_to_be in _MAY_BE_EMPTY else kind
    return DocumentPart(kind=kind, facts=understood.facts)


def _wanted(facts: TransformResult, asked: Mapping[str, object]) -> list[str]:
    """The contexts that are missing and were not asked for, as many as one page may have."""
    wanted = {url for extraction in facts.extractions for url in extraction.wanted}
    return sorted(wanted - asked.keys())[: MOST_CONTEXTS - len(asked)]


def _name_for_detection(path: Path, url: str) -> str:
    """The name whose extension may tell what the content is: that of the file, whatever page it is said to be."""
    own = path.absolute().as_uri()
    return url if by_extension(own) is None else own


def _in_pieces(stream: _Rejoined, syntax: Syntax, url: str, charset: str) -> Iterator[TransformResult]:
    statements: list[Statement] = []
    problems: list[Problem] = []
    characters = 0
    file = cast(BinaryIO, stream)  # of which only `read` is used
    try:
        for found in read(file, syntax=syntax, base=url, names=BlankNames(url, syntax), charset=charset):
            if isinstance(found, Problem):
                problems.append(found)
            else:
                statements.append(found)
                characters += len(found[2])
            if len(statements) + len(problems) >= _PIECE or characters >= _PIECE_CHARACTERS:
                yield _facts(syntax, statements, problems)
                statements, problems, characters = [], [], 0
    except (InputError, OSError):
        yield _facts(syntax, statements, problems)
        raise
    yield _facts(syntax, statements, problems)


def _facts(syntax: Syntax, statements: list[Statement], problems: list[Problem]) -> TransformResult:
    return TransformResult(
        extractions=(Extraction(syntax=syntax, statements=tuple(statements), problems=tuple(problems)),)
    )


# ── Single pages by their addresses, without a crawl, and as gently as in one.

_MAX_CONTEXT_BYTES = 10 << 20


class PageFetcher:
    """Fetches pages, and what they need to be read. Each request passes the clocks and rules of a crawl.

    A frontier that knows no URL keeps the clocks and the rules of whoever is asked.
    """

    def __init__(
        self,
        *,
        allow: tuple[str, ...],
        delay: float = 1.0,
        tell_wait: TellWait = lambda host, seconds: None,
        max_bytes: int = DEFAULT_MAX_BYTES,
    ) -> None:
        useful = transformable_types(TransformOptions())
        limits = HttpLimits(body=max_bytes)
        http = HttpFetcher(
            HttpOptions(user_agent=f"Motherlode/{__version__}", limits=limits, allow=allow, useful=useful)
        )
        self._max_bytes = max_bytes
        frontier = Frontier(
            storage=MemoryStorage(),
            policy=policy_from("bfs"),
            scope=lambda url: "",
            read_rules=RobotsRules,
            politeness=Politeness(delay=delay, by_address=True, adaptive=True),
        )
        self._fetcher = PoliteFetcher(frontier, http, resolve=http.resolve, tell_wait=tell_wait)

    async def page(self, url: str, *, base: str | None = None, media_type: str = "") -> InputSource:
        """A page by its address, redirects followed; what its sender says of it goes behind what is given."""
        address = canonical(url)
        if address is None:
            raise JobError(f"{url!r} is not an http or https URL")
        asked: set[str] = set()
        while address not in asked and len(asked) <= MAX_REDIRECTS:
            asked.add(address)
            fetched = await self._fetcher.fetch(Request(url=address))
            if isinstance(fetched, Page):
                if fetched.truncated and len(fetched.body) >= self._max_bytes:
                    raise too_long(address, self._max_bytes)
                return _source(fetched, base=base, media_type=media_type)
            if fetched.kind is FailureKind.ROBOTS:
                raise JobError(f"{address} may not be fetched: {fetched.detail}")
            if fetched.kind is not FailureKind.REDIRECT:
                raise JobError(f"{address} could not be fetched: {fetched.kind.value}, {fetched.detail}")
            address = fetched.location
        where = "in a circle" if address in asked else f"through more than {MAX_REDIRECTS} redirects"
        raise JobError(f"{url} leads {where}")

    async def contexts(self, urls: Iterable[str]) -> dict[str, bytes]:
        """Those JSON-LD contexts that can be had; a page may be longer than any of them."""
        found = {url: await self._fetcher.context(url) for url in urls}
        return {url: body for url, body in found.items() if body is not None and len(body) <= _MAX_CONTEXT_BYTES}

    async def close(self) -> None:
        await self._fetcher.close()


def _source(page: Page, *, base: str | None, media_type: str) -> InputSource:
    return InputSource(
        url=base or page.url,
        content_type=media_type or page.content_type,
        body=page.body,
        contexts=context_links(page.headers, page_url=page.url),
    )
