"""Where users' stylesheets run: a helper process that is killed when its time is up.

XSLT can loop for ever, and it runs in C, where no signal handler of Python gets a turn. So what we did not write
ourselves is applied in a process of its own (`engine`). It starts with the first such stylesheet, serves one document
after the other, and ends with us.
"""

from __future__ import annotations

import atexit
import json
import os
import select
import subprocess
import sys
import threading
from dataclasses import dataclass
from pathlib import Path

from motherlode.transform.timeouts import Deadline, ExtractorTimeout
from motherlode.transform.xslt import xslt_engine as engine

_ENGINE = Path(engine.__file__)
_LONGEST_REASON = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """What came of a stylesheet: bytes, or a reason why there are none."""

    body: bytes = b""
    is_text: bool = False
    """The stylesheet wrote text (Turtle), not XML."""
    failure: str = ""
    faults: tuple[engine.Located, ...] = ()
    """What was wrong with the document, and was mended."""


class Sandbox:
    """One helper process, started when it is needed and started again after it had to be killed."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = 0

    def apply(self, sheet: bytes, body: bytes, base: str, *, seconds: float, most_bytes: int) -> Made:
        """Applies a stylesheet to a document, both as bytes."""
        with self._lock:
            process = self._running()
            name = base.encode(errors="replace")
            head = engine.JOB.pack(seconds, len(sheet), len(body), len(name), most_bytes)
            done = False
            try:
                made = self._ask(process, head + sheet + body + name, seconds, most_bytes)
                done = True
                return made
            except TimeoutError:
                return Made(failure=f"the stylesheet did not end within {seconds:g} seconds")
            except (OSError, EOFError):
                return Made(failure="the stylesheet ran out of memory or processor time")
            finally:
                if not done:  # also where our own time limit rang in the middle of it
                    self._end()

    def _ask(self, process: subprocess.Popen[bytes], job: bytes, seconds: float, most_bytes: int) -> Made:
        assert process.stdin is not None and process.stdout is not None
        deadline = Deadline(seconds)
        process.stdin.write(job)
        process.stdin.flush()
        pipe = process.stdout.fileno()
        kind, size, located = engine.ANSWER.unpack(_read(pipe, engine.ANSWER.size, deadline))
        if size > most_bytes + _LONGEST_REASON:
            raise EOFError
        made = _read(pipe, size, deadline)
        faults = tuple((message, line, column) for message, line, column in json.loads(_read(pipe, located, deadline)))
        if kind == engine.FAILED:
            return Made(failure=made.decode(errors="replace"), faults=faults)
        return Made(body=made, is_text=kind == engine.TEXT, faults=faults)

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is not None and self._owner != os.getpid():
            self._process = None  # it belongs to the process that we were forked from
        if self._process is None or self._process.poll() is not None:
            self._process = subprocess.Popen(
                [sys.executable, "-I", str(_ENGINE)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env={},
            )
            self._owner = os.getpid()
        return self._process

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is None or self._owner != os.getpid():
            return
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                try:
                    stream.close()
                except OSError:
                    continue  # what was still to be written has nowhere to go

    def close(self) -> None:
        """Ends the helper, if there is one."""
        with self._lock:
            self._end()


def _read(descriptor: int, size: int, deadline: Deadline) -> bytes:
    parts = []
    while size:
        ready, _, _ = select.select([descriptor], [], [], 0.05)
        if not ready:
            _check(deadline)
            continue
        part = os.read(descriptor, min(size, 1 << 20))
        if not part:
            raise EOFError
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def _check(deadline: Deadline) -> None:
    try:
        deadline.check()
    except ExtractorTimeout:
        raise TimeoutError from None


SANDBOX = Sandbox()
"""The one that this process uses."""
atexit.register(SANDBOX.close)
