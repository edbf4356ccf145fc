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

from motherlode.runtime.frames import pack_frame, read_frame
from motherlode.transform.timeouts import Deadline, OutOfTime
from motherlode.transform.xslt import xslt_engine as engine

_ROOT = Path(engine.__file__).parents[3]
_START = f"""
import os, sys
sys.path.insert(0, sys.argv[1])
from {engine.__name__} import serve
serve()
os._exit(0)
"""
"""The program of the helper. It gets the folder that holds our package as an argument, because an isolated interpreter
(`-I`) does not read PYTHONPATH."""
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
            limits = engine.LIMITS.pack(seconds, most_bytes)
            done = False
            try:
                made = self._ask(process, (limits, sheet, body, name), seconds, most_bytes)
                done = True
                return made
            except TimeoutError:
                return Made(failure=f"the stylesheet did not end within {seconds:g} seconds")
            except (OSError, EOFError, ValueError):  # ValueError: the response is not one of ours
                return Made(failure="the stylesheet ran out of memory or processor time")
            finally:
                if not done:  # also where our own time limit rang in the middle of it
                    self._end()

    def _ask(self, process: subprocess.Popen[bytes], job: tuple[bytes, ...], seconds: float, most_bytes: int) -> Made:
        assert process.stdin is not None and process.stdout is not None
        deadline = Deadline(seconds)
        process.stdin.write(b"".join(map(pack_frame, job)))
        process.stdin.flush()
        pipe = _TimedPipe(process.stdout.fileno(), deadline)
        result = read_frame(pipe, most_bytes + _LONGEST_REASON) or b""
        kind, made = result[:1], result[1:]
        faults = tuple((message, line, column) for message, line, column in json.loads(read_frame(pipe) or b"[]"))
        if kind == engine.FAILED:
            return Made(failure=made.decode(errors="replace"), faults=faults)
        return Made(body=made, is_text=kind == engine.TEXT, faults=faults)

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is not None and self._owner != os.getpid():
            self._process = None  # it belongs to the process that we were forked from
        if self._process is None or self._process.poll() is not None:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-c", _START, str(_ROOT)],
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


class _TimedPipe:
    """A pipe whose reads raise TimeoutError after a deadline, and EOFError at the end of the stream."""

    def __init__(self, descriptor: int, deadline: Deadline) -> None:
        self._descriptor = descriptor
        self._deadline = deadline

    def read(self, size: int, /) -> bytes:
        parts = []
        while size:
            ready, _, _ = select.select([self._descriptor], [], [], 0.05)
            if not ready:
                _check(self._deadline)
                continue
            part = os.read(self._descriptor, min(size, 1 << 20))
            if not part:
                raise EOFError
            parts.append(part)
            size -= len(part)
        return b"".join(parts)


def _check(deadline: Deadline) -> None:
    try:
        deadline.check()
    except OutOfTime:
        raise TimeoutError from None


SANDBOX = Sandbox()
"""The one that this process uses."""
atexit.register(SANDBOX.close)
