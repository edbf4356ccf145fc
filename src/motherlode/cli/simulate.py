"""`record` and `simulate`: choose a policy before spending a single request."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from statistics import mean
from typing import Annotated, NoReturn

import typer

from motherlode.cli import INTERRUPTED
from motherlode.cli.crawl import read_seeds
from motherlode.cli.progress import Meter
from motherlode.cli.terminal import print_in_parts, print_json, say, stop
from motherlode.crawler import CrawlFolder
from motherlode.crawler.config.job import describe_error
from motherlode.policies import DEFAULT_POLICY, policy_usage
from motherlode.policies.registry import GUIDE
from motherlode.sim.experiment import Experiment, ExperimentProgress, ExperimentSetup, Row, run_experiment
from motherlode.sim.report import spread, write_outputs
from motherlode.sim.runner import prepared
from motherlode.sim.simulator import Timing
from motherlode.sim.trace.recorder import record as record_trace


def record(
    files: Annotated[list[Path], typer.Argument(metavar="FILE.warc.gz...", help="WARC files, ours or others'.")],
    *,
    output: Annotated[Path, typer.Option("-o", "--output", metavar="TRACE", help="A folder for the trace.")],
) -> None:
    """Turn recorded sites into a trace for simulation.

    \b
    Examples:
      motherlode record sites.warc.gz -o sites.trace
      motherlode record crawl/warc/*.warc.gz -o crawl.trace

    A trace holds pages, links with all their properties, and what the pages say. A file that is in it already,
    unchanged, is not read again; a recording that was stopped goes on. More in docs/simulate.md.
    """
    if CrawlFolder(output).has_crawl:
        stop(f"{output} holds a crawl: a trace needs a folder of its own, choose another with -o")
    try:
        with Meter() as meter:
            parts = record_trace(files, output, progress=_reading(", ".join(file.name for file in files), meter))
    except KeyboardInterrupt:
        _end_at_once("stopped; the same command goes on with the first file that is not in the trace yet")
    except ValueError as error:
        stop(str(error))
    except OSError as error:
        stop(f"the trace {output} cannot be made: {error.strerror or error}")
    pages, links, broken = (sum(getattr(part, name) for part in parts) for name in ("pages", "links", "broken"))
    say(f"{pages:,} responses with {links:,} links in {output}; {broken:,} broken records passed over")


def _reading(what: str, meter: Meter) -> Callable[[int, int], None]:
    return lambda done, of: meter.show(ExperimentProgress(what=f"reading {what}", done=done, of=of, unit="bytes"))


def _end_at_once(message: str) -> NoReturn:
    say(message)
    raise typer.Exit(INTERRUPTED)


def simulate(
    web: Annotated[str, typer.Argument(metavar="TRACE|FILE.warc.gz|synthetic:PAGES", help="What to crawl.")],
    *,
    policy: Annotated[
        list[str] | None,
        typer.Option(
            metavar="P",
            help=f"A policy to try; may be given several times. One of {policy_usage()}: see {GUIDE}. "
            f"[default: bfs and {DEFAULT_POLICY}]",
        ),
    ] = None,
    seeds: Annotated[
        str | None, typer.Option(metavar="FILE|URL", help="Where to start; otherwise every host's home page.")
    ] = None,
    target: Annotated[
        str,
        typer.Option(
            metavar="T", help="What counts as a find: any, rdf, jsonld, microdata>=5, type:schema:Recipe, or 'ASK {…}'."
        ),
    ] = "any",
    reward: Annotated[
        str, typer.Option(metavar="R", help="What policies learn from: target, statements, per-request or per-byte.")
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
        float, typer.Option(metavar="BYTES", min=1, show_default="no limit", help="Bytes a second and request.")
    ] = float("inf"),
    failures: Annotated[float, typer.Option(metavar="RATE", min=0, max=1, help="Share of failed requests.")] = 0.0,
) -> None:
    """Compare policies on a recorded or synthetic web.

    It is run with the very code of a live crawl, and costs no request.

    \b
    Examples:
      motherlode simulate sites.warc.gz --policy bfs --policy bandit:success-rate --share 0.12 --repeat 5
      motherlode simulate synthetic:100000 --pages 10000 --target "microdata>=5" -o out
      motherlode simulate sites.warc.gz --in-flight 64 --delay 1 --latency 1     relevant pages per hour

    More in docs/simulate.md.
    """
    if output is not None and output.exists() and not output.is_dir():
        stop(f"{output} is a file: report, plots and CSV need a folder, choose another with -o")
    timing = Timing(in_flight=in_flight, delay=delay, latency=latency, bandwidth=bandwidth, failure_rate=failures)
    try:
        question = ExperimentSetup(
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
    except KeyboardInterrupt:
        _end_at_once("stopped: of a simulation that has not come to its end nothing is kept")
    except ValueError as error:
        stop(describe_error(error))
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


def _study(question: ExperimentSetup) -> Experiment:
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "motherlode" / "traces"
    with Meter() as meter:
        question = question.on(prepared(question.web, cache, _reading(question.web, meter)))
        return run_experiment(question, progress=meter.show)


def _tell(found: Experiment, *, as_json: bool, output: Path | None) -> None:
    if as_json:
        for row in found.rows:
            print_json(row.as_json())
    else:
        _print_table(found)
    for note in found.notes:
        say(note)
    if output is not None:
        say(f"report: {write_outputs(output, found)}")


def _print_table(found: Experiment) -> None:
    """A line a policy, the mean and the spread of its repetitions; what matters most stands first."""
    names = list(dict.fromkeys(row.policy for row in found.rows))
    lines = [
        _figures([row for row in found.rows if row.policy == name], timed=found.question.timing.counts_seconds)
        for name in names
    ]
    heads = ("policy", *(lines[0] if lines else ()))
    print_in_parts(heads, [(name, *line.values()) for name, line in zip(names, lines, strict=True)])


def _figures(own: list[Row], *, timed: bool) -> dict[str, str]:
    return {
        "relevant": f"{mean(row.result.relevant for row in own):,.0f}",
        "harvest": spread([row.result.harvest_rate for row in own]),
        "focus": spread([row.focus for row in own]),
        "area focus": spread([row.area_focus for row in own]),
        "recall": spread([row.recall for row in own]),
        **({"finds/hour": _per_hour(own)} if timed else {}),
        "fetched": f"{mean(row.result.fetched for row in own):,.0f}",
        "pick µs": f"{mean(row.result.select_us_mean for row in own):.1f}",
        "pages/s": f"{mean(row.result.fetched / max(1e-9, row.result.wall_seconds) for row in own):,.0f}",
    }


def _per_hour(own: list[Row]) -> str:
    return f"{mean(3600 * row.result.relevant / max(1e-9, row.result.seconds) for row in own):,.0f}"
