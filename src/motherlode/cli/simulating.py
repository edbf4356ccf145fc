"""`record` and `simulate`: choose a policy before spending a single request."""

from __future__ import annotations

import os
import zlib
from pathlib import Path
from statistics import mean, pstdev
from typing import Annotated, Any

import typer
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from motherlode.cli.crawling import read_seeds
from motherlode.cli.output import print_json, print_table, stop, terminal
from motherlode.crawl import JobError, canonical_seeds
from motherlode.policy import DEFAULT_POLICY, policy_from, target_from
from motherlode.sim.matrix import (
    ORACLE,
    SYNTHETIC,
    Trial,
    Trialled,
    WebSpec,
    area,
    focus,
    open_web,
    run_trials,
    synthetic_pages,
)
from motherlode.sim.record import record as record_trace
from motherlode.sim.recorded import TraceWeb
from motherlode.sim.run import Timing
from motherlode.sim.trace import TraceError

_ORACLE_LIMIT = 200_000
"""Webs up to this size get the oracle and the recall without being asked."""


def record(
    files: Annotated[list[Path], typer.Argument(metavar="FILE.warc.gz...", help="WARC files, ours or others'.")],
    *,
    output: Annotated[Path, typer.Option("-o", "--output", metavar="TRACE", help="A folder for the trace.")],
) -> None:
    """Turn recorded sites into a trace for simulation: pages, links with all their properties, labels."""
    _record(files, output)


def _record(files: list[Path], output: Path) -> None:
    columns = (TextColumn("reading {task.description}"), BarColumn(), TimeRemainingColumn())
    with Progress(*columns, console=terminal, transient=True) as bars:
        bar: TaskID = bars.add_task(", ".join(file.name for file in files))
        try:
            parts = record_trace(files, output, progress=lambda done, of: bars.update(bar, completed=done, total=of))
        except TraceError as error:
            stop(str(error))
        except OSError as error:
            stop(f"the trace cannot be made: {error}")
    pages, links = sum(part.pages for part in parts), sum(part.links for part in parts)
    broken = sum(part.broken for part in parts)
    terminal.print(f"{pages:,} responses with {links:,} links in {output}; {broken:,} broken records passed over")


def simulate(
    web: Annotated[str, typer.Argument(metavar="TRACE|FILE.warc.gz|synthetic:PAGES", help="What to crawl.")],
    *,
    policy: Annotated[list[str] | None, typer.Option(help="A policy to try; may be given several times.")] = None,
    seeds: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Where to start; otherwise every host's home page.")
    ] = None,
    target: Annotated[str, typer.Option(help="What counts as a find.")] = "any",
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
    bandwidth: Annotated[float, typer.Option(metavar="BYTES", help="Bytes a second and request.")] = float("inf"),
    failures: Annotated[float, typer.Option(metavar="RATE", min=0, max=1, help="Share of failed requests.")] = 0.0,
) -> None:
    """Run policies on a recorded or synthetic web, with the very code of a live crawl, and compare them.

    \b
    Examples:
      motherlode simulate sites.warc.gz --policy bfs --policy bandit:success-rate --share 0.12 --repeat 5
      motherlode simulate synthetic:100000 --pages 10000 --target "microdata>=5"
      motherlode simulate sites.warc.gz --in-flight 64 --delay 1 --latency 1     relevant pages per hour
    """
    chosen = policy or ["bfs", DEFAULT_POLICY]
    _check(chosen, target)
    spec = WebSpec(web=_web(web), target=target, keep_missing=missing)
    timing = Timing(in_flight=in_flight, delay=delay, latency=latency, bandwidth=bandwidth, failure_rate=failures)
    try:
        opened = open_web(spec)
        starts = _starts(opened, seeds)
    except (TraceError, JobError) as error:
        stop(str(error))
    except OSError as error:
        stop(f"{web} cannot be read: {error}")
    budget = pages if pages is not None else round((share if share is not None else 0.12) * opened.page_count)
    if budget < 1:
        stop(f"a budget of {budget} requests is none: the web holds {opened.page_count} pages")
    if budget > opened.page_count and not as_json:
        terminal.print(f"the budget of {budget:,} is larger than the web ({opened.page_count:,} pages): all is fetched")
    small = opened.page_count <= _ORACLE_LIMIT
    total = sum(page.relevant for page in opened.everything()) if small else None
    if total == 0:
        terminal.print(f"no page of this web matches the target {target!r}: every policy will find nothing")
    yardsticks = [name for name in ("bfs", ORACLE) if small and name not in chosen]
    trials = [
        Trial(policy=name, seed=seed + turn, pages=budget, seeds=tuple(starts), timing=timing)
        for name in [*yardsticks, *chosen]
        for turn in range(1 if name in yardsticks else repeat)
    ]
    done = list(run_trials(spec, trials))
    rows = _rows(done, yardsticks=yardsticks, target=target, total=total, budget=budget)
    if as_json:
        for row in rows:
            print_json(row)
    else:
        _table(rows, timed=timing != Timing())
    if output is not None:
        from motherlode.sim.output import write_outputs  # the plots are loaded only where they are wanted

        write_outputs(output, rows)
        terminal.print(f"report: {output / 'report.html'}")


def _check(policies: list[str], target: str) -> None:
    try:
        for name in policies:
            if name != ORACLE:
                policy_from(name)
        target_from(target)
    except ValueError as error:
        stop(str(error))


def _web(name: str) -> str:
    """The web as a spec wants it; a WARC file is recorded first, and the trace kept for the next time."""
    if name.startswith(SYNTHETIC):
        try:
            synthetic_pages(name)
        except ValueError as error:
            stop(str(error))
        return name
    path = Path(name)
    if path.is_dir():
        return name
    if not path.exists():
        stop(f"{name} does not exist: give a trace, a WARC file or synthetic:PAGES")
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "motherlode" / "traces"
    trace = cache / f"{path.name}-{zlib.crc32(str(path.resolve()).encode()):08x}"
    _record([path], trace)
    return str(trace)


def _starts(web: Any, seeds: Path | None) -> list[str]:
    if seeds is None:
        return list(web.home_pages())
    urls = canonical_seeds(read_seeds(seeds))
    return [web.spelling(url) for url in urls] if isinstance(web, TraceWeb) else list(urls)


def _rows(
    done: list[Trialled], *, yardsticks: list[str], target: str, total: int | None, budget: int
) -> list[dict[str, Any]]:
    found = {name: [one.result for one in done if one.trial.policy == name] for name in ("bfs", ORACLE)}
    rows = []
    for one in done:
        if one.trial.policy in yardsticks:
            continue
        result = one.result
        row: dict[str, Any] = {
            "policy": one.trial.policy,
            "target": target,
            "seed": one.trial.seed,
            "fetched": result.fetched,
            "relevant": result.relevant,
            "harvest_rate": round(result.harvest_rate, 6),
            "recall": None if total is None else round(result.relevant / total, 6) if total else 0.0,
            "heads": result.heads,
            "select_us_mean": round(result.select_us_mean, 2),
            "wall_seconds": round(result.wall_seconds, 3),
            "virtual_seconds": round(result.seconds, 3),
            "known_urls": result.known_urls,
            "curve": result.curve,
        }
        if found["bfs"] and found[ORACLE]:
            row["focus"] = focus(
                result.relevant, mean(r.relevant for r in found["bfs"]), mean(r.relevant for r in found[ORACLE])
            )
            row["area_focus"] = focus(
                area(result.curve, budget),
                mean(area(r.curve, budget) for r in found["bfs"]),
                mean(area(r.curve, budget) for r in found[ORACLE]),
            )
        rows.append(row)
    return rows


def _table(rows: list[dict[str, Any]], *, timed: bool) -> None:
    lines = []
    for name in dict.fromkeys(row["policy"] for row in rows):
        own = [row for row in rows if row["policy"] == name]
        line = [
            name,
            f"{mean(row['fetched'] for row in own):,.0f}",
            f"{mean(row['relevant'] for row in own):,.0f}",
            _spread([row["harvest_rate"] for row in own]),
            _spread([row.get("recall") for row in own]),
            _spread([row.get("focus") for row in own]),
            _spread([row.get("area_focus") for row in own]),
            f"{mean(row['select_us_mean'] for row in own):.1f}",
            f"{mean(row['fetched'] / max(1e-9, row['wall_seconds']) for row in own):,.0f}",
        ]
        if timed:
            line.append(f"{mean(3600 * row['relevant'] / max(1e-9, row['virtual_seconds']) for row in own):,.0f}")
        lines.append(line)
    columns = ["policy", "fetched", "relevant", "harvest rate", "recall", "focus", "area focus", "pick µs", "pages/s"]
    print_table([*columns, *(["relevant/hour"] if timed else [])], lines)


def _spread(values: list[float | None]) -> str:
    known = [value for value in values if value is not None]
    if not known:
        return "—"
    return f"{mean(known):.3f}" + (f" ± {pstdev(known):.3f}" if len(known) > 1 else "")
