"""`record` and `simulate`: choose a policy before spending a single request."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import mean
from typing import Annotated

import typer
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from motherlode.cli.crawling import read_seeds
from motherlode.cli.output import print_json, say, stop, terminal, unfolded
from motherlode.crawl import CrawlFolder
from motherlode.crawl.job import in_words
from motherlode.policy import DEFAULT_POLICY
from motherlode.sim.output import spread, write_outputs
from motherlode.sim.record import record as record_trace
from motherlode.sim.run import Timing
from motherlode.sim.sources import prepared
from motherlode.sim.study import Question, Row, Study, study

_DISPENSABLE = ("fetched", "pick µs", "pages/s")


@contextmanager
def _bar(what: str) -> Iterator[Callable[[int, int], None]]:
    """A progress bar on the terminal, gone when all is done; gives the function that moves it."""
    columns = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
    with Progress(*columns, console=terminal, transient=True, disable=not terminal.is_terminal) as bars:
        bar = bars.add_task(escape(what), total=None)
        yield lambda done, of: bars.update(bar, completed=done, total=of)


def record(
    files: Annotated[list[Path], typer.Argument(metavar="FILE.warc.gz...", help="WARC files, ours or others'.")],
    *,
    output: Annotated[Path, typer.Option("-o", "--output", metavar="TRACE", help="A folder for the trace.")],
) -> None:
    """Turn recorded sites into a trace for simulation: pages, links with all their properties, labels.

    A file that is in the trace already, unchanged, is not read again; a recording that was stopped goes on.
    """
    if CrawlFolder(output).holds_a_crawl:
        stop(f"{output} holds a crawl: a trace needs a folder of its own, choose another with -o")
    try:
        with _bar("reading " + ", ".join(file.name for file in files)) as move:
            parts = record_trace(files, output, progress=move)
    except ValueError as error:
        stop(str(error))
    except OSError as error:
        stop(f"the trace {output} cannot be made: {error.strerror or error}")
    pages, links, broken = (sum(getattr(part, name) for part in parts) for name in ("pages", "links", "broken"))
    say(f"{pages:,} responses with {links:,} links in {output}; {broken:,} broken records passed over")


def simulate(
    web: Annotated[str, typer.Argument(metavar="TRACE|FILE.warc.gz|synthetic:PAGES", help="What to crawl.")],
    *,
    policy: Annotated[list[str] | None, typer.Option(help="A policy to try; may be given several times.")] = None,
    seeds: Annotated[
        str | None, typer.Option(metavar="FILE|URL", help="Where to start; otherwise every host's home page.")
    ] = None,
    target: Annotated[str, typer.Option(help="What counts as a find.")] = "any",
    reward: Annotated[
        str, typer.Option(help="What policies learn from: target, statements, per-request or per-byte.")
    ] = "target",
    model: Annotated[
        Path | None, typer.Option(metavar="FILE|DIR", help="What the policy that made it starts from.")
    ] = None,
    pages: Annotated[int | None, typer.Option(metavar="N", help="Budget in requests.")] = None,
    share: Annotated[
        float | None, typer.Option(metavar="F", help="Budget as a share of the web's pages. [default: 0.12]")
    ] = None,
    repeat: Annotated[int, typer.Option(metavar="K", min=1, help="Repetitions, each with another seed.")] = 1,
    seed: Annotated[int, typer.Option(metavar="S", help="Seed of the first repetition.")] = 0,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="DIR", help="A folder for report, plots and CSV.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line.")] = False,
    missing: Annotated[bool, typer.Option("--missing", help="Keep links to what the web lacks, as 404s.")] = False,
    in_flight: Annotated[int, typer.Option(metavar="N", min=1, help="Requests at the same time.")] = 1,
    delay: Annotated[float, typer.Option(metavar="SECONDS", min=0, help="Politeness in virtual time.")] = 0.0,
    latency: Annotated[float, typer.Option(metavar="X", min=0, help="Factor on each page's latency.")] = 0.0,
    bandwidth: Annotated[
        float, typer.Option(metavar="BYTES", min=1, help="Bytes a second and request. [default: no limit]")
    ] = float("inf"),
    failures: Annotated[float, typer.Option(metavar="RATE", min=0, max=1, help="Share of failed requests.")] = 0.0,
) -> None:
    """Run policies on a recorded or synthetic web, with the very code of a live crawl, and compare them.

    \b
    Examples:
      motherlode simulate sites.warc.gz --policy bfs --policy bandit:success-rate --share 0.12 --repeat 5
      motherlode simulate synthetic:100000 --pages 10000 --target "microdata>=5" -o out
      motherlode simulate sites.warc.gz --in-flight 64 --delay 1 --latency 1     relevant pages per hour
    """
    if output is not None and output.exists() and not output.is_dir():
        stop(f"{output} is a file: report, plots and CSV need a folder, choose another with -o")
    timing = Timing(in_flight=in_flight, delay=delay, latency=latency, bandwidth=bandwidth, failure_rate=failures)
    try:
        question = Question(
            web=web,
            policies=tuple(dict.fromkeys(policy or ["bfs", DEFAULT_POLICY])),
            seeds=_seeds(seeds),
            target=target,
            pages=pages,
            share=share,
            repeat=repeat,
            seed=seed,
            timing=timing,
            keep_missing=missing,
            model="" if model is None else str(model.resolve()),
            reward=reward,
        )
        found = _study(question)
        _tell(found, as_json=as_json, output=output)
    except ValueError as error:
        stop(in_words(error))
    except OSError as error:
        stop(f"{error.filename or web}: {error.strerror or error}")


def _seeds(given: str | None) -> tuple[str, ...]:
    """The URLs of a file, or one URL."""
    if given is None:
        return ()
    if given.startswith(("http://", "https://")):
        return (given,)
    found = read_seeds(Path(given))
    if not found:
        raise ValueError(f"the file of seeds {given} names no URL")
    return found


def _study(question: Question) -> Study:
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "motherlode" / "traces"
    with _bar(f"reading {question.web}") as move:
        question = question.on(prepared(question.web, cache, move))
    with _bar("simulating") as move:
        return study(question, progress=move)


def _tell(found: Study, *, as_json: bool, output: Path | None) -> None:
    if as_json:
        for row in found.rows:
            print_json(row.as_json())
    else:
        _print_table(found)
    for note in found.notes:
        say(note)
    if output is not None:
        say(f"report: {write_outputs(output, found)}")


def _print_table(found: Study) -> None:
    """A line a policy, the mean and the spread of its repetitions; on a narrow terminal without the latter."""
    console = unfolded()
    table = _table(found, spread)
    if console.measure(table, options=console.options.update(width=sys.maxsize)).maximum > console.width:
        table = _table(found, lambda values: spread(values).partition(" ")[0], leave_out=_DISPENSABLE)
    console.print(table)


def _table(found: Study, told: Callable[[Sequence[float | None]], str], leave_out: Sequence[str] = ()) -> Table:
    table = Table(header_style="bold")
    table.add_column("policy", no_wrap=True, overflow="ignore")
    lines = {}
    for name in dict.fromkeys(row.policy for row in found.rows):
        own = [row for row in found.rows if row.policy == name]
        line = _figures(own, told, timed=found.question.timing.counts_seconds)
        lines[name] = {head: text for head, text in line.items() if head not in leave_out}
    for head in next(iter(lines.values()), {}):
        table.add_column(head, justify="right", no_wrap=True)
    for name, line in lines.items():
        table.add_row(escape(name), *line.values())
    return table


def _figures(own: list[Row], told: Callable[[Sequence[float | None]], str], *, timed: bool) -> dict[str, str]:
    figures = {
        "fetched": f"{mean(row.result.fetched for row in own):,.0f}",
        "relevant": f"{mean(row.result.relevant for row in own):,.0f}",
        "harvest": told([row.result.harvest_rate for row in own]),
        "recall": told([row.recall for row in own]),
        "focus": told([row.focus for row in own]),
        "area focus": told([row.area_focus for row in own]),
        "pick µs": f"{mean(row.result.select_us_mean for row in own):.1f}",
        "pages/s": f"{mean(row.result.fetched / max(1e-9, row.result.wall_seconds) for row in own):,.0f}",
    }
    return figures | ({"finds/hour": _per_hour(own)} if timed else {})


def _per_hour(own: list[Row]) -> str:
    return f"{mean(3600 * row.result.relevant / max(1e-9, row.result.seconds) for row in own):,.0f}"
