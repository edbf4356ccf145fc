"""A served synthetic web as a child process, and the table of its hosts on several loopback addresses."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from motherlode.sim.synthetic.synthetic_web import SyntheticWeb

ADDRESSES = tuple(f"127.0.0.{last}" for last in range(2, 22))
"""Loopback addresses without 127.0.0.1, which other services use."""


def hosts_table(web: SyntheticWeb, port: int) -> dict[str, tuple[str, int]]:
    """Return host name → (loopback IP address, port) for every host of a web that is served at this port."""
    return {name: (ADDRESSES[number % len(ADDRESSES)], port) for number, name in enumerate(web.hosts())}


# ── the server as a child process


class WebServer:
    """A child process that serves a web: `with WebServer(pages=5000, seed=1) as web:` serves while the block runs."""

    def __init__(self, *, pages: int, seed: int, port: int = 0, log: Path | None = None) -> None:
        self.web = SyntheticWeb(pages, seed)
        self._command = [
            *(sys.executable, "-m", "motherlode.sim.synthetic.server"),
            *("--pages", str(pages), "--seed", str(seed), "--port", str(port)),
            *(("--log", str(log)) if log is not None else ()),
        ]
        self._process: subprocess.Popen[bytes] | None = None
        self.port = 0

    def __enter__(self) -> WebServer:
        self._process = subprocess.Popen(
            self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        if self._process.stdout is None or self._process.stderr is None:
            raise OSError("the web server has no output")
        line = self._process.stdout.readline()
        if not line:
            reason = self._process.stderr.read().decode(errors="replace").strip()
            self._end()
            raise OSError(
                f"the synthetic web could not be served: {reason.splitlines()[-1] if reason else 'no reason'}"
            )
        self.port = json.loads(line)["port"]
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def _end(self) -> None:
        if self._process is not None:
            for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
                if pipe is not None:
                    pipe.close()
            self._process.wait(timeout=60)

    @property
    def seeds(self) -> list[str]:
        return self.web.seeds()

    @property
    def hosts(self) -> dict[str, tuple[str, int]]:
        """Address and port of each host, for the crawler's resolver."""
        return hosts_table(self.web, self.port)
