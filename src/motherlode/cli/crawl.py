"""`crawl --refresh`: another look at the pages of a crawl that is over."""

from __future__ import annotations

import dataclasses
import os.path
import re
import time
import time as clock
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from shlex import quote
from typing import Annotated, Any

import typer
import uvloop

from motherlode.cli.crawl_end import CrawlEnd, Ending, RefreshEnd, after_failure
from motherlode.cli.progress import CrawlProgress, watch
from motherlode.cli.serve import Beside, check_port
from motherlode.cli.shards import check_shards, run_sharded
from motherlode.cli.terminal import FAILED, print_json, print_summary, say, stop
from motherlode.crawler import (
    CrawlFolder,
    CrawlStats,
    Job,
    JobError,
    check,
    parse_size,
    parse_time,
    read_job_file,
    read_stats,
)
from motherlode.crawler.config.job import check_secrets
from motherlode.crawler.engine.factory import BeginRefresh, assemble
from motherlode.crawler.engine.log import DEFAULT_LEVEL, LEVELS
from motherlode.crawler.model_files import check_model
from motherlode.crawler.recrawl.revisits import Revisits
from motherlode.crawler.report.figures import report_of
from motherlode.crawler.report.page import write_report
from motherlode.crawler.stats.reader import revisits_left
from motherlode.frontier import Frontier
from motherlode.index.snapshot import DamagedError, is_damage
from motherlode.policies import DEFAULT_POLICY, policy_usage
from motherlode.www.urls import OUT_OF_SCOPE

_BUDGETS = {"pages": "fetched", "time": "seconds", "bytes": "bytes"}
"""Each budget, and what of the account it limits."""
_CHANGEABLE = frozenset({*_BUDGETS, "delay", "allow", "contact", "web", "warc"})
"""What may differ from the crawl's own job for one refresh."""


def refresh_job(folder: CrawlFolder, flags: Mapping[str, Any]) -> Job:
    """The crawl's own job, with budgets for this run alone."""
    job = folder.job()
    if job.shards > 1:
        raise JobError("a crawl of several shards cannot be refreshed yet: refresh the folder of each shard")
    given = {name: value for name, value in flags.items() if value is not None}
    foreign = sorted(set(given) - _CHANGEABLE)
    if foreign:
        raise JobError(f"--refresh looks at what {folder.path} knows: {foreign[0]} is settled by its job.toml")
    dataclasses.replace(job, **given)  # which checks the budgets as they were given
    totals = read_stats(folder).totals
    for name, of in _BUDGETS.items():
        given[name] = getattr(totals, of) + given[name] if name in given else None
    return dataclasses.replace(job, **given)


def check_log_level(level: str) -> str:
    """Return the level in lower case, or stop if there is no such level."""
    if level.lower() not in LEVELS:
        stop(f"--log-level {level}: should be one of {', '.join(LEVELS)}")
    return level.lower()


def beginning(*, due_only: bool, quiet: bool) -> BeginRefresh:
    """What lets the known pages wait again, once the crawl has been put together."""

    def begin(revisits: Revisits, frontier: Frontier) -> None:
        revisits.begin(time.time(), due_only=due_only)
        if not quiet:
            what = "due pages" if due_only else "known pages"
            say(f"looking again at {frontier.revisits_left:,} {what}, likeliest change first")

    return begin


# ── `crawl` and `resume`: from flags to a job, from a job to a finished folder.

Seeds = Annotated[list[str] | None, typer.Argument(metavar="SEED...", help="URLs to start from.")]
Folder = Annotated[Path, typer.Option("-o", "--output", metavar="DIR", help="A new folder for the crawl.")]


LogLevel = Annotated[
    str,
    typer.Option(
        "--log-level",
        metavar="|".join(LEVELS),
        callback=check_log_level,
        help="What goes into crawl.log of the folder.",
    ),
]


def crawl(
    seeds: Seeds = None,
    *,
    output: Folder,
    seeds_file: Annotated[
        Path | None, typer.Option("--seeds", metavar="FILE", help="A file of URLs, one a line.")
    ] = None,
    pages: Annotated[int | None, typer.Option(metavar="N", help="Stop after N requests for pages.")] = None,
    time: Annotated[str | None, typer.Option(metavar="30m", help="Stop after this time: 90s, 30m, 2h.")] = None,
    size: Annotated[str | None, typer.Option("--bytes", metavar="1GB", help="Stop after this many bytes.")] = None,
    target: Annotated[
        str | None,
        typer.Option(
            metavar="T",
            help="What counts as a find: any, rdf, jsonld, microdata>=5, type:schema:Recipe, or 'ASK {…}'. "
            "[default: any]",
        ),
    ] = None,
    policy: Annotated[
        str | None,
        typer.Option(
            metavar="P",
            help=f"How to choose the next URL: {policy_usage()}. See docs/policies.md. [default: {DEFAULT_POLICY}]",
        ),
    ] = None,
    model: Annotated[
        Path | None,
        typer.Option(metavar="FILE|DIR", help="Start from what another crawl learned: see docs/models.md."),
    ] = None,
    reward: Annotated[
        str | None,
        typer.Option(
            metavar="R",
            help="What to learn from: target, statements, new-statements, per-request or per-byte. [default: target]",
        ),
    ] = None,
    dry_after: Annotated[
        int | None,
        typer.Option("--stop-when-dry", metavar="N", help="Stop when hardly any of the last N requests was a find."),
    ] = None,
    dry_below: Annotated[
        float | None,
        typer.Option(metavar="SHARE", help="With --stop-when-dry: hardly any is less than this. [default: 0.01]"),
    ] = None,
    scope: Annotated[
        str | None,
        typer.Option(
            metavar="host|pld|web|REGEX",
            help="Where links may lead: the seeds' hosts, their domains, anywhere, or to what matches. [default: web]",
        ),
    ] = None,
    web: Annotated[
        Path | None, typer.Option(metavar="FILE.warc.gz", help="Crawl a recorded web, not the network.")
    ] = None,
    delay: Annotated[
        float | None,
        typer.Option(metavar="SECONDS", help="Pause between two requests to one host. [default: 1; 0 with --web]"),
    ] = None,
    allow: Annotated[
        list[str] | None,
        typer.Option(metavar="RANGE", help="Let the address guard pass a private range, as in 127.0.0.0/8."),
    ] = None,
    contact: Annotated[
        str | None, typer.Option(metavar="URL", help="Where site owners reach you; part of the User-Agent.")
    ] = None,
    warc: Annotated[bool, typer.Option("--warc", help="Keep all answers as WARC files in DIR/warc.")] = False,
    index: Annotated[
        str | None,
        typer.Option(
            metavar="now|later",
            help="When to index quads and words: later is faster, and leaves it to the first query. [default: now]",
        ),
    ] = None,
    shards: Annotated[
        int | None, typer.Option(metavar="N", help="Share the hosts between N crawls, on Ray: see docs/cluster.md.")
    ] = None,
    ray: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="With --shards: a running Ray cluster, as in 10.0.0.1:6379 or auto."),
    ] = None,
    refresh: Annotated[
        bool, typer.Option("--refresh", help="Look again at the pages of the crawl in DIR: see docs/refresh.md.")
    ] = False,
    due: Annotated[bool, typer.Option("--due", help="With --refresh: only pages whose next visit is due.")] = False,
    config: Annotated[
        Path | None, typer.Option(metavar="job.toml", help="A job file; flags go before what it says.")
    ] = None,
    seed: Annotated[int | None, typer.Option(metavar="S", help="Seed of all randomness. [default: 0]")] = None,
    serve: Annotated[
        int | None,
        typer.Option(metavar="PORT", min=0, max=65535, help="Show it at http://127.0.0.1:PORT while it runs."),
    ] = None,
    log_level: LogLevel = DEFAULT_LEVEL,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
) -> None:
    """Crawl from SEEDS into a new folder.

    The crawl learns on the way which links lead to structured data, and spends its requests there.

    \b
    Examples:
      motherlode crawl https://example.org/ -o out --pages 1000
      motherlode crawl --seeds urls.txt -o out --target "type:schema:Recipe" --time 30m
      motherlode crawl --seeds seeds.txt --web sites.warc.gz --delay 0 -o out --pages 2000
      motherlode crawl --refresh -o out --pages 500
      motherlode crawl --seeds urls.txt -o out2 --model out --stop-when-dry 500

    Ctrl-C stops cleanly; `motherlode resume DIR` goes on. Without a budget the crawl ends when nothing is left.
    All flags, targets and job files: docs/crawl.md. All policies: docs/policies.md.
    """
    flags = {
        "pages": pages,
        "target": target,
        "policy": policy,
        "model": None if model is None else str(model.resolve()),
        "reward": reward,
        "dry_after": dry_after,
        "dry_below": dry_below,
        "scope": scope,
        "web": None if web is None else str(web.resolve()),
        "delay": delay,
        "allow": tuple(allow) if allow else None,
        "contact": contact,
        "seed": seed,
        "warc": True if warc else None,
        "index": index,
        "shards": shards,
        "ray": ray,
    }
    if due and not refresh:
        stop("--due says which pages a refresh looks at: use it with --refresh")
    if serve is not None:
        check_port(serve, flag="--serve")
    try:
        flags["time"] = None if time is None else parse_time(time)
        flags["bytes"] = None if size is None else parse_size(size)
        values: dict[str, Any] = read_job_file(config) if config is not None else {}
        if config is not None:
            check_secrets(config)
        _check_no_files(seeds or (), target or "")
        given = (*(seeds or ()), *(read_seeds(seeds_file) if seeds_file is not None else ()))
        if given:
            flags["seeds"] = given
        values |= {name: value for name, value in flags.items() if value is not None}
        if refresh:
            refreshed = _refresh(
                CrawlFolder(output), values, due=due, serve=serve, quiet=quiet or as_json, log_level=log_level
            )
            _tell(CrawlFolder(output), as_json=as_json, ended=refreshed if as_json or not quiet else None)
            return
        job = Job(**values)
        if dry_below is not None and job.dry_after is None:
            raise JobError("--dry-below says how few finds are too few: use it with --stop-when-dry N")
        _check_shown(job, serve)
        check(job)
        warning = check_model(job)
        check_shards(job)
        folder = CrawlFolder(output)
        folder.create(job)
    except JobError as error:
        stop(str(error))
    if warning and not quiet:
        say(warning)
    with _shown(folder, serve):
        stopped = run(job, folder, quiet=quiet or as_json, log_level=log_level)
    _tell(folder, as_json=as_json, ended=None if stopped or quiet else CrawlEnd(job, folder))


def _shown(folder: CrawlFolder, port: int | None) -> AbstractContextManager[object]:
    """The crawl as a web site while it runs, where that is wanted."""
    return nullcontext() if port is None else Beside(folder.path, port)


def _check_shown(job: Job, port: int | None) -> None:
    if port is not None and job.index == "later":
        raise JobError('--serve shows what is indexed, and with index = "later" that is nothing: leave one of them out')


def _refresh(
    folder: CrawlFolder, flags: Mapping[str, Any], *, due: bool, serve: int | None, quiet: bool, log_level: str
) -> RefreshEnd:
    job, before = refresh_job(folder, flags), read_stats(folder).totals
    _check_shown(job, serve)
    folder.lock()
    folder.hide_secrets()
    with _shown(folder, serve):
        stopped = run(job, folder, quiet=quiet, log_level=log_level, refresh=beginning(due_only=due, quiet=quiet))
    return RefreshEnd(folder=folder, budget=job, before=before, stopped=stopped, left=revisits_left(folder))


def resume(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of a crawl that was stopped or killed.")],
    *,
    pages: Annotated[int | None, typer.Option(metavar="N", help="A new budget of pages, for the whole crawl.")] = None,
    time: Annotated[str | None, typer.Option(metavar="30m", help="A new budget of time.")] = None,
    size: Annotated[str | None, typer.Option("--bytes", metavar="1GB", help="A new budget of bytes.")] = None,
    ray: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Another Ray cluster for the shards; '' for one of our own.")
    ] = None,
    log_level: LogLevel = DEFAULT_LEVEL,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
) -> None:
    """Go on with a crawl that was stopped or killed. Nothing is fetched again but what was under way."""
    place = CrawlFolder(folder)
    try:
        job = place.job()
        changes: Mapping[str, Any] = {
            "pages": pages,
            "time": None if time is None else parse_time(time),
            "bytes": None if size is None else parse_size(size),
            "ray": ray,
        }
        wanted = dataclasses.replace(job, **{name: value for name, value in changes.items() if value is not None})
        check_shards(wanted)
        place.lock()
        if wanted != job:
            place.keep(wanted)
        place.hide_secrets()
    except JobError as error:
        stop(str(error))
    stopped = run(wanted, place, quiet=quiet or as_json, log_level=log_level)
    _tell(place, as_json=as_json, ended=None if stopped or quiet else CrawlEnd(wanted, place))


def run(
    job: Job,
    folder: CrawlFolder,
    *,
    quiet: bool,
    refresh: BeginRefresh | None = None,
    log_level: str = DEFAULT_LEVEL,
) -> bool:
    """Run a crawl to its end, show its progress, and leave a report; True where the user stopped it."""
    try:
        if job.shards > 1:
            stopped = run_sharded(job, folder, quiet=quiet)
        else:
            stopped = uvloop.run(_run(job, folder, quiet=quiet, refresh=refresh, log_level=log_level))
    except JobError as error:
        stop(str(error))
    except DamagedError as error:
        stop(str(error), code=FAILED)
    except OSError as error:
        stop(after_failure(error, folder, command="resume"), code=FAILED)
    except RuntimeError as error:
        if not is_damage(error):
            raise
        stop(after_failure(error, folder, command="resume"), code=FAILED)
    finally:
        folder.unlock()
    write_report(folder.report, report_of(job, read_stats(folder), made_at=clock.time()))
    if stopped and not quiet:
        say(f"stopped; `motherlode resume {quote(str(folder.path))}` goes on from here")
    return stopped


async def _run(job: Job, folder: CrawlFolder, *, quiet: bool, refresh: BeginRefresh | None, log_level: str) -> bool:
    """True where the user stopped the crawl."""
    if job.own_hosts and not quiet:
        names = ", ".join(job.own_hosts)
        say(f"robots.txt is not applied to your own hosts: {names}")
    assembled = assemble(job, folder, refresh=refresh, log_level=log_level)
    crawl = assembled.engine
    progress = CrawlProgress(job, crawl.totals, assembled.frontier, quiet=quiet)
    try:
        stopped = await watch(crawl.visits(assembled.seeds), progress, stop=crawl.stop)
    finally:
        assembled.store.close()
    return stopped


def _check_no_files(seeds: Sequence[str], target: str) -> None:
    """A file in the place of a URL would be taken for the host of its name, and is no target either."""
    if os.path.isfile(target):  # noqa: PTH113 - Path.is_file raises for long names
        raise JobError(f'{target} is a file: if its text is the target, write --target "$(cat {target})"')
    for seed in seeds:
        if "://" not in seed and os.path.isfile(seed):  # noqa: PTH113 - Path.is_file raises for long names
            raise JobError(
                f"{seed} is a file: to start from the URLs in it, write --seeds {seed}; if a host is meant, https://{seed}"
            )


def read_seeds(path: Path) -> tuple[str, ...]:
    """The URLs of a file, one a line. A # begins a comment, unless it is part of a URL."""
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except OSError as error:
        hint = "; a URL is given without --seeds" if str(path).startswith(("http:", "https:")) else ""
        raise JobError(f"the file of seeds {path} cannot be read: {error.strerror}{hint}") from error
    except UnicodeDecodeError as error:
        raise JobError(f"the file of seeds {path} is not UTF-8 text: {error}") from error
    urls = (_COMMENT.sub("", line).strip() for line in lines)
    return tuple(url for url in urls if url)


_COMMENT = re.compile(r"(?:^|\s)#.*")


def _tell(folder: CrawlFolder, *, as_json: bool, ended: Ending | None = None) -> None:
    """The summary; where it has come to its own end, also what the end was."""
    stats = read_stats(folder)
    if as_json:
        alone = {"this_refresh": ended.summary(stats)} if isinstance(ended, RefreshEnd) else {}
        print_json(stats.summary() | alone)
        return
    print_summary(stats)
    _explain_emptiness(stats)
    for line in ended(stats) if ended is not None else ():
        say(line)
    say(f"report: {folder.report}")
    say(f"ask it: motherlode query {quote(str(folder.path))} 'SELECT ?s ?p ?o {{?s ?p ?o}} LIMIT 10'")


def _explain_emptiness(stats: CrawlStats) -> None:
    """Say what to do where not one page came."""
    totals = stats.totals
    failed = sum(totals.failures.values())
    if totals.fetched == 0 and stats.refused:
        reason = max(stats.refused, key=lambda name: stats.refused[name])
        hint = _HINTS.get(reason, "are the seeds allowed by robots.txt?")
        say(f"nothing was fetched: everything was refused (see above); {hint}")
    elif totals.fetched and failed == totals.fetched:
        kind = max(totals.failures, key=lambda name: totals.failures[name])
        hint = _HINTS.get(kind, "see the failures above")
        say(f"not one page came: most requests failed with {kind}; {hint}")
    elif totals.fetched and totals.fetched == totals.redirects and OUT_OF_SCOPE in stats.refused:
        say("not one page came: the seeds redirect to where the crawl may not go; start from there, or widen --scope")


_HINTS = {
    "dns": "is this machine on a network, and are the host names right?",
    "dns-unavailable": "is this machine on a network, and are the host names right?",
    "connect": "is this machine on a network, and do the servers answer?",
    "timeout": "is this machine on a network, and do the servers answer?",
    "address-guard": "the addresses are private: --allow RANGE lets you name ranges of your own",
    "not-found": "are the seeds right? In a recorded web, are they in the file?",
}
