"""Make a trace from WARC files: every response is parsed by the parser processes of a crawl, on all cores.

Records of other types are skipped. Responses that cannot be read or used are skipped and counted.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import zlib
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from pathlib import Path

from motherlode.crawler.engine.pipeline import body_of
from motherlode.crawler.parsing.messages import ParsedPage, ParseOptions
from motherlode.crawler.parsing.parser_pool import ParserPool, UnreadableError
from motherlode.fetch.warc.reader import RecordReader, ResponseRecords, target_url
from motherlode.model import FailureKind, Fetched, Page
from motherlode.sim.trace.files import (
    PartWriter,
    TraceError,
    TracePage,
    TracePart,
    read_parts,
    remove_trace,
    tidy,
    write_parts,
)

MAX_BODY = 10 << 20
"""Maximum body size in bytes, before and after decoding. It is the same limit as in a crawl."""


class Responses:
    """Iterates once over the responses of a WARC file. `broken` and `position` hold the state of the iteration."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("rb")
        self._again = path.open("rb")
        """The same file, opened again for lookups during the iteration. They need one gzip member per record."""
        self._records = ResponseRecords(self._file)
        self._reader = RecordReader(self._again, limit=MAX_BODY)

    @property
    def position(self) -> int:
        """Bytes of the file that have been read so far."""
        return self._records.position

    @property
    def broken(self) -> int:
        return self._records.broken

    def __iter__(self) -> Iterator[Fetched]:
        with self._file, self._again:
            for record in self._records:
                url = target_url(record)
                self._reader.add(record)
                answer = None if url is None else self._reader.read(record, url)
                if answer is None:
                    self._records.count_as_broken(record)
                else:
                    yield answer


# ── recording

_AHEAD = 64
"""Maximum number of responses in flight."""
_SECONDS = 60.0
"""Timeout in seconds for one page. After it the page counts as unreadable."""
_TYPE = re.compile(rb"#type> <([^>]*)> \.\n")

Progress = Callable[[int, int], None]
"""Called with the number of bytes read so far and the total, over all sources."""


def record(sources: Sequence[Path], folder: Path, *, workers: int | None = None, progress: Progress) -> list[TracePart]:
    """Make or complete a trace. A source that the trace already holds unchanged is not read again."""
    wanted = {_fingerprint(source): source for source in sources}
    total = sum(source.stat().st_size for source in wanted.values())
    made = _make_folders(folder)
    try:
        return _record_into(folder, wanted, total, workers=workers, progress=progress)
    except BaseException:
        for path in made:  # the deepest first; a folder with parts of the trace stays
            with contextlib.suppress(OSError):
                path.rmdir()
        raise


def _make_folders(folder: Path) -> list[Path]:
    """Make a folder and its parents, and return those that did not exist before, the deepest first."""
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    return missing


def _record_into(
    folder: Path, wanted: dict[str, Path], total: int, *, workers: int | None, progress: Progress
) -> list[TracePart]:
    parts = read_parts(folder)
    tidy(folder, parts)
    before = 0
    for fingerprint, source in wanted.items():
        if all(part.fingerprint != fingerprint for part in parts):
            part = asyncio.run(
                _record_one(
                    source,
                    PartWriter(folder, fingerprint),
                    workers=workers or os.cpu_count() or 1,
                    tick=lambda done, before=before: progress(before + done, total),  # type: ignore[misc]
                )
            )
            parts = [known for known in parts if known.source != part.source] + [part]
            write_parts(folder, parts)
            tidy(folder, parts)
        before += source.stat().st_size
        progress(before, total)
    if not any(part.pages for part in parts):
        remove_trace(folder)
        names = ", ".join(map(str, wanted.values()))
        raise TraceError(f"no HTTP response could be read in {names}: empty, truncated, or not a WARC file")
    return parts


def _fingerprint(source: Path) -> str:
    try:
        stat = source.stat()
        with source.open("rb"):
            pass
    except OSError as error:
        raise TraceError(f"{source} cannot be read: {error.strerror}") from error
    return f"{zlib.crc32(str(source.resolve()).encode()):08x}-{stat.st_size:x}-{stat.st_mtime_ns:x}"


async def _record_one(source: Path, writer: PartWriter, *, workers: int, tick: Callable[[int], None]) -> TracePart:
    responses = Responses(source)
    readers = ParserPool(
        ParseOptions(target="any", keep_ntriples=True, element_ids=True, context_graph=True),
        workers=workers,
        seconds=_SECONDS,
    )
    try:
        async for fetched, reading in _read_all(responses, readers):
            _add(writer, fetched, reading)
            tick(responses.position)
        writer.finish()
    except BaseException:
        writer.abandon()
        raise
    finally:
        await readers.close()
    return TracePart(
        name=writer.name,
        source=str(source.resolve()),  # noqa: ASYNC240 - nothing else is running any more
        fingerprint=writer.name,
        pages=writer.pages,
        links=writer.links,
        broken=responses.broken,
    )


async def _read_all(responses: Responses, readers: ParserPool) -> AsyncIterator[tuple[Fetched, ParsedPage | None]]:
    """Yield the responses with their parse results in order, with a bounded number in flight."""
    window: deque[tuple[Fetched, asyncio.Task[ParsedPage | None]]] = deque()
    for fetched in responses:
        window.append((fetched, asyncio.create_task(_read(fetched, readers))))
        if len(window) >= _AHEAD:
            first, task = window.popleft()
            reading = await task
            yield first, reading
    for first, task in window:
        reading = await task
        yield first, reading


async def _read(fetched: Fetched, readers: ParserPool) -> ParsedPage | None:
    if not isinstance(fetched, Page):
        return None
    try:
        return await readers.read(body_of(fetched))
    except UnreadableError:
        return None


def _add(writer: PartWriter, fetched: Fetched, reading: ParsedPage | None) -> None:
    if isinstance(fetched, Page) and reading is not None:
        page = TracePage(
            url=fetched.url,
            status=fetched.status,
            kind=reading.kind,
            content_type=fetched.headers.get("content-type", ""),
            size=len(fetched.body),
            counts=reading.counts,
            types=tuple(sorted({kind.decode() for kind in _TYPE.findall(reading.ntriples)})),
        )
        writer.add(page, reading.links, reading.ntriples)
        return
    failure, location = FailureKind.PROCESSING, ""
    if not isinstance(fetched, Page):
        failure = fetched.kind
        is_redirect = failure in (FailureKind.REDIRECT, FailureKind.REDIRECT_BROKEN)
        location = fetched.location or (fetched.headers.get("location", "") if is_redirect else "")
    page = TracePage(url=fetched.url, status=fetched.status or 0, failure=failure.value, location=location, counts={})
    writer.add(page, (), b"")
