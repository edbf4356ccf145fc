"""How things look on a terminal: tables for people, JSON for programs, errors that say what to do."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from typing import Any, NoReturn

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from motherlode.crawl import CrawlStats

terminal = Console(stderr=True, highlight=False)
"""For people; stdout is kept for results that programs read."""

FAILED = 1
WRONG_USAGE = 2


def stop(message: str, *, code: int = WRONG_USAGE) -> NoReturn:
    """End with an error that a person can act on."""
    terminal.print(f"[bold red]error:[/] {escape(message)}")
    raise typer.Exit(code)


def print_json(value: Any) -> None:
    sys.stdout.write(json.dumps(value, ensure_ascii=False) + "\n")


def print_table(columns: Sequence[str], rows: Iterable[Sequence[str]], *, title: str = "") -> None:
    """A table on stdout; every cell is text, never markup."""
    table = Table(title=title or None, title_justify="left", header_style="bold")
    for column in columns:
        table.add_column(escape(column), overflow="fold")
    for row in rows:
        table.add_row(*(escape(cell) for cell in row))
    Console(highlight=False).print(table)


def print_summary(stats: CrawlStats) -> None:
    """The account of a crawl as a person wants to see it."""
    totals = stats.totals
    rate = totals.fetched / totals.seconds if totals.seconds else 0.0
    rows = [
        ("fetched", f"{totals.fetched:,} pages in {totals.seconds:,.1f} s ({rate:,.0f} a second)"),
        ("relevant", f"{totals.relevant:,} (harvest rate {totals.harvest_rate:.3f})"),
        ("quads", f"{totals.quads:,}"),
        ("hosts", f"{len(stats.hosts):,}"),
        ("known URLs", f"{stats.known_urls:,}"),
        ("received", size(totals.bytes)),
        ("on disk", size(stats.disk)),
        ("redirects", f"{totals.redirects:,}"),
        ("failures", _counted(totals.failures) or "none"),
        ("refused", _counted(stats.refused) or "none"),
        ("syntaxes", ", ".join(f"{name} on {pages:,} pages" for name, (pages, _) in _by_pages(totals.syntaxes))),
    ]
    print_table(("", ""), rows)


def _by_pages(syntaxes: dict[str, list[int]]) -> list[tuple[str, list[int]]]:
    return sorted(syntaxes.items(), key=lambda item: -item[1][0])


def _counted(counts: dict[str, int]) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in sorted(counts.items(), key=lambda item: -item[1]))


def size(count: float) -> str:
    """Bytes for people.

    >>> size(1_500_000)
    '1.5 MB'
    """
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000:
            return f"{count:.0f} B" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} TB"
