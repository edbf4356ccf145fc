"""A process that forks to run the command line, so that its modules are imported only once.

    python -m tests.crawler.offspring

Each line on stdin is a list in JSON: the paths of the files for stdin, stdout and stderr, and the arguments of a run.
The process forks, prints the id of the child, waits for the child, and prints its exit status, which is negative for a
signal. A test can kill the child at any moment.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from importlib import import_module
from pathlib import Path
from types import TracebackType

from motherlode.cli import main
from motherlode.crawler.report import crawl_report, plot
from motherlode.www.urls import registrable_domain


class Offspring:
    """Starts runs of the command line, one at a time."""

    def __init__(self, module: str = __name__, environment: dict[str, str] | None = None) -> None:
        """`module` is the one whose process forks. `environment` has further variables for it."""
        self._process = subprocess.Popen(
            [sys.executable, "-m", module],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "COLUMNS": "10000", **(environment or {})},  # so that messages are not wrapped
        )

    def __enter__(self) -> Offspring:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait(timeout=120)

    def start(self, *arguments: str, errors: Path | None = None) -> int:
        """Start a run. Return its process id."""
        told = "/dev/stderr" if errors is None else str(errors)
        return self._send(os.devnull, told, told, *arguments)

    def run(self, *arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        """Run the command line to its end. Return its exit status and what it printed."""
        with tempfile.TemporaryDirectory() as folder:
            given, printed, told = (Path(folder, name) for name in ("stdin", "stdout", "stderr"))
            given.write_text(stdin)
            self._send(str(given), str(printed), str(told), *arguments)
            code = self.wait()
            return subprocess.CompletedProcess(arguments, code, printed.read_text(), told.read_text())

    def _send(self, *words: str) -> int:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(words) + "\n")
        self._process.stdin.flush()
        return self._number()

    def wait(self) -> int:
        """Wait for the last run. Return its exit status."""
        return self._number()

    def _number(self) -> int:
        assert self._process.stdout is not None
        return int(self._process.stdout.readline())


_USED_MODULES = (
    "encodings.idna",
    "hyperscan",
    "motherlode.cli.crawl",
    "motherlode.cli.export",
    "motherlode.cli.query",
    "motherlode.cli.resume",
    "motherlode.cli.search",
    "motherlode.cli.verify",
    "motherlode.crawler.verification",
    "motherlode.index.export.streams",
    "motherlode.index.fulltext.searcher",
    "motherlode.index.fulltext.word_index",
    "motherlode.index.query.query_worker",
    "pydantic.type_adapter",
    "rich.progress",
)
"""Modules that the runs import at their first use."""


def _warm_up() -> None:
    """Do what each run would otherwise do again: imports, templates, and the list of public suffixes."""
    for module in _USED_MODULES:
        import_module(module)
    registrable_domain("www.example")
    crawl_report._template()
    plot._template()


def serve() -> None:
    _warm_up()
    while line := sys.stdin.readline():
        child = os.fork()
        if child == 0:
            given, printed, told, *arguments = json.loads(line)
            sys.argv = ["motherlode", *arguments]
            if told != "/dev/stderr":
                os.dup2(os.open(told, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 2)
            os.dup2(os.open(given, os.O_RDONLY), 0)
            os.dup2(2 if printed == told else os.open(printed, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 1)
            main()
            sys.exit(0)
        print(child, flush=True)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


if __name__ == "__main__":
    serve()
