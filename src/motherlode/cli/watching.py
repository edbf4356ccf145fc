"""A crawl that runs before the user's eyes: every visit shown, and Ctrl-C obeyed, gently the first time."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncGenerator, Callable

from motherlode.cli.output import tell
from motherlode.cli.progress import Progress
from motherlode.model import Visit

_TICK_SECONDS = 1.0


async def watch(visits: AsyncGenerator[Visit, None], progress: Progress, *, stop: Callable[[], None]) -> bool:
    """Show all visits. The first interrupt calls `stop` and waits for what is under way, the second ends it at once.

    True where the user interrupted.
    """
    interrupts = 0
    task = asyncio.current_task()

    def interrupt() -> None:
        nonlocal interrupts
        interrupts += 1
        if interrupts == 1:
            stop()
            tell("stopping: waiting for what is under way (Ctrl-C again: at once)")
        elif task is not None:
            task.cancel()

    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, interrupt)
    ticking = asyncio.create_task(_tick(progress))
    try:
        with progress:
            async for visit in visits:
                progress.show(visit.url)
    except asyncio.CancelledError:
        if not interrupts:
            raise
    finally:
        ticking.cancel()
        await visits.aclose()
    return interrupts > 0


async def _tick(progress: Progress) -> None:
    while True:
        await asyncio.sleep(_TICK_SECONDS)
        progress.tick()
