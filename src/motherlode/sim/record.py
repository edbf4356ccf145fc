"""From WARC files to a trace: every response is read by the very readers of a crawl, on all cores."""

from __future__ import annotations

import asyncio
import os
import re
import zlib
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from pathlib import Path

from motherlode.crawl.pool import ReaderPool, UnreadableError
from motherlode.crawl.reading import Body, Instructions, Reading
from motherlode.fetch import WarcResponses
from motherlode.model import FailureKind, Page
from motherlode.model.pages import Fetched
from motherlode.sim.trace import Part, PartWriter, TraceError, TracePage, read_parts, write_parts

_AHEAD = 64
"""Responses under way at the same time."""
_TYPE = re.compile(rb"#type> <([^>]*)> \.\n")

Progress = Callable[[int, int], None]
"""Called with the bytes read and the size of the source."""


def record(sources: Sequence[Path], folder: Path, *, workers: int | None = None, progress: Progress) -> list[Part]:
    """Make or complete a trace. A source that is in it already, unchanged, is not read again."""
    folder.mkdir(parents=True, exist_ok=True)
    parts = read_parts(folder)
    for source in sources:
        fingerprint = _fingerprint(source)
        if any(part.fingerprint == fingerprint for part in parts):
            continue
        part = asyncio.run(_record_one(source, folder, fingerprint, workers or os.cpu_count() or 1, progress))
        parts = [known for known in parts if known.source != str(source.resolve())] + [part]
        write_parts(folder, parts)
    if not any(part.pages for part in parts):
        raise TraceError(f"no HTTP response in {', '.join(str(source) for source in sources)}: are these WARC files?")
    return parts


def _fingerprint(source: Path) -> str:
    try:
        stat = source.stat()
    except OSError as error:
        raise TraceError(f"{source} cannot be read: {error.strerror}") from error
    return f"{zlib.crc32(str(source.resolve()).encode()):08x}-{stat.st_size:x}-{stat.st_mtime_ns:x}"


async def _record_one(source: Path, folder: Path, fingerprint: str, workers: int, progress: Progress) -> Part:
    responses = WarcResponses(source)
    place = str(source.resolve())  # noqa: ASYNC240 - nothing else is running yet
    writer = PartWriter(folder, fingerprint)
    readers = ReaderPool(Instructions(target="any", keep_ntriples=True), workers=workers, seconds=60)
    try:
        async for fetched, reading in _read_all(
            responses, readers, lambda: progress(responses.position, responses.size)
        ):
            _add(writer, fetched, reading)
        writer.finish()
    except BaseException:
        writer.abandon()
        raise
    finally:
        await readers.close()
    return Part(
        name=fingerprint,
        source=place,
        fingerprint=fingerprint,
        pages=writer.pages,
        links=writer.links,
        broken=responses.broken,
    )


async def _read_all(
    responses: Iterable[Fetched], readers: ReaderPool, tick: Callable[[], None]
) -> AsyncIterator[tuple[Fetched, Reading | None]]:
    """Responses with their readings, in order, a bounded number at a time."""
    window: list[tuple[Fetched, asyncio.Task[Reading | None]]] = []
    for fetched in responses:
        window.append((fetched, asyncio.create_task(_read(fetched, readers))))
        if len(window) >= _AHEAD:
            first, task = window.pop(0)
            yield first, await task
            tick()
    for first, task in window:
        yield first, await task


async def _read(fetched: Fetched, readers: ReaderPool) -> Reading | None:
    if not isinstance(fetched, Page):
        return None
    try:
        return await readers.read(Body(url=fetched.url, content_type=fetched.content_type, body=fetched.body))
    except UnreadableError:
        return None


def _add(writer: PartWriter, fetched: Fetched, reading: Reading | None) -> None:
    if isinstance(fetched, Page) and reading is not None:
        page = TracePage(
            url=fetched.url,
            status=fetched.status,
            kind=reading.kind,
            size=len(fetched.body),
            counts=reading.counts,
            types=tuple(sorted({kind.decode() for kind in _TYPE.findall(reading.ntriples)})),
        )
        writer.add(page, reading.links, reading.ntriples)
        return
    failure = FailureKind.PROCESSING if isinstance(fetched, Page) else fetched.kind
    location = "" if isinstance(fetched, Page) else fetched.location
    writer.add(
        TracePage(url=fetched.url, status=fetched.status or 0, failure=failure.value, location=location, counts={}),
        (),
        b"",
    )
