"""One page without a crawl: what `motherlode extract` reads. `fetching` gets it where it has an address."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import BinaryIO

from motherlode.crawl.errors import JobError
from motherlode.crawl.readings import MOST_CONTEXTS, Supplies
from motherlode.crawl.understanding import understand
from motherlode.detect import detect
from motherlode.model import (
    DOCUMENT_SYNTAXES,
    ContentKind,
    Extraction,
    Facts,
    Problem,
    Statement,
    Syntax,
)
from motherlode.transform import TransformOptions
from motherlode.transform.blank import BlankNames
from motherlode.transform.documents import read
from motherlode.www.media import MEDIA, by_extension, by_media_type

_SECONDS_A_SYNTAX = 60.0
"""More patient than a crawl: somebody is waiting for this one page."""


_HEAD = 1 << 20
"""RDF documents longer than this are read as a stream."""
_PIECE = 20_000
"""Statements that are held at a time."""
_MAY_BE_EMPTY = frozenset(
    {ContentKind.TURTLE, ContentKind.TRIG, ContentKind.N_TRIPLES, ContentKind.N_QUADS, ContentKind.N3}
)
"""Nothing at all is a document in these, with no statements in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A body, or the file that holds it, with what is known from outside."""

    url: str
    content_type: str = ""
    body: bytes = b""
    path: Path | None = None
    contexts: tuple[str, ...] = ()
    """JSON-LD contexts that the headers of the answer name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Facts of a source, and the kind of content that it was found to be."""

    kind: ContentKind
    facts: Facts


GetContexts = Callable[[Sequence[str]], Mapping[str, bytes]]
"""From the URLs of JSON-LD contexts to those contexts that can be had."""


def read_source(
    source: Source,
    syntaxes: frozenset[Syntax] | None,
    get_contexts: GetContexts | None = None,
    *,
    strict_jsonld: bool = False,
) -> Iterator[Part]:
    """The facts of a source; of a large RDF document piece by piece, so that it need not fit into memory."""
    options = TransformOptions(
        syntaxes=syntaxes, strict_jsonld=strict_jsonld, seconds=_SECONDS_A_SYNTAX, statements=10_000_000
    )
    if source.path is None:
        yield _whole(source, source.body, source.url, options, get_contexts)
        return
    named = _name_for_detection(source.path, source.url)
    try:
        with source.path.open("rb") as file:
            head = file.read(_HEAD)
            detected = detect(head, url=named, content_type=source.content_type)
            syntax = MEDIA[detected.kind].syntax
            file.seek(0)
            if syntax in DOCUMENT_SYNTAXES and len(head) == _HEAD and (syntaxes is None or syntax in syntaxes):
                for facts in _in_pieces(file, syntax, source.url, detected.charset):
                    yield Part(kind=detected.kind, facts=facts)
            else:
                yield _whole(source, file.read(), named, options, get_contexts)
    except OSError as error:
        raise JobError(f"{source.path} cannot be read: {error.strerror}") from error


def _whole(
    source: Source, body: bytes, named: str, options: TransformOptions, get_contexts: GetContexts | None
) -> Part:
    understand_with = partial(
        understand,
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
        understood = understand_with(supplies=Supplies(contexts=contexts))
    kind = understood.document.kind
    if kind is ContentKind.EMPTY:
        said_to_be = by_media_type(source.content_type) or by_extension(named)
        kind = said_to_be if said_to_be in _MAY_BE_EMPTY else kind
    return Part(kind=kind, facts=understood.facts)


def _wanted(facts: Facts, asked: Mapping[str, object]) -> list[str]:
    """The contexts that are missing and were not asked for, as many as one page may have."""
    wanted = {url for extraction in facts.extractions for url in extraction.wanted}
    return sorted(wanted - asked.keys())[: MOST_CONTEXTS - len(asked)]


def _name_for_detection(path: Path, url: str) -> str:
    """The name whose extension may tell what the content is: that of the file, whatever page it is said to be."""
    own = path.absolute().as_uri()
    return url if by_extension(own) is None else own


def _in_pieces(file: BinaryIO, syntax: Syntax, url: str, charset: str) -> Iterator[Facts]:
    statements: list[Statement] = []
    problems: list[Problem] = []
    for found in read(file, syntax=syntax, base=url, names=BlankNames(url, syntax), charset=charset):
        if isinstance(found, Problem):
            problems.append(found)
        else:
            statements.append(found)
        if len(statements) + len(problems) >= _PIECE:
            yield _facts(syntax, statements, problems)
            statements, problems = [], []
    yield _facts(syntax, statements, problems)


def _facts(syntax: Syntax, statements: list[Statement], problems: list[Problem]) -> Facts:
    return Facts(extractions=(Extraction(syntax=syntax, statements=tuple(statements), problems=tuple(problems)),))
