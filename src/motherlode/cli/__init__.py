"""The command line: arguments become a job, the job runs, the outcome is printed. No decision is taken here."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable, Iterable
from functools import wraps
from importlib import import_module
from io import TextIOWrapper
from typing import Any

import typer

from motherlode import __version__
from motherlode.cli.standard_streams import fill_closed_streams, is_closed

COMMANDS = {
    "crawl": "crawl",
    "resume": "crawl",
    "stats": "query",
    "explain": "explain",
    "model": "model",
    "index": "index",
    "query": "query",
    "search": "search",
    "serve": "serve",
    "export": "export",
    "changes": "export",
    "extract": "extract",
    "filter": "filter",
    "record": "simulate",
    "simulate": "simulate",
    "demo": "demo",
}
"""Each command and the module of this room that holds it."""
INTERRUPTED = 130
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
    from motherlode.cli.command_usage import Command  # here, where Ctrl-C is seen to

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
        command = getattr(module, name)
        app.command(cls=Command, short_help=_first_sentence(command))(_while_somebody_reads(command))
    return app


def _first_sentence(command: Callable[..., None]) -> str:
    """What a list of commands tells of one; Typer would cut it where the line ends."""
    return (command.__doc__ or "").partition("\n")[0].partition(". ")[0].removesuffix(".")


def _while_somebody_reads(command: Callable[..., None]) -> Callable[..., None]:
    """The command, which ends well where the reader of its output has left, as in `| head`.

    Where the system does not let it do its work, it ends in words.
    """

    @wraps(command)
    def run(**given: Any) -> None:
        try:
            command(**given)
            sys.stdout.flush()
        except BrokenPipeError:
            _write_no_more()
            raise typer.Exit(0) from None
        except OSError as error:
            from motherlode.cli.terminal import FAILED, stop  # `--version` need not wait for tables

            if _is_stdout_closed(error):
                _write_no_more()
                stop("stdout is closed: what was to be written there is lost", code=FAILED)
            if error.errno != errno.ENOSPC:
                stop(f"{error.filename}: {error.strerror}" if error.filename else str(error), code=FAILED)
            _write_no_more()
            stop("no space is left on the disk: what was written is not whole", code=FAILED)

    return run


def _is_stdout_closed(error: OSError) -> bool:
    return error.errno == errno.EBADF and is_closed("stdout")


def _write_no_more() -> None:
    """Let what waits to be written go nowhere: Python would try again at its end, and complain."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def main() -> None:
    # numpy's BLAS would start and stop threads in every process of a crawl, for matrices that nobody multiplies
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    fill_closed_streams()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # quads and JSON are UTF-8, whatever the locale says
            stream.reconfigure(encoding="utf-8", errors="replace")
    asked = sys.argv[1] if len(sys.argv) > 1 else ""
    try:
        application([asked] if asked in COMMANDS else COMMANDS)()
    except OSError as error:  # of `--version` and `--help`; commands see to it themselves
        if not _is_stdout_closed(error):
            raise
        _write_no_more()
        raise SystemExit(1) from None
    except KeyboardInterrupt:  # while modules are loaded; later the command sees to it
        raise SystemExit(INTERRUPTED) from None
