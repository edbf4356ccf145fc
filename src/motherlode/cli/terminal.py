"""Output of commands: tables and messages for people, JSON for programs, errors and exit codes."""

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextvars import ContextVar
from typing import Any, NoReturn

import typer
from rich.cells import cell_len
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from motherlode.cli import INTERRUPTED


class Printer(Console):
    """A console that raises BrokenPipeError if the reader of the output is gone. Rich would exit with an error code."""

    def on_broken_pipe(self) -> NoReturn:
        raise BrokenPipeError


def folding_printer() -> Printer:
    """Return a printer for stdout that folds lines at the width of a terminal, but not in a file or a pipe."""
    console = Printer(highlight=False)
    return console if console.is_terminal else Printer(highlight=False, width=_FILE_COLUMNS)


_FILE_COLUMNS = 1000
"""Width of output that does not go to a terminal."""
terminal = Printer(stderr=True, highlight=False)
"""Messages for people go to stderr. Stdout is for results."""

FAILED = 1
WRONG_USAGE = 2
NOTHING_FETCHED = 3
typed_flags: ContextVar[Mapping[str, str]] = ContextVar("typed_flags", default={})  # noqa: B039 - it is never changed
"""The flags that the user typed, by the names of their job keys."""
_CONTROL_PICTURES = {
    **{code: 0x2400 + code for code in range(0x20) if chr(code) not in "\t\n"},
    0x7F: 0x2421,
    **dict.fromkeys(range(0x80, 0xA0), 0xFFFD),
}
"""Control characters that a terminal obeys, and the visible characters that are printed instead."""


def replace_controls(text: str) -> str:
    """Return text of the web with control characters replaced, so that it cannot send commands to a terminal."""
    return text.translate(_CONTROL_PICTURES)


def escape_markup(text: str) -> str:
    """Return text of the web as a part of Rich markup, without markup and control characters of its own."""
    return escape(replace_controls(text))


def say(message: str | Text) -> None:
    """Print a message to stderr. Long lines are not folded, so that commands and paths can be copied."""
    terminal.print(Text(replace_controls(message)) if isinstance(message, str) else message, soft_wrap=True)


def say_above_progress(message: str) -> None:
    """Print a message to stderr while a live progress line is shown. Long lines are folded."""
    terminal.print(Text(replace_controls(message)))


def stop(message: str, *, code: int = WRONG_USAGE) -> NoReturn:
    """Print an error message and end the command."""
    show_error(_name_flag(message))
    raise typer.Exit(code)


def show_error(message: str) -> None:
    """Print an error message to stderr."""
    say(Text.assemble(("error:", "bold red"), " ", replace_controls(message)))


def stop_interrupted(message: str) -> NoReturn:
    """Print a message and end the command after Ctrl-C."""
    say(message)
    raise typer.Exit(INTERRUPTED)


def _name_flag(message: str) -> str:
    """Replace a job key at the beginning of a message by its flag, if the user typed that flag."""
    key, space, rest = message.partition(" ")
    return f"{typed_flags.get().get(key, key)}{space}{rest}"


def print_json(value: Any) -> None:
    sys.stdout.write(json.dumps(value, ensure_ascii=False) + "\n")


def print_table(columns: Sequence[str], rows: Iterable[Sequence[str]], *, title: str = "") -> None:
    """Print a table on stdout. Cells are text, not markup. There is no header if all columns are without a name."""
    heading = escape_markup(title) or None
    table = Table(title=heading, title_justify="left", header_style="bold", show_header=any(columns))
    for column in columns:
        table.add_column(escape_markup(column), overflow="fold")
    for row in rows:
        table.add_row(*(escape_markup(cell) for cell in row))
    Printer(highlight=False).print(table)


def print_wide_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table of figures on stdout, as several tables with the same first column if it is too wide for one."""
    console = folding_printer()
    widths = [max(map(cell_len, column)) for column in zip(columns, *rows, strict=True)]
    for part in _split_columns(widths, console.width):
        table = Table(header_style="bold")
        for number in part:
            table.add_column(escape_markup(columns[number]), justify="right" if number else "left", overflow="fold")
        for row in rows:
            table.add_row(*(escape_markup(row[number]) for number in part))
        console.print(table)


def _split_columns(widths: Sequence[int], max_width: int) -> list[list[int]]:
    """Return the column numbers of each table: the first column and as many others as fit, but at least one."""
    parts = [[0]]
    for number in range(1, len(widths)):
        width = sum(widths[one] + 3 for one in (*parts[-1], number)) + 1
        if len(parts[-1]) > 1 and width > max_width:
            parts.append([0])
        parts[-1].append(number)
    return parts
