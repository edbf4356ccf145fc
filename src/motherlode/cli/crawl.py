"""The command `crawl`: run a job from flags and a job file in a new folder, or refresh a finished crawl."""

import dataclasses
import os.path
import sys
import time as clock
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import uvloop

from motherlode.cli.crawl_forever import EndlessRefresh
from motherlode.cli.crawl_run import (
    CrawlEnd,
    LogLevel,
    RefreshEnd,
    describe_start,
    print_outcome,
    run_crawl,
    stop_after_failure,
)
from motherlode.cli.options import OUTPUT, REWARD_HELP, TARGET_HELP, Allow, AsJson, Model, Quiet, argument, flag, option
from motherlode.cli.serve import ServerEndpoint, ServerProcess
from motherlode.cli.terminal import say, stop
from motherlode.cluster.ray_runtime import check_shards, running_ray
from motherlode.crawler import (
    Counters,
    CrawlFolder,
    Job,
    JobError,
    check,
    parse_size,
    parse_time,
    read_job_file,
    read_stats,
)
from motherlode.crawler.config.job_file import read_seeds
from motherlode.crawler.config.values import check_secrets
from motherlode.crawler.engine.factory import BeginRefresh
from motherlode.crawler.engine.recovery import check_model
from motherlode.crawler.recrawl.refresh_plan import RefreshKind, plan_shards
from motherlode.crawler.recrawl.revisits import Revisits
from motherlode.crawler.stats.reader import count_waiting_revisits
from motherlode.frontier import Frontier
from motherlode.policies import DEFAULT_POLICY, hint_about_target, policy_usage, policy_variants
from motherlode.policies.registry import GUIDE

_BUDGETS = {"pages": "fetched", "time": "seconds", "bytes": "bytes"}
"""Each budget, and the counter that it limits."""
_FOREVER = ("pages_per_day", "round_time", "max_disk", "notices")
_CHANGEABLE = frozenset({*_BUDGETS, "delay", "allow", "contact", "web", "warc", "log_level", *_FOREVER})
"""Keys of the saved job that one refresh may change."""


def crawl(
    seeds: Annotated[list[str] | None, argument("SEED...", "URLs to start from.")] = None,
    *,
    output: Annotated[Path, option("DIR", "A new folder for the crawl.", *OUTPUT)],
    seeds_file: Annotated[Path | None, option("FILE|-", "A file of URLs, one per line; - is stdin.", "--seeds")] = None,
    pages: Annotated[int | None, option("N", "Stop after N requests for pages.")] = None,
    time: Annotated[str | None, option("30m", "Stop after this time: 90s, 30m, 2h.")] = None,
    size: Annotated[str | None, option("1GB", "Stop after this many bytes.", "--bytes")] = None,
    target: Annotated[str | None, option("T", f"{TARGET_HELP} [default: any]")] = None,
    policy: Annotated[
        str | None,
        option(
            "P",
            f"How to choose the next URL: {policy_usage()}. {policy_variants()}. See {GUIDE}. "
            f"[default: {DEFAULT_POLICY}]",
        ),
    ] = None,
    model: Model = None,
    reward: Annotated[str | None, option("R", f"Reward of the policy: {REWARD_HELP} [default: target]")] = None,
    stop_after: Annotated[
        int | None, option("N", "Stop if too few of the last N requests gave a relevant page.")
    ] = None,
    stop_below: Annotated[
        float | None, option("SHARE", "With --stop-after: the share that is too few. [default: 0.01]")
    ] = None,
    scope: Annotated[
        str | None,
        option(
            "host|pld|web|REGEX",
            "Links to follow: to the seeds' hosts, their domains, anywhere, or matching URLs. [default: web]",
        ),
    ] = None,
    web: Annotated[Path | None, option("FILE.warc.gz", "Crawl a recorded web instead of the network.")] = None,
    delay: Annotated[
        float | None, option("SECONDS", "Pause between two requests to one host. [default: 1; 0 with --web]")
    ] = None,
    allow: Allow = None,
    contact: Annotated[
        str | None, option("URL", "Where site owners can reach you; sent in the User-Agent header.")
    ] = None,
    warc: Annotated[bool, flag("--warc", "Save all responses as WARC files in DIR/warc.")] = False,
    index: Annotated[
        str | None,
        option(
            "now|later", "When to index quads and words: later is faster, and the first query does it. [default: now]"
        ),
    ] = None,
    memory: Annotated[
        str | None, option("2GB", "Keep the memory of the crawl below this; links of low value go to disk.")
    ] = None,
    shards: Annotated[int | None, option("N", "Divide the hosts among N crawls, on Ray: see docs/cluster.md.")] = None,
    ray_parsers: Annotated[
        int | None, option("N", "Parse pages in N processes on the machines of Ray: see docs/cluster.md.")
    ] = None,
    ray: Annotated[
        str | None,
        option("ADDRESS", "For --shards and --ray-parsers: a running Ray cluster, as in 10.0.0.1:6379 or auto."),
    ] = None,
    refresh: Annotated[bool, flag("--refresh", "Revisit the pages of the crawl in DIR: see docs/refresh.md.")] = False,
    due: Annotated[bool, flag("--due", "With --refresh: only pages whose next visit is due.")] = False,
    forever: Annotated[
        bool, flag("--forever", "With --refresh: revisit pages and fetch new links until Ctrl-C.")
    ] = False,
    pages_per_day: Annotated[int | None, option("N", "With --forever: requests for pages per day.")] = None,
    config: Annotated[Path | None, option("job.toml", "A job file; flags override its keys.")] = None,
    seed: Annotated[int | None, option("S", "Seed of all random numbers. [default: 0]")] = None,
    serve: Annotated[
        str | None,
        option(
            "[ADDRESS:]PORT", "Show the crawl at http://127.0.0.1:PORT while it runs, and on a terminal until Ctrl-C."
        ),
    ] = None,
    force: Annotated[bool, flag("--force", "Replace the crawl in DIR: its data is deleted.")] = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
    log_level: LogLevel = None,
) -> None:
    """Crawl from SEEDS into a new folder.

    The crawl learns which links lead to relevant pages, and spends its requests there.

    \b
    Examples:
      motherlode crawl https://example.org/ -o out --pages 1000
      motherlode crawl --seeds urls.txt -o out --target "type:schema:Recipe" --time 30m
      motherlode crawl --seeds seeds.txt --web sites.warc.gz --delay 0 -o out --pages 2000
      motherlode crawl --refresh -o out --pages 500
      motherlode crawl --refresh --forever -o out --pages-per-day 20000
      motherlode crawl --seeds urls.txt -o out2 --model out --stop-after 500

    Ctrl-C stops cleanly; `motherlode resume DIR` continues. Without a budget the crawl ends when no URL is left.
    All flags, targets and job files: docs/crawl.md. All policies: docs/policies.md.
    """
    flags = {
        "pages": pages,
        "time": time,
        "bytes": size,
        "target": target,
        "policy": policy,
        "model": None if model is None else str(model.resolve()),
        "reward": reward,
        "stop_after": stop_after,
        "stop_below": stop_below,
        "scope": scope,
        "web": None if web is None else str(web.resolve()),
        "delay": delay,
        "allow": tuple(allow) if allow else None,
        "contact": contact,
        "log_level": log_level,
        "seed": seed,
        "warc": True if warc else None,
        "index": index,
        "memory": memory,
        "shards": shards,
        "ray_parsers": ray_parsers,
        "ray": ray,
        "pages_per_day": pages_per_day,
    }
    _check_refresh(flags, force=force, refresh=refresh, due=due, forever=forever)
    endpoint = None if serve is None else ServerEndpoint.parse(serve)
    if endpoint is not None:
        endpoint.check()
    folder = CrawlFolder(output)
    values = _job_values(flags, config, seeds or (), seeds_file)
    run: Callable[..., None]
    if refresh:
        run = _refresh_forever if forever else partial(_refresh, due=due)
    else:
        run = partial(_crawl_new, force=force, has_stop_below=stop_below is not None)
    run(folder, values, endpoint=endpoint, quiet=quiet, as_json=as_json)


def _crawl_new(
    folder: CrawlFolder,
    values: Mapping[str, Any],
    *,
    force: bool,
    has_stop_below: bool,
    endpoint: ServerEndpoint | None,
    quiet: bool,
    as_json: bool,
) -> None:
    """Run a new crawl, and print its outcome. `has_stop_below` is True if the flag was given."""
    job = Job(**values)
    if has_stop_below and job.stop_after is None:
        raise JobError("--stop-below is the share for --stop-after: use it with --stop-after N")
    warning = _check_new(job, endpoint)
    folder.create(job, force=force)
    for line in (warning, hint_about_target(job.target), _contact_hint(job)):
        if line and not quiet:
            say(line)
    with _serving(folder, endpoint) as server:
        stopped = run_crawl(job, folder, quiet=quiet or as_json)
        print_outcome(folder, as_json=as_json, ending=None if stopped or quiet else CrawlEnd(job, folder))
        _keep_serving(server, is_wanted=not (stopped or quiet or as_json))


def _job_values(
    flags: Mapping[str, Any], config: Path | None, seeds: Sequence[str], seeds_file: Path | None
) -> dict[str, Any]:
    """Return the keys of a job from a job file and the flags, which override it."""
    given = {name: value for name, value in flags.items() if value is not None}
    if "time" in given:
        given["time"] = parse_time(given["time"])
    for name in ("bytes", "memory"):
        if name in given:
            given[name] = parse_size(given[name])
    values = {} if config is None else read_job_file(config)
    if config is not None:
        check_secrets(config)
    _check_no_files(seeds, given.get("target", ""))
    if all_seeds := (*seeds, *(() if seeds_file is None else read_seeds(seeds_file))):
        given["seeds"] = all_seeds
    return values | given


def _check_new(job: Job, endpoint: ServerEndpoint | None) -> str:
    """Raise JobError if a new crawl of the job cannot start. Return a warning about its model, or ""."""
    _check_serving(job, endpoint)
    check(job)
    warning = check_model(job)
    check_shards(job)
    return warning


def _contact_hint(job: Job) -> str:
    """Return a hint if site owners cannot reach the user of a crawl of the network; else ""."""
    if job.web or "@" in job.contact or job.contact.startswith(("http://", "https://")):
        return ""
    given = f", and {job.contact!r} is neither" if job.contact else ""
    return f"site owners cannot reach you: --contact URL names a page or a mail address in the User-Agent header{given}"


def _serving(folder: CrawlFolder, endpoint: ServerEndpoint | None) -> AbstractContextManager[ServerProcess | None]:
    """Return a context manager that runs the web site of the crawl, if `--serve` was given."""
    return nullcontext() if endpoint is None else ServerProcess(folder.path, endpoint)


def _keep_serving(server: ServerProcess | None, *, is_wanted: bool) -> None:
    """Keep the web site after the crawl until Ctrl-C, if the user is at a terminal."""
    if server is not None and is_wanted and sys.stderr.isatty():
        server.wait_for_interrupt()


def _check_serving(job: Job, endpoint: ServerEndpoint | None) -> None:
    if endpoint is not None and job.index == "later":
        raise JobError('--serve shows indexed quads only, and index = "later" indexes none: leave out one of them')


def _refresh(
    folder: CrawlFolder,
    flags: Mapping[str, Any],
    *,
    due: bool,
    endpoint: ServerEndpoint | None,
    quiet: bool,
    as_json: bool,
) -> None:
    """Refresh a finished crawl, and print its outcome."""
    job, before, is_quiet = refresh_job(folder, flags), read_stats(folder).totals, quiet or as_json
    _check_serving(job, endpoint)
    folder.lock()
    folder.move_secrets()
    begin: dict[str, Any] = {"refresh": refresh_starter(due_only=due, quiet=is_quiet)}
    if job.shards > 1:
        begin = {"plans": plan_shards(folder, job.shards, RefreshKind.DUE if due else RefreshKind.ALL, clock.time())}
    with _serving(folder, endpoint) as server:
        stopped = run_crawl(job, folder, quiet=is_quiet, **begin)
        _print_refresh(folder, job, before, stopped=stopped, quiet=quiet, as_json=as_json)
        _keep_serving(server, is_wanted=not (stopped or is_quiet))


def _check_refresh(flags: Mapping[str, Any], *, force: bool, refresh: bool, due: bool, forever: bool) -> None:
    """End the command if flags contradict `--refresh` or `--forever`."""
    if force and refresh:
        stop("--force deletes the crawl that --refresh needs: use only one of them")
    if due and not refresh:
        stop("--due selects the pages of a refresh: use it with --refresh")
    if not forever:
        return
    if not refresh:
        stop("--forever continues a crawl with revisits: use it with --refresh")
    if due:
        stop("--forever chooses the pages that are due by itself: leave out --due")
    if budget := next((name for name in _BUDGETS if flags[name] is not None), ""):
        stop(f"--forever has no end, so --{budget} has no effect: --pages-per-day N is its budget")


def _refresh_forever(
    folder: CrawlFolder,
    flags: Mapping[str, Any],
    *,
    endpoint: ServerEndpoint | None,
    quiet: bool,
    as_json: bool,
) -> None:
    """Run rounds of revisits until the user stops them, and print the outcome."""
    job, before = refresh_job(folder, {name: flags[name] for name in flags if name not in _BUDGETS}), read_stats(folder)
    _check_serving(job, endpoint)
    if job.ray_parsers:
        raise JobError("--forever parses pages in processes on this machine: leave out ray_parsers")
    folder.lock()
    folder.move_secrets()
    try:
        with _serving(folder, endpoint), _running_shards(job, quiet=quiet or as_json):
            uvloop.run(EndlessRefresh(job, folder, quiet=quiet or as_json).run())
    except (OSError, RuntimeError) as error:
        stop_after_failure(error, folder, command="resume")
    finally:
        folder.unlock()
    _print_refresh(folder, job, before.totals, stopped=True, quiet=quiet, as_json=as_json)


def _print_refresh(
    folder: CrawlFolder, job: Job, before: Counters, *, stopped: bool, quiet: bool, as_json: bool
) -> None:
    """Print the outcome of a refresh. `before` are the counters at its start."""
    left = count_waiting_revisits(folder)
    ending = RefreshEnd(folder=folder, budget=job, before=before, stopped=stopped, left=left)
    print_outcome(folder, as_json=as_json, ending=ending if as_json or not quiet else None)


@contextmanager
def _running_shards(job: Job, *, quiet: bool) -> Iterator[None]:
    """Run Ray for the shards of a crawl, if it has any."""
    if job.shards == 1:
        yield
        return
    if not quiet:
        say(describe_start(job))
    with running_ray(job.ray, shards=job.shards):
        yield


def refresh_job(folder: CrawlFolder, flags: Mapping[str, Any]) -> Job:
    """Return the saved job with the flags of this run. Budgets count from the beginning of the refresh."""
    job = folder.read_job()
    given = {name: value for name, value in flags.items() if value is not None}
    fixed = sorted(set(given) - _CHANGEABLE)
    if fixed:
        raise JobError(f"{fixed[0]} cannot be changed by --refresh: the job.toml of {folder.path} sets it")
    dataclasses.replace(job, **given)  # checks the budgets before the counters are added
    check_shards(job)
    totals = read_stats(folder).totals
    for name, counter in _BUDGETS.items():
        given[name] = getattr(totals, counter) + given[name] if name in given else None
    return dataclasses.replace(job, **given)


def refresh_starter(*, due_only: bool, quiet: bool) -> BeginRefresh:
    """Return the function that the engine calls to queue the known pages, all of them or those that are due."""

    def begin(revisits: Revisits, frontier: Frontier) -> None:
        revisits.begin(clock.time(), due_only=due_only)
        if not quiet:
            kind = "due pages" if due_only else "known pages"
            say(f"revisiting {frontier.revisits_left:,} {kind}, the most likely changes first")

    return begin


def _check_no_files(seeds: Sequence[str], target: str) -> None:
    """Raise JobError if a seed or the target is the name of a file. A file name would be taken for a host name."""
    if os.path.isfile(target):  # noqa: PTH113 - Path.is_file raises for long names
        raise JobError(f'{target} is a file: if its text is the target, write --target "$(cat {target})"')
    for seed in seeds:
        if "://" not in seed and os.path.isfile(seed):  # noqa: PTH113 - Path.is_file raises for long names
            raise JobError(
                f"{seed} is a file: to start from the URLs in it, write --seeds {seed}; for the host of that name, "
                f"https://{seed}"
            )
