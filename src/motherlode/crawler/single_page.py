"""Statements of one page without a crawl, for `motherlode extract`.

`read_source` parses a file, stdin or a body. `BoundedInput` limits the length of files, pipes and devices, and the wait
for their bytes. `page_fetcher` fetches a page by its URL.
"""

from __future__ import annotations

import io
import os
import select
import stat
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from math import ceil
from pathlib import Path
from typing import BinaryIO, cast

from motherlode.crawler.config.values import JobError, format_size
from motherlode.crawler.parsing.messages import MAX_CONTEXTS, SubrequestResults
from motherlode.crawler.parsing.page_parser import parse_document
from motherlode.detect import detect
from motherlode.model import (
    DOCUMENT_SYNTAXES,
    ContentKind,
    Extraction,
    Problem,
    Statement,
    Syntax,
    TransformResult,
)
from motherlode.transform import TransformOptions
from motherlode.transform.bnodes import BlankNames
from motherlode.transform.options import installed_transformers
from motherlode.transform.rdf_documents import find_label_mismatch, read
from motherlode.www.document import Document
from motherlode.www.media_types import MEDIA, by_extension, by_media_type

DEFAULT_MAX_BYTES = 10**9
DEFAULT_TIMEOUT_SECONDS = 60.0
_CHUNK_BYTES = 1 << 20
_MAX_POLL_MS = 2**31 - 1


class InputError(JobError):
    """The input is too long, does not arrive, or cannot be read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InputLimits:
    """How much input is read, and how long to wait for it."""

    max_bytes: int = DEFAULT_MAX_BYTES
    timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS
    """Maximum seconds to wait for the next bytes of a pipe or a device. It does not apply to files and terminals."""


class BoundedInput:
    """An open file, pipe or device that raises InputError if a limit is exceeded."""

    def __init__(self, descriptor: int, *, name: str, limits: InputLimits) -> None:
        self._descriptor = descriptor
        self._name = name
        self._limits = limits
        self._bytes_read = 0
        status = os.fstat(descriptor)
        is_regular = stat.S_ISREG(status.st_mode)
        self._may_wait = not is_regular and not os.isatty(descriptor)
        if is_regular and status.st_size - _offset(descriptor) > limits.max_bytes:
            raise too_long(name, limits.max_bytes)

    def read(self, size: int) -> bytes:
        """Return up to `size` bytes as soon as there are some, and none at the end."""
        if size <= 0:
            return b""
        allowed = self._limits.max_bytes - self._bytes_read
        chunk = self._next(min(size, allowed + 1))  # one more, to see whether the input ends at the limit
        if len(chunk) > allowed:
            raise too_long(self._name, self._limits.max_bytes)
        self._bytes_read += len(chunk)
        return chunk

    def read_fully(self, size: int) -> bytes:
        """Return `size` bytes, or fewer if the input ends before."""
        buffer = io.BytesIO()
        while chunk := self.read(min(size - buffer.tell(), _CHUNK_BYTES)):
            buffer.write(chunk)
        return buffer.getvalue()

    def read_rest(self, head: bytes) -> bytes:
        """Return the whole input, whose first bytes were read before."""
        buffer = io.BytesIO()  # unlike b"".join it needs no second copy at the end
        buffer.write(head)
        while chunk := self.read(_CHUNK_BYTES):
            buffer.write(chunk)
        return buffer.getvalue()

    def _next(self, size: int) -> bytes:
        due = time.monotonic() + self._limits.timeout_seconds
        while True:
            if self._may_wait and not _is_ready(self._descriptor, due - time.monotonic()):
                raise self._no_bytes()
            try:
                return os.read(self._descriptor, size)
            except BlockingIOError:  # another process took the bytes, or the descriptor cannot be polled
                if time.monotonic() >= due:
                    raise self._no_bytes() from None

    def _no_bytes(self) -> InputError:
        seconds = f"{self._limits.timeout_seconds:g} s"
        return InputError(f"no bytes arrived from {self._name} for {seconds}: use --timeout for a longer wait")


@contextmanager
def open_input(path: Path, limits: InputLimits) -> Iterator[BoundedInput]:
    """Open a file, a FIFO or a device for reading, without waiting for the writer of a FIFO."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        yield BoundedInput(descriptor, name=str(path), limits=limits)
    finally:
        os.close(descriptor)


def too_long(name: str, max_bytes: int) -> InputError:
    return InputError(f"{name} is longer than {format_size(max_bytes)}: use --max-bytes for a larger limit")


def _offset(descriptor: int) -> int:
    """Return the current offset in a regular file. Stdin may be a file of which a part was read before."""
    return os.lseek(descriptor, 0, os.SEEK_CUR)


def _is_ready(descriptor: int, seconds: float) -> bool:
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(min(ceil(max(seconds, 0) * 1000), _MAX_POLL_MS)))


_SYNTAX_TIMEOUT_SECONDS = 60.0
"""Timeout of one syntax. It is longer than in a crawl, because the user waits for this page."""
_HEAD_BYTES = 1 << 20
"""RDF documents that are longer are parsed as a stream."""
_MAX_PART_STATEMENTS = 20_000
"""Maximum number of statements in one part of a streamed document."""
_MAX_PART_CHARACTERS = 1 << 22
"""Maximum number of characters in the objects of one part."""
_KINDS_THAT_MAY_BE_EMPTY = frozenset(
    {ContentKind.TURTLE, ContentKind.TRIG, ContentKind.N_TRIPLES, ContentKind.N_QUADS, ContentKind.N3}
)
"""Kinds of content in which an empty body is a valid document without statements."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InputSource:
    """A body, or the file that contains it, with its URL and media type."""

    url: str
    content_type: str = ""
    body: bytes = b""
    path: Path | None = None
    descriptor: int | None = None
    """Descriptor of an open file instead of `path`, used for stdin."""
    contexts: tuple[str, ...] = ()
    """URLs of the JSON-LD contexts in the response headers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentPart:
    """Statements of a source or of a part of it, with the detected kind of its content."""

    kind: ContentKind
    result: TransformResult
    document: Document | None = None
    """The whole document; None for a part of a stream."""


GetContexts = Callable[[Sequence[str]], Mapping[str, bytes]]
"""Function from URLs of JSON-LD contexts to the contexts that could be fetched."""


def read_source(
    source: InputSource,
    syntaxes: frozenset[Syntax] | None,
    get_contexts: GetContexts | None = None,
    limits: InputLimits = InputLimits(),  # noqa: B008 - it is frozen
    *,
    strict_jsonld: bool = False,
) -> Iterator[DocumentPart]:
    """Yield the statements of a source. A large RDF document is parsed in parts, so that it need not fit into memory.

    Raise InputError if the source cannot be read or exceeds a limit, after the statements before the error.
    """
    options = TransformOptions(
        syntaxes=syntaxes, strict_jsonld=strict_jsonld, seconds=_SYNTAX_TIMEOUT_SECONDS, statements=10_000_000
    )
    named = source.url if source.path is None else _name_for_detection(source.path, source.url)
    try:
        with _open_source(source, limits) as stream:
            head = stream.read_fully(_HEAD_BYTES)
            detected = detect(head, url=named, content_type=source.content_type)
            syntax = MEDIA[detected.kind].syntax
            if syntax in DOCUMENT_SYNTAXES and len(head) == _HEAD_BYTES and (syntaxes is None or syntax in syntaxes):
                if (problem := find_label_mismatch(detected.kind, source.content_type, named)) is not None:
                    yield DocumentPart(kind=detected.kind, result=TransformResult(problems=(problem,)))
                for result in _parse_in_parts(_RejoinedStream(head, stream), syntax, source.url, detected.charset):
                    yield DocumentPart(kind=detected.kind, result=result)
            elif detected.kind is ContentKind.BINARY and not installed_transformers():  # the rest is not needed
                yield _parse_whole(source, head, named, options, get_contexts)
            else:
                yield _parse_whole(source, stream.read_rest(head), named, options, get_contexts)
    except OSError as error:
        raise InputError(f"{_describe_source(source)} cannot be read: {error.strerror}") from error


@contextmanager
def _open_source(source: InputSource, limits: InputLimits) -> Iterator[BoundedInput | _MemoryInput]:
    name = _describe_source(source)
    if source.path is not None:
        with open_input(source.path, limits) as stream:
            yield stream
    elif source.descriptor is not None:
        yield BoundedInput(source.descriptor, name=name, limits=limits)
    elif len(source.body) > limits.max_bytes:
        raise too_long(name, limits.max_bytes)
    else:
        yield _MemoryInput(source.body)


def _describe_source(source: InputSource) -> str:
    if source.descriptor is not None:
        return "stdin"
    return source.url if source.path is None else str(source.path)


class _MemoryInput(io.BytesIO):
    """A body in memory with the read methods of `BoundedInput`."""

    def read_fully(self, size: int) -> bytes:
        return self.read(size)

    def read_rest(self, _head: bytes) -> bytes:
        return self.getvalue()


class _RejoinedStream:
    """A stream that starts with bytes that were read from it before."""

    def __init__(self, head: bytes, stream: BoundedInput | _MemoryInput) -> None:
        self._head = io.BytesIO(head)
        self._stream = stream

    def read(self, size: int) -> bytes:
        return self._head.read(size) or self._stream.read(size)


def _parse_whole(
    source: InputSource, body: bytes, named: str, options: TransformOptions, get_contexts: GetContexts | None
) -> DocumentPart:
    """Parse a complete body. Repeat it with the JSON-LD contexts that were missing."""
    parse = partial(
        parse_document,
        body,
        url=source.url,
        content_type=source.content_type,
        options=options,
        contexts=source.contexts,
        named=named,
    )
    parsed = parse()
    requested: dict[str, bytes | None] = {}
    while get_contexts and (wanted := _find_missing_contexts(parsed.result, requested)):  # a context may need others
        requested |= {**dict.fromkeys(wanted), **get_contexts(wanted)}
        contexts = {url: context for url, context in requested.items() if context is not None}
        parsed = parse(supplies=SubrequestResults(contexts=contexts))
    kind = parsed.document.kind
    if kind is ContentKind.EMPTY:
        declared = by_media_type(source.content_type) or by_extension(named)
        kind = declared if declared in _KINDS_THAT_MAY_BE_EMPTY else kind
    return DocumentPart(kind=kind, result=parsed.result, document=parsed.document)


def _find_missing_contexts(result: TransformResult, requested: Mapping[str, object]) -> list[str]:
    """Return the URLs of missing contexts that were not requested before, up to the limit per page."""
    wanted = {url for extraction in result.extractions for url in extraction.wanted}
    return sorted(wanted - requested.keys())[: MAX_CONTEXTS - len(requested)]


def _name_for_detection(path: Path, url: str) -> str:
    """Return the URL of the file if its extension is known, else `url`."""
    own = path.absolute().as_uri()
    return url if by_extension(own) is None else own


def _parse_in_parts(stream: _RejoinedStream, syntax: Syntax, url: str, charset: str) -> Iterator[TransformResult]:
    """Yield the statements of an RDF document in parts of bounded size."""
    statements: list[Statement] = []
    problems: list[Problem] = []
    characters = 0
    file = cast(BinaryIO, stream)  # only `read` is called
    try:
        for found in read(file, syntax=syntax, base=url, names=BlankNames(url, syntax), charset=charset):
            if isinstance(found, Problem):
                problems.append(found)
            else:
                statements.append(found)
                characters += len(found[2])
            if len(statements) + len(problems) >= _MAX_PART_STATEMENTS or characters >= _MAX_PART_CHARACTERS:
                yield _make_result(syntax, statements, problems)
                statements, problems, characters = [], [], 0
    except (InputError, OSError):
        yield _make_result(syntax, statements, problems)
        raise
    yield _make_result(syntax, statements, problems)


def _make_result(syntax: Syntax, statements: list[Statement], problems: list[Problem]) -> TransformResult:
    return TransformResult(
        extractions=(Extraction(syntax=syntax, statements=tuple(statements), problems=tuple(problems)),)
    )
