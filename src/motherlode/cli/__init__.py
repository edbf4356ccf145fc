"""The command line: arguments become a job, the job runs, the outcome is printed. No decision is taken here."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from functools import wraps
from importlib import import_module
from io import TextIOWrapper
from typing import Any

import typer

from motherlode import __version__

COMMANDS = {
    "crawl": "crawling",
    "resume": "crawling",
    "stats": "looking",
    "explain": "explaining",
    "model": "modelling",
    "query": "looking",
    "search": "searching",
    "serve": "serving",
    "export": "exporting",
    "changes": "exporting",
    "extract": "extracting",
    "filter": "filtering",
    "record": "simulating",
    "simulate": "simulating",
    "demo": "demo",
}
"""Each command and the module of this room that holds it."""
_INTERRUPTED = 130
"""The exit code that shells know for Ctrl-C."""


def _show_version(value: bool) -> None:  # noqa: FBT001 - typer calls it so
    if value:
        typer.echo(f"motherlode {__version__}")
        raise typer.Exit


def _options(
    version: bool = typer.Option(False, "--version", callback=_show_version, is_eager=True, help="Print the version."),  # noqa: FBT001
) -> None:
    pass


def application(names: Iterable[str]) -> typer.Typer:
    """The application with these commands; only their modules are loaded, so that `stats` need not wait for Arrow."""
    app = typer.Typer(
        no_args_is_help=True,
        rich_markup_mode=None,
        add_completion=False,
        pretty_exceptions_enable=False,
        help="Motherlode: a focused crawler for the Web of Data. It learns while it crawls which links lead to "
        "structured data, spends its requests there, and leaves a quad store that you can query and export.",
    )
    app.callback()(_options)
    for name in names:
        module = import_module(f"motherlode.cli.{COMMANDS[name]}")
        app.command()(_while_somebody_reads(getattr(module, name)))
    return app


def _while_somebody_reads(command: Callable[..., None]) -> Callable[..., None]:
    """The command, which ends well where the reader of its output has left, as in `| head`."""

    @wraps(command)
    def run(**given: Any) -> None:
        try:
            command(**given)
            sys.stdout.flush()
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(0) from None

    return run


def main() -> None:
    # numpy's BLAS would start and stop threads in every process of a crawl, for matrices that nobody multiplies
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # quads and JSON are UTF-8, whatever the locale says
            stream.reconfigure(encoding="utf-8", errors="replace")
    asked = sys.argv[1] if len(sys.argv) > 1 else ""
    try:
        application([asked] if asked in COMMANDS else COMMANDS)()
    except KeyboardInterrupt:  # while modules are loaded; later the command sees to it
        raise SystemExit(_INTERRUPTED) from None
