"""The command line: arguments become a job, the job runs, the outcome is printed. No decision is taken here."""

from __future__ import annotations

import os
import sys

import typer

from motherlode import __version__
from motherlode.cli.crawling import crawl, resume
from motherlode.cli.demo import demo
from motherlode.cli.extracting import extract
from motherlode.cli.looking import export, query, stats
from motherlode.cli.simulating import record, simulate

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Motherlode: a focused crawler for the Web of Data. It learns while it crawls which links lead to structured "
    "data, spends its requests there, and leaves a quad store that you can query, search, explain and export.",
)


def _show_version(value: bool) -> None:  # noqa: FBT001 - typer calls it so
    if value:
        typer.echo(f"motherlode {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: bool = typer.Option(False, "--version", callback=_show_version, is_eager=True, help="Print the version."),  # noqa: FBT001
) -> None:
    pass


for _command in (crawl, resume, stats, query, export, extract, record, simulate, demo):
    app.command()(_command)


def main() -> None:
    try:
        app()
    except BrokenPipeError:  # the reader of our output has left, as in `| head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(0) from None
