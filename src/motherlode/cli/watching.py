"""A crawl that runs before the user's eyes: every visit shown, and Ctrl-C obeyed, gently the first time.

A terminal that is closed sends SIGHUP, which ends the crawl like Ctrl-C. Under `nohup` it is ignored.
"""

from __future__ import annotations

import asyncio
import os
import signal
import stat
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

    def hang_up() -> None:
        leave_terminal()
        if interrupts == 0:  # a hang-up is often sent twice, by the terminal and by the shell
            interrupt()

    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, interrupt)
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # as nohup wants it
        loop.add_signal_handler(signal.SIGHUP, hang_up)
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


def leave_terminal() -> None:
    """Send what is said from here on to nowhere if it would go to a terminal: writing to one that is gone fails."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (1, 2):
        found = os.fstat(descriptor)
        if stat.S_ISCHR(found.st_mode) and found.st_rdev != os.fstat(nowhere).st_rdev:
            os.dup2(nowhere, descriptor)
    os.close(nowhere)


async def _tick(progress: Progress) -> None:
    while True:
        await asyncio.sleep(_TICK_SECONDS)
        progress.tick()
