"""The sandbox: a child process that applies stylesheets and is killed at a timeout.

XSLT can loop endlessly in C code, which Python's signal handlers cannot interrupt. The process starts with the first
stylesheet that is not built in, and ends with its parent.
"""

import atexit
import json
import os
import select
import subprocess
import sys
import threading
from dataclasses import dataclass
from pathlib import Path

from motherlode.runtime import pack_frame, read_frame
from motherlode.transform.timeouts import Deadline, ExtractorTimeout
from motherlode.transform.xslt import xslt_engine as engine

_ROOT = Path(engine.__file__).parents[3]
_START = f"""
import os, sys
sys.path.insert(0, sys.argv[1])
from {engine.__name__} import serve
serve()
os._exit(0)
"""
"""The program of the child process. Its argument is the folder that holds our package, because an isolated interpreter
(`-I`) does not read PYTHONPATH."""
_MAX_REASON_BYTES = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class StylesheetOutput:
    """The output of a stylesheet for one document, or the reason why it failed."""

    body: bytes = b""
    is_text: bool = False
    """True if the output is text (Turtle), False if it is XML."""
    failure: str = ""
    """Why there is no output; "" if there is."""
    faults: tuple[engine.Fault, ...] = ()
    """Errors in the document that were repaired."""


class Sandbox:
    """One child process. It is started at the first job, and started again after it was killed."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = 0

    def apply(self, sheet: bytes, body: bytes, base: str, *, seconds: float, most_bytes: int) -> StylesheetOutput:
        """Apply a stylesheet to a document, both given as bytes, within a time and an output of `most_bytes`."""
        with self._lock:
            process = self._ensure_process()
            name = base.encode(errors="replace")
            limits = engine.LIMITS.pack(seconds, most_bytes)
            done = False
            try:
                output = self._run_job(process, (limits, sheet, body, name), seconds, most_bytes)
                done = True
                return output
            except TimeoutError:
                return StylesheetOutput(failure=f"the stylesheet did not end within {seconds:g} seconds")
            except (OSError, EOFError, ValueError):  # ValueError: the response is not one of ours
                return StylesheetOutput(failure="the stylesheet ran out of memory or processor time")
            finally:
                if not done:  # also if the time limit of the page raises ExtractorTimeout here
                    self._kill()

    def _run_job(
        self, process: subprocess.Popen[bytes], job: tuple[bytes, ...], seconds: float, most_bytes: int
    ) -> StylesheetOutput:
        assert process.stdin is not None and process.stdout is not None
        deadline = Deadline(seconds)
        process.stdin.write(b"".join(map(pack_frame, job)))
        process.stdin.flush()
        pipe = _TimedPipe(process.stdout.fileno(), deadline)
        result = read_frame(pipe, most_bytes + _MAX_REASON_BYTES) or b""
        kind, output = result[:1], result[1:]
        faults = tuple((message, line, column) for message, line, column in json.loads(read_frame(pipe) or b"[]"))
        if kind == engine.FAILED:
            return StylesheetOutput(failure=output.decode(errors="replace"), faults=faults)
        return StylesheetOutput(body=output, is_text=kind == engine.TEXT, faults=faults)

    def _ensure_process(self) -> subprocess.Popen[bytes]:
        """Return the child process, which is started if it is not running."""
        if self._process is not None and self._owner != os.getpid():
            self._process = None  # it belongs to the parent of this forked process
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

    def _kill(self) -> None:
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
                    continue  # unwritten data cannot be flushed to a dead process

    def close(self) -> None:
        with self._lock:
            self._kill()


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
                try:
                    self._deadline.check()
                except ExtractorTimeout:
                    raise TimeoutError from None
                continue
            part = os.read(self._descriptor, min(size, 1 << 20))
            if not part:
                raise EOFError
            parts.append(part)
            size -= len(part)
        return b"".join(parts)


SANDBOX = Sandbox()
atexit.register(SANDBOX.close)
