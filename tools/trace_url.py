"""Print the modules and record types that one URL passes through in the crawl process.

    python tools/trace_url.py

One crawl of a new host over HTTP on loopback: DNS, robots.txt, and a page with JSON-LD and a link.

- The window begins with the return of the first `Frontier.lease` and ends at the first `Frontier.commit` after the
  visit of the page. The crawl may fetch two pages, so that no closing runs in the window. The watchdog is off: its
  timer belongs to no URL, and runs in the window only if the machine is slow.
- A module counts if a function, method, property or generator of it ran in the window, in the main thread. Code at
  module level (imports) does not count, nor does a module that only defines records.
- A record type is an immutable struct, dataclass or NamedTuple of ours of which an instance was an argument or the
  result of such a function, itself or as an element of a sequence. Those of `model` and those that a package exports
  cross a package border; the others are listed apart.
"""

from __future__ import annotations

import asyncio
import dataclasses
import http.server
import sys
import tempfile
import threading
from collections.abc import Iterable
from pathlib import Path
from types import FrameType
from typing import Any

import msgspec

from motherlode.crawler import CrawlFolder, Job
from motherlode.crawler.engine.factory import assemble
from motherlode.crawler.engine.watchdog import Watchdog
from motherlode.crawler.stats.counters import Counters
from motherlode.frontier import Frontier, Lease
from motherlode.model import Visit

PAGE = (
    b'<html><head><title>x</title><script type="application/ld+json">{"@context": "https://schema.org", "@type": '
    b'"Recipe", "name": "n"}</script></head><body><a href="/two">two</a></body></html>'
)
ROBOTS = b"User-agent: *\nDisallow: /private\n"
_ELEMENTS = 3
"""Elements of a sequence whose types are noted."""


class Site(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        is_robots = self.path == "/robots.txt"
        body = ROBOTS if is_robots else PAGE
        self.send_response(200)
        self.send_header("Content-Type", "text/plain" if is_robots else "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments: object) -> None: ...


def is_record(kind: type) -> bool:
    """Return whether a class is an immutable record of ours."""
    if not kind.__module__.startswith("motherlode."):
        return False
    if issubclass(kind, msgspec.Struct):
        return bool(kind.__struct_config__.frozen)
    if dataclasses.is_dataclass(kind):
        return bool(kind.__dataclass_params__.frozen)  # type: ignore[attr-defined]
    return issubclass(kind, tuple) and hasattr(kind, "_fields")


class Tracer:
    """Notes modules and records from the first lease to the commit after the first visit."""

    def __init__(self) -> None:
        self.modules: set[str] = set()
        self.records: set[type] = set()
        self._is_begun = self._is_visited = False
        self._lease, self._commit, self._add = Frontier.lease, Frontier.commit, Counters.add
        tracer = self

        def lease(frontier: Frontier, now: float) -> Lease | None:
            found = tracer._lease(frontier, now)
            if found is not None and not tracer._is_begun:
                tracer._is_begun = True
                sys.setprofile(tracer._profile)
            return found

        def commit(frontier: Frontier) -> None:
            if tracer._is_visited:
                sys.setprofile(None)
            tracer._commit(frontier)

        def add(counters: Counters, visit: Visit) -> None:
            tracer._is_visited = True
            tracer._add(counters, visit)

        Frontier.lease, Frontier.commit, Counters.add = lease, commit, add  # type: ignore[method-assign]

    def close(self) -> None:
        sys.setprofile(None)
        Frontier.lease, Frontier.commit, Counters.add = self._lease, self._commit, self._add  # type: ignore[method-assign]

    def _profile(self, frame: FrameType, event: str, argument: Any) -> None:
        code = frame.f_code
        _, found, path = code.co_filename.partition("/motherlode/")
        if event not in ("call", "return") or not found or code.co_name == "<module>":
            return
        self.modules.add(path)
        if event == "return":
            self._note((argument,))
        else:
            self._note(frame.f_locals[name] for name in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])

    def _note(self, values: Iterable[Any]) -> None:
        for value in values:
            elements = value[:_ELEMENTS] if type(value) in (list, tuple) else (value,)
            self.records |= {type(element) for element in elements if is_record(type(element))}


def crosses_border(kind: type) -> bool:
    """Return whether a record is of `model`, or exported by its package."""
    module = kind.__module__
    if module.startswith("motherlode.model."):
        return True
    package = sys.modules.get(".".join(module.split(".")[:2]))
    return package is not None and kind.__name__ in getattr(package, "__all__", ())


async def trace() -> Tracer:
    """Run the crawl and return what was noted."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Site)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as place:
        job = Job(
            seeds=("http://new.example/",),
            hosts={"new.example": f"127.0.0.1:{server.server_port}"},
            allow=("127.0.0.0/8",),
            delay=3.0,  # the second page does not begin in the window
            pages=2,
            workers=1,
            words=False,
        )
        folder = CrawlFolder(Path(place) / "crawl")
        folder.create(job)
        Watchdog.start = lambda watchdog: None  # type: ignore[method-assign]
        made = assemble(job, folder)
        tracer = Tracer()
        try:
            async for _ in made.engine.visits(made.seeds):
                made.engine.wake_up()
        finally:
            tracer.close()
            folder.unlock()
            server.shutdown()
    return tracer


def main() -> None:
    tracer = asyncio.run(trace())
    crossing = sorted(kind.__name__ for kind in tracer.records if crosses_border(kind))
    others = sorted(kind.__name__ for kind in tracer.records if not crosses_border(kind))
    print(f"{len(tracer.modules)} modules:", *sorted(tracer.modules), sep="\n  ")
    print(f"{len(crossing)} record types that cross a package border:", ", ".join(crossing))
    print(f"{len(others)} others:", ", ".join(others))


if __name__ == "__main__":
    main()
