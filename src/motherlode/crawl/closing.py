"""The end of a run: whatever ended it, it is left so that it can be resumed."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterable

from motherlode.crawl.checkpoints import Checkpoints
from motherlode.crawl.parts import Parts
from motherlode.frontier import LEDGER_ERRORS


async def cancel(running: Iterable[asyncio.Task[None]]) -> None:
    """End what is under way, and wait until it has ended."""
    tasks = list(running)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def close(parts: Parts, checkpoints: Checkpoints, *, dried_out: bool, spoiled: bool) -> None:
    """Let go of everything; the last commit is made unless something on disk has failed us (`spoiled`)."""
    if parts.lookout is not None:
        await parts.lookout.close()
    await parts.errands.close()
    await parts.readers.close()
    await parts.fetcher.close()
    if parts.archive is not None:
        parts.archive.close()
    try:
        with contextlib.suppress(*((OSError,) if spoiled else ())):  # the first error is the one to be told
            await parts.writer.close()  # raises where quads could not be stored: then nothing is committed
        if not spoiled:
            checkpoints.take_last(dried_out=dried_out)
    except LEDGER_ERRORS as error:
        raise OSError(f"the frontier could not be written: {error}") from error
    finally:
        if parts.journal is not None:
            parts.journal.close()
        if parts.neighbours is not None:
            parts.neighbours.close()
        parts.ledger.close()
        if parts.sinks is not None:
            await asyncio.to_thread(parts.sinks.close)  # may wait a while for an endpoint
