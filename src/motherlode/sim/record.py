"""From WARC files to a trace: every response is read by the very readers of a crawl, on all cores.

A source becomes a part of the trace when all of it has been read. A recording that was killed goes on with the first
source that is no part yet; what it had begun is thrown away.
"""

from __future__ import annotations

import asyncio
import os
import re
import zlib
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path

from motherlode.crawl.pool import ReaderPool, UnreadableError
from motherlode.crawl.readings import Instructions, Reading
from motherlode.crawl.visiting import body_of
from motherlode.model import FailureKind, Page
from motherlode.model.pages import Fetched
from motherlode.sim.responses import Responses
from motherlode.sim.trace import Part, PartWriter, TraceError, TracePage, read_parts, tidy, write_parts

_AHEAD = 64
"""Responses under way at the same time."""
_SECONDS = 60.0
"""For one page; then it is unreadable."""
_TYPE = re.compile(rb"#type> <([^>]*)> \.\n")

Progress = Callable[[int, int], None]
"""Called with the bytes read so far and the bytes that there are, over all sources."""


def record(sources: Sequence[Path], folder: Path, *, workers: int | None = None, progress: Progress) -> list[Part]:
    """Make or complete a trace. A source that is in it already, unchanged, is not read again."""
    wanted = {_fingerprint(source): source for source in sources}
    total, before = sum(source.stat().st_size for source in wanted.values()), 0
    folder.mkdir(parents=True, exist_ok=True)
    parts = read_parts(folder)
    tidy(folder, parts)
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
        names = ", ".join(str(source) for source in sources)
        raise TraceError(f"no HTTP response could be read in {names}: a WARC file that is empty, cut short, or none")
    return parts


def _fingerprint(source: Path) -> str:
    try:
        stat = source.stat()
        with source.open("rb"):
            pass
    except OSError as error:
        raise TraceError(f"{source} cannot be read: {error.strerror}") from error
    return f"{zlib.crc32(str(source.resolve()).encode()):08x}-{stat.st_size:x}-{stat.st_mtime_ns:x}"


async def _record_one(source: Path, writer: PartWriter, *, workers: int, tick: Callable[[int], None]) -> Part:
    responses = Responses(source)
    readers = ReaderPool(Instructions(target="any", keep_ntriples=True), workers=workers, seconds=_SECONDS)
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
    return Part(
        name=writer.name,
        source=str(source.resolve()),  # noqa: ASYNC240 - nothing else is running any more
        fingerprint=writer.name,
        pages=writer.pages,
        links=writer.links,
        broken=responses.broken,
    )


async def _read_all(responses: Responses, readers: ReaderPool) -> AsyncIterator[tuple[Fetched, Reading | None]]:
    """Responses with their readings, in order, a bounded number at a time."""
    window: deque[tuple[Fetched, asyncio.Task[Reading | None]]] = deque()
    for fetched in responses:
        window.append((fetched, asyncio.create_task(_read(fetched, readers))))
        if len(window) >= _AHEAD:
            first, task = window.popleft()
            reading = await task
            yield first, reading
    for first, task in window:
        reading = await task
        yield first, reading


async def _read(fetched: Fetched, readers: ReaderPool) -> Reading | None:
    if not isinstance(fetched, Page):
        return None
    try:
        return await readers.read(body_of(fetched))
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
    failure, location = FailureKind.PROCESSING, ""
    if not isinstance(fetched, Page):
        failure = fetched.kind
        location = fetched.location or (fetched.headers.get("location", "") if _is_redirect(failure) else "")
    page = TracePage(url=fetched.url, status=fetched.status or 0, failure=failure.value, location=location, counts={})
    writer.add(page, (), b"")


def _is_redirect(kind: FailureKind) -> bool:
    return kind in (FailureKind.REDIRECT, FailureKind.REDIRECT_BROKEN)
