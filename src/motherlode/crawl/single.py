"""One page without a crawl: what `motherlode extract` reads."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from motherlode import __version__
from motherlode.crawl.job import JobError
from motherlode.crawl.understanding import understand
from motherlode.detect import detect
from motherlode.fetch import HttpFetcher, HttpOptions
from motherlode.frontier import MAX_REDIRECTS
from motherlode.model import (
    DOCUMENT_SYNTAXES,
    Extraction,
    Facts,
    FailureKind,
    Page,
    Problem,
    Request,
    Statement,
    Syntax,
)
from motherlode.transform import TransformOptions
from motherlode.transform.blank import BlankNames
from motherlode.transform.documents import read
from motherlode.www.media import MEDIA
from motherlode.www.urls import canonical

_SECONDS_A_SYNTAX = 60.0
"""More patient than a crawl: somebody is waiting for this one page."""


_HEAD = 1 << 20
"""RDF documents longer than this are read as a stream."""
_PIECE = 20_000
"""Statements that are held at a time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A body, or the file that holds it, with what is known from outside."""

    url: str
    content_type: str = ""
    body: bytes = b""
    path: Path | None = None


async def fetch_source(url: str, *, base: str | None, media_type: str, allow: tuple[str, ...]) -> Source:
    """Fetch one page by its address, redirects followed."""
    address = canonical(url)
    if address is None:
        raise JobError(f"{url!r} is not an http or https URL")
    fetcher = HttpFetcher(HttpOptions(user_agent=f"Motherlode/{__version__}", allow=allow))
    try:
        for _ in range(MAX_REDIRECTS + 1):
            fetched = await fetcher.fetch(Request(url=address))
            if isinstance(fetched, Page):
                content_type = media_type or fetched.content_type
                return Source(url=base or fetched.url, content_type=content_type, body=fetched.body)
            if fetched.kind is not FailureKind.REDIRECT:
                raise JobError(f"{address} could not be fetched: {fetched.kind.value}, {fetched.detail}")
            address = fetched.location
        raise JobError(f"{url} leads through more than {MAX_REDIRECTS} redirects")
    finally:
        await fetcher.close()


def read_source(source: Source, syntaxes: frozenset[Syntax] | None) -> Iterator[Facts]:
    """The facts of a source; of a large RDF document piece by piece, so that it need not fit into memory."""
    options = TransformOptions(syntaxes=syntaxes, seconds=_SECONDS_A_SYNTAX, statements=10_000_000)
    if source.path is None:
        yield understand(source.body, url=source.url, content_type=source.content_type, options=options)[1]
        return
    try:
        with source.path.open("rb") as file:
            head = file.read(_HEAD)
            detected = detect(head, url=source.path.as_posix(), content_type=source.content_type)
            syntax = MEDIA[detected.kind].syntax
            file.seek(0)
            if syntax in DOCUMENT_SYNTAXES and len(head) == _HEAD and (syntaxes is None or syntax in syntaxes):
                yield from _in_pieces(file, syntax, source.url, detected.charset)
            else:
                yield understand(file.read(), url=source.url, content_type=source.content_type, options=options)[1]
    except OSError as error:
        raise JobError(f"{source.path} cannot be read: {error.strerror}") from error


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
