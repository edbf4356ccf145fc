"""How things look on a terminal: tables for people, JSON for programs, errors that say what to do."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NoReturn

import typer
from rich.cells import cell_len
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from motherlode.crawler.config.units import format_size

if TYPE_CHECKING:  # `query` and `search` need not wait for the frontier
    from motherlode.crawler import Counters, CrawlStats


class Printer(Console):
    """A console that tells the command when nobody reads any more, as in `| head`; Rich would end it as a failure."""

    def on_broken_pipe(self) -> NoReturn:
        raise BrokenPipeError


def unfolded() -> Printer:
    """Stdout for lines that are folded at the width of a terminal, and not at all in a file or a pipe."""
    console = Printer(highlight=False)
    return console if console.is_terminal else Printer(highlight=False, width=_UNLIMITED)


_UNLIMITED = 1000
"""Columns of what is no terminal."""
terminal = Printer(stderr=True, highlight=False)
"""For people; stdout is kept for results that programs read."""

FAILED = 1
WRONG_USAGE = 2
typed_flags: ContextVar[Mapping[str, str]] = ContextVar("typed_flags", default={})  # noqa: B039 - nobody writes to it
"""The flags of this command that the user has typed, by the names of the values that they give."""
_CONTROLS = {
    **{code: 0x2400 + code for code in range(0x20) if chr(code) not in "\t\n"},
    0x7F: 0x2421,
    **dict.fromkeys(range(0x80, 0xA0), 0xFFFD),
}
"""Characters that would tell the terminal to do something → their pictures."""
_KINDS_SHOWN = 5
"""Kinds of problems that a person is shown."""


def harmless(text: str) -> str:
    """Text of the web as a terminal may have it: what would be a command becomes a picture, character by character.

    >>> harmless("\\x1b[31mred\\n")
    '␛[31mred\\n'
    """
    return text.translate(_CONTROLS)


def plain(text: str) -> str:
    """Text of the web as a part of our markup: it is no markup itself, and no command."""
    return escape(harmless(text))


def say(message: str | Text) -> None:
    """Something for a person, on stderr. Lines are left to the terminal to fold: a command or a path can be copied."""
    terminal.print(Text(harmless(message)) if isinstance(message, str) else message, soft_wrap=True)


def tell(message: str) -> None:
    """The same beside a live line, which is drawn again together with it and has to be folded."""
    terminal.print(Text(harmless(message)))


def stop(message: str, *, code: int = WRONG_USAGE) -> NoReturn:
    """End with an error that a person can act on."""
    say(Text.assemble(("error:", "bold red"), " ", harmless(_by_flag(message))))
    raise typer.Exit(code)


def _by_flag(message: str) -> str:
    """A message about a key of a job, with the flag in its place where the value was typed and not read from a file."""
    key, space, rest = message.partition(" ")
    return f"{typed_flags.get().get(key, key)}{space}{rest}"


def moment(seconds: float) -> str:
    """
    >>> moment(0.0)
    '1970-01-01 00:00:00 UTC'
    """
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M:%S} UTC"


def print_json(value: Any) -> None:
    sys.stdout.write(json.dumps(value, ensure_ascii=False) + "\n")


def print_table(columns: Sequence[str], rows: Iterable[Sequence[str]], *, title: str = "") -> None:
    """A table on stdout; every cell is text, never markup. Columns without names need no line for them."""
    table = Table(title=plain(title) or None, title_justify="left", header_style="bold", show_header=any(columns))
    for column in columns:
        table.add_column(plain(column), overflow="fold")
    for row in rows:
        table.add_row(*(plain(cell) for cell in row))
    Printer(highlight=False).print(table)


def print_in_parts(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A table of figures on stdout that loses nothing where the terminal is narrow.

    Columns for which there is no room go on in further tables below, each of which begins with the first column.
    """
    console = unfolded()
    widths = [max(map(cell_len, column)) for column in zip(columns, *rows, strict=True)]
    for part in _fitting(widths, console.width):
        table = Table(header_style="bold")
        for number in part:
            table.add_column(plain(columns[number]), justify="right" if number else "left", overflow="fold")
        for row in rows:
            table.add_row(*(plain(row[number]) for number in part))
        console.print(table)


def _fitting(widths: Sequence[int], room: int) -> list[list[int]]:
    """Numbers of columns, table by table: as many as fit beside the first, and one at least.

    >>> _fitting([10, 5, 5, 5], 30), _fitting([10, 5, 5, 5], 10)
    ([[0, 1, 2], [0, 3]], [[0, 1], [0, 2], [0, 3]])
    """
    parts = [[0]]
    for number in range(1, len(widths)):
        frame = sum(widths[one] + 3 for one in (*parts[-1], number)) + 1
        if len(parts[-1]) > 1 and frame > room:
            parts.append([0])
        parts[-1].append(number)
    return parts


def print_summary(stats: CrawlStats) -> None:
    """The account of a crawl as a person wants to see it."""
    totals = stats.totals
    rate = totals.fetched / totals.seconds if totals.seconds else 0.0
    rows = [
        ("fetched", f"{counted(totals.fetched, 'page')} in {totals.seconds:,.1f} s ({rate:,.0f} a second)"),
        ("relevant", f"{totals.relevant:,} (harvest rate {totals.harvest_rate:.3f})"),
        ("quads", f"{totals.quads:,}"),
        ("hosts asked", f"{len(stats.hosts):,}"),
        ("known URLs", f"{stats.known_urls:,}"),
        *([("left to find", left_to_find(stats))] if stats.left is not None else []),
        ("received", format_size(totals.bytes)),
        ("on disk", format_size(stats.disk)),
        *([("not indexed", _unindexed(stats))] if stats.unindexed_bytes else []),
        *([("damaged", "\n".join(stats.damaged_segments))] if stats.damaged_segments else []),
        ("redirects", f"{totals.redirects:,}"),
        *([("network", _network(totals))] if totals.outages else []),
        *([("heads", f"{totals.heads:,}")] if totals.heads else []),
        *([("refreshed", _refreshed(totals))] if totals.refreshed else []),
        *([("sinks", _sinks(stats))] if stats.sinks else []),
        *([("unfinished", _unfinished(totals))] if totals.unfinished else []),
        ("failures", _by_count(totals.failures) or "none"),
        ("refused", _by_count(stats.refused) or "none"),
        *([("withheld", _withheld(stats))] if stats.withheld.urls else []),
        *([("robots.txt unread", _unread(stats))] if stats.unread_rules else []),
        ("problems", _problems(stats.problem_kinds) or "none"),
        ("syntaxes", _syntaxes(totals.syntaxes) or "none"),
    ]
    print_table(("", ""), rows)


def _withheld(stats: CrawlStats) -> str:
    """What waits because of `max_untried_hosts`, in words."""
    found = stats.withheld
    where = f"{counted(found.hosts, 'untried host')} of {counted(found.domains, 'domain')}"
    return f"{counted(found.urls, 'URL')} on {where} where no other host was relevant"


def left_to_find(stats: CrawlStats) -> str:
    """The estimate of what is left, in words."""
    left = stats.left
    if left is None:
        return ""
    dry = "; the crawl dried out" if stats.dried_out else ""
    if not left.urls:
        return f"nothing: no URL waits{dry}"
    if not left.found:
        none = f"nothing can be told yet: of {counted(left.requests, 'request')} none was a find"
        return f"{none}; {left.low:,.0f} to {left.high:,.0f} may be among {left.urls:,} waiting URLs{dry}"
    if left.is_early:
        unseen = f"how many more behind them, {left.requests:,} requests cannot tell"
    elif left.with_unseen is None:
        unseen = "more behind them: there is no end of new links in sight"
    else:
        unseen = f"about {left.with_unseen:,.0f} with pages that no link has led to yet"
    return (
        f"about {left.finds:,.0f} ({left.low:,.0f} to {left.high:,.0f}) among {left.urls:,} waiting URLs; {unseen}{dry}"
    )


def _unindexed(stats: CrawlStats) -> str:
    return f"{format_size(stats.unindexed_bytes)} of quads: `motherlode index` sorts them, or the first query"


def _network(totals: Counters) -> str:
    from motherlode.crawler.report.figures import duration  # `query` and `search` need not wait for it

    times = "once" if totals.outages == 1 else f"{totals.outages:,} times"
    gone = f"gone {times}, for {duration(totals.outage_seconds)} in all"
    return gone if totals.no_network_since is None else f"{gone}; none since {moment(totals.no_network_since)}"


def _unfinished(totals: Counters) -> str:
    """The pages that were under way when the time was up, in words."""
    stages = Counter(totals.unfinished.values())
    under_way = " and ".join(f"{count:,} {stage}" for stage, count in sorted(stages.items(), reverse=True))
    return f"{under_way} when the time was up; `motherlode resume` begins with them"


def _refreshed(totals: Counters) -> str:
    return f"{counted(totals.refreshed, 'look')} at known pages in all: {looks_in_words(totals)}"


def looks_in_words(totals: Counters) -> str:
    """What looks at known pages have found."""
    failed = totals.refreshed - totals.unchanged - totals.changed - totals.gone
    found = f"{totals.unchanged:,} unchanged, {totals.changed:,} changed, {totals.gone:,} gone"
    return f"{found}, {failed:,} failed" if failed else found


def _sinks(stats: CrawlStats) -> str:
    return "; ".join(f"{state['kind']} {state['to']}: {_sink(state)}" for state in stats.sinks)


def _sink(state: Mapping[str, Any]) -> str:
    if "files" in state:
        return counted(state["files"], "file")
    trouble = f" ({state['trouble']})" if state["trouble"] else ""
    return f"{state['waiting']:,} waiting{trouble}, {state['refused']:,} refused"


def _unread(stats: CrawlStats) -> str:
    unread = stats.unread_rules
    hosts = counted(sum(unread.values()), "host")
    return f"of {hosts}, nothing of which is fetched meanwhile: {_by_count(unread)}"


def _syntaxes(syntaxes: Mapping[str, Sequence[int]]) -> str:
    by_pages = sorted(((name, pages) for name, (pages, _) in syntaxes.items()), key=lambda item: -item[1])
    return ", ".join(f"{name} on {counted(pages, 'page')}" for name, pages in by_pages)


def counted(count: int, noun: str) -> str:
    """
    >>> counted(1, "page"), counted(2_000, "page")
    ('1 page', '2,000 pages')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _problems(kinds: Mapping[str, int]) -> str:
    """How many there are, and the most frequent, a line each."""
    if not kinds:
        return ""
    rest = len(kinds) - _KINDS_SHOWN
    return "\n".join(
        [
            f"{sum(kinds.values()):,}",
            *(f"{count:,} × {kind}" for kind, count in list(kinds.items())[:_KINDS_SHOWN]),
            *([f"and {rest:,} other kinds: --json"] if rest > 0 else []),
        ]
    )


def _by_count(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in sorted(counts.items(), key=lambda item: -item[1]))
