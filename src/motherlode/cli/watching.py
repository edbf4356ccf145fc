"""A crawl that runs before the user's eyes: every visit shown, and Ctrl-C obeyed, gently the first time."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncGenerator, Callable

from motherlode.cli.output import tell
from motherlode.cli.progress import Progress
from motherlode.model import Visit


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
    try:
        with progress:
            async for visit in visits:
                progress.show(visit.url)
    except asyncio.CancelledError:
        if not interrupts:
            raise
    finally:
        await visits.aclose()
    return interrupts > 0
