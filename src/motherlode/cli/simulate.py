"""The command `simulate`: compare policies on a recorded or synthetic web."""

from pathlib import Path
from shlex import quote
from statistics import mean
from typing import Annotated

from motherlode.cli.options import OUTPUT, REWARD_HELP, TARGET_HELP, AsJson, Model, argument, flag, option
from motherlode.cli.progress import Meter
from motherlode.cli.terminal import print_json, print_wide_table, say, stop, stop_interrupted
from motherlode.crawler.config.job import describe_error
from motherlode.crawler.config.job_file import read_seeds
from motherlode.policies import DEFAULT_POLICY, hint_about_target, policy_usage, policy_variants
from motherlode.policies.registry import GUIDE
from motherlode.sim.comparison import PairedDifference
from motherlode.sim.comparison import compare as compare_policies
from motherlode.sim.experiment import Experiment, ExperimentSetup, Row, run_experiment
from motherlode.sim.report import spread, write_outputs
from motherlode.sim.runner import default_cache, prepared
from motherlode.sim.simulator import Timing


def simulate(
    web: Annotated[str, argument("TRACE|FILE.warc.gz|synthetic:PAGES[:SEED]|anthelion:DIR", "The web to crawl.")],
    *,
    policy: Annotated[
        list[str] | None,
        option(
            "P",
            f"A policy to compare; may be given several times. One of {policy_usage()}. {policy_variants()}. "
            f"See {GUIDE}. [default: bfs and {DEFAULT_POLICY}]",
        ),
    ] = None,
    compare: Annotated[
        tuple[str, str] | None,
        option("A B", "Two policies to compare in pairs: the mean difference B - A with its standard error."),
    ] = None,
    seeds: Annotated[str | None, option("FILE|URL", "Seed URLs; by default every host's home page.")] = None,
    target: Annotated[str, option("T", TARGET_HELP)] = "any",
    reward: Annotated[str, option("R", f"Reward of the policies: {REWARD_HELP}")] = "target",
    model: Model = None,
    pages: Annotated[int | None, option("N", "Budget of requests.")] = None,
    share: Annotated[float | None, option("F", "Budget as a share of the web's pages. [default: 0.12]")] = None,
    repeat: Annotated[int, option("K", "Repetitions, each with another seed and host order.", min=1)] = 1,
    seed: Annotated[int, option("S", "Seed of the first repetition.")] = 0,
    output: Annotated[Path | None, option("DIR", "A folder for report, plots and CSV.", *OUTPUT)] = None,
    keep: Annotated[
        Path | None, option("DIR", "Keep the first crawl of each policy in DIR/POLICY, for `motherlode explain`.")
    ] = None,
    as_json: AsJson = False,
    missing: Annotated[
        bool, flag("--missing/--no-missing", "Keep links to pages that a recorded web lacks, as 404s.")
    ] = True,
    dead: Annotated[
        float | None,
        option(
            "RATE", "Keep only this share of the links to pages that a recorded web lacks. [default: 1]", min=0, max=1
        ),
    ] = None,
    in_flight: Annotated[int, option("N", "Requests at the same time.", min=1)] = 1,
    delay: Annotated[float, option("SECONDS", "Virtual time between two requests to one host.", min=0)] = 0.0,
    latency: Annotated[float, option("X", "Factor on each page's latency.", min=0)] = 0.0,
    bandwidth: Annotated[
        float, option("BYTES", "Bytes per second of one request.", min=1, show_default="no limit")
    ] = float("inf"),
    failures: Annotated[float, option("RATE", "Share of failed requests.", min=0, max=1)] = 0.0,
) -> None:
    """Compare policies on a recorded or synthetic web.

    It runs the same code as a live crawl, and sends no requests.

    \b
    Examples:
      motherlode simulate sites.warc.gz --policy bfs --policy bandit:success-rate --share 0.12 --repeat 5
      motherlode simulate sites.warc.gz --compare bandit:success-rate motherlode --repeat 20
      motherlode simulate synthetic:100000:7 --pages 10000 --target "microdata>=5" -o out
      motherlode simulate sites.warc.gz --in-flight 64 --delay 1 --latency 1     relevant pages per hour

    More in docs/simulate.md.
    """
    if output is not None and output.exists() and not output.is_dir():
        stop(f"{output} is a file: report, plots and CSV need a folder, choose another with -o")
    timing = Timing(in_flight=in_flight, delay=delay, latency=latency, bandwidth=bandwidth, failure_rate=failures)
    try:
        setup = ExperimentSetup(
            web=web,
            policies=_policies(policy, compare),
            seeds=_read_seeds(seeds),
            target=target,
            pages=pages,
            share=share,
            repeat=repeat,
            seed=seed,
            timing=timing,
            dead=_dead(dead, missing=missing),
            model="" if model is None else str(model.resolve()),
            reward=reward,
            keep="" if keep is None else str(keep.resolve()),
        )
        if hint := hint_about_target(target):
            say(hint)
        experiment = _run(setup)
        _print(experiment, as_json=as_json, output=output)
        if compare is not None:
            _print_comparison(experiment, *compare, as_json=as_json)
    except KeyboardInterrupt:
        stop_interrupted("stopped: nothing is saved of an unfinished simulation")
    except ValueError as error:
        stop(describe_error(error))
    except OSError as error:
        stop(f"{error.filename or web}: {error.strerror or error}")


def _policies(named: list[str] | None, compared: tuple[str, str] | None) -> tuple[str, ...]:
    default = () if compared else ("bfs", DEFAULT_POLICY)
    return tuple(dict.fromkeys([*(named or default), *(compared or ())]))


def _dead(share: float | None, *, missing: bool) -> float:
    """Return the share of dead links (to pages that the web lacks) that are kept."""
    if share is not None and not missing:
        raise ValueError("--dead keeps links that --no-missing leaves out: give one of the two")
    return float(missing) if share is None else share


def _read_seeds(source: str | None) -> tuple[str, ...]:
    """Return the URLs of a file, or the one URL that was given."""
    if source is None:
        return ()
    if source.startswith(("http://", "https://")):
        return (source,)
    return read_seeds(Path(source))


def _run(setup: ExperimentSetup) -> Experiment:
    with Meter() as meter:
        setup = setup.on(prepared(setup.web, default_cache(), meter.for_bytes(f"reading {setup.web}")))
        return run_experiment(setup, progress=meter.show)


def _print(experiment: Experiment, *, as_json: bool, output: Path | None) -> None:
    if as_json:
        for row in experiment.rows:
            print_json(row.as_json())
    else:
        _print_table(experiment)
    for note in experiment.notes:
        say(note)
    if output is not None:
        say(f"report: {write_outputs(output, experiment)}")
    for name in experiment.setup.policies:
        if folder := experiment.setup.folder_of(name):
            say(f"explain a URL: motherlode explain {quote(folder)} URL")


def _print_comparison(experiment: Experiment, first: str, second: str, *, as_json: bool) -> None:
    found = compare_policies(experiment, first, second)
    if as_json:
        print_json({"compare": [first, second], **{one.figure: one.as_json() for one in found}})
        return
    lines = [
        (one.figure.replace("_", " "), *(f"{value:.3f}" for value in one.means), _difference(one)) for one in found
    ]
    print_wide_table(("figure", first, second, f"difference in {experiment.setup.repeat} pairs"), lines)


def _difference(one: PairedDifference) -> str:
    error = "" if one.standard_error is None else f" ±{one.standard_error:.3f}"
    return f"{one.difference:+.3f}{error}"


def _print_table(experiment: Experiment) -> None:
    """Print one line per policy with mean and spread of its repetitions, the most important figures first."""
    names = list(dict.fromkeys(row.policy for row in experiment.rows))
    timed = experiment.setup.timing.counts_seconds
    lines = [_figures([row for row in experiment.rows if row.policy == name], timed=timed) for name in names]
    columns = ("policy", *(lines[0] if lines else ()))
    print_wide_table(columns, [(name, *line.values()) for name, line in zip(names, lines, strict=True)])


def _figures(rows: list[Row], *, timed: bool) -> dict[str, str]:
    return {
        "relevant": f"{mean(row.result.relevant for row in rows):,.0f}",
        "harvest": spread([row.result.harvest_rate for row in rows]),
        "focus": spread([row.focus for row in rows]),
        "area focus": spread([row.area_focus for row in rows]),
        "recall": spread([row.recall for row in rows]),
        **({"relevant/hour": _per_hour(rows)} if timed else {}),
        "hosts": f"{mean(row.result.relevant_hosts for row in rows):,.1f}",
        "fetched": f"{mean(row.result.fetched for row in rows):,.0f}",
        "pick µs": f"{mean(row.result.select_us_mean for row in rows):.1f}",
        "pages/s": f"{mean(row.result.fetched / max(1e-9, row.result.wall_seconds) for row in rows):,.0f}",
    }


def _per_hour(rows: list[Row]) -> str:
    return f"{mean(3600 * row.result.relevant / max(1e-9, row.result.seconds) for row in rows):,.0f}"
