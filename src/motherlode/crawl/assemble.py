"""From a job to a crawl: the only place that sees the whole configuration."""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from random import Random

from motherlode import __version__
from motherlode.crawl.errands import Errands
from motherlode.crawl.folder import CrawlFolder
from motherlode.crawl.job import Job, JobError
from motherlode.crawl.loop import Budget, Crawl, Parts
from motherlode.crawl.pool import ReaderPool
from motherlode.crawl.reading import Instructions
from motherlode.crawl.trapping import TrapWatch
from motherlode.fetch import AddressGuard, Archive, HttpFetcher, HttpLimits, HttpOptions, RecordedWeb, RobotsRules
from motherlode.frontier import DiskLedger, Frontier, HostBudget, Politeness, scope_from
from motherlode.index import QuadStore, Writer
from motherlode.policy import policy_from
from motherlode.www.urls import canonical

_SECONDS_A_SYNTAX = 5.0
_SECONDS_A_PAGE = 30.0
_WAKE_AT_ONCE = 2000
"""Hosts that one look at the frontier's clocks wakes: a resumed crawl may have a million that are due."""


@dataclass(frozen=True, slots=True)
class Assembled:
    """A crawl that is ready to run, with its seeds in canonical form."""

    crawl: Crawl
    frontier: Frontier
    seeds: tuple[str, ...]


def canonical_seeds(seeds: tuple[str, ...]) -> tuple[str, ...]:
    """The seeds as the frontier spells them; an error that names the first bad one."""
    found: dict[str, None] = {}
    for seed in seeds:
        url = canonical(seed if "://" in seed else f"https://{seed}")
        if url is None:
            raise JobError(f"the seed {seed!r} is not an http or https URL")
        found[url] = None
    return tuple(found)


def check(job: Job) -> None:
    """Raise JobError for what would keep a job from beginning, before anything is made for it."""
    seeds = canonical_seeds(job.seeds)
    if not seeds:
        raise JobError("no seeds: name URLs to start from, or a file of them with --seeds FILE")
    job.places()
    try:
        _instructions(job)
        scope_from(job.scope, seeds)
        AddressGuard(job.allow)
    except ValueError as error:
        raise JobError(str(error)) from error
    if job.web is not None:
        try:
            Path(job.web).open("rb").close()
        except OSError as error:
            raise JobError(f"the recorded web {job.web} cannot be read: {error.strerror}") from error


def assemble(job: Job, folder: CrawlFolder) -> Assembled:
    """Wire the rooms together for a job, in a folder that is locked. Call it inside a running event loop."""
    check(job)
    seeds = canonical_seeds(job.seeds)
    recorded = _recorded(job)
    fetcher: RecordedWeb | HttpFetcher = recorded if recorded is not None else HttpFetcher(_http_options(job))
    resolve = fetcher.resolve if isinstance(fetcher, HttpFetcher) else None
    policy = policy_from(job.policy, job.seed)
    ledger = DiskLedger(folder.frontier)
    traps = TrapWatch(scope_from(job.scope, seeds), year_now=datetime.now(UTC).year)
    frontier = Frontier(
        ledger=ledger,
        policy=policy,
        scope=traps.reason,
        read_rules=RobotsRules,
        politeness=_politeness(job),
        budget=HostBudget(pages=job.pages_per_host, bytes=job.bytes_per_host, barren_after=job.barren_after),
        random=Random(job.seed),
    )
    instructions = _instructions(job)
    workers = job.workers or max(1, (os.cpu_count() or 2) - 1)
    parts = Parts(
        ledger=ledger,
        frontier=frontier,
        policy=policy,
        fetcher=fetcher,
        errands=Errands(
            frontier,
            fetcher,
            services=instructions.services,
            fetch_contexts=job.contexts == "fetch",
            resolve=resolve,
        ),
        readers=ReaderPool(instructions, workers=workers, seconds=_SECONDS_A_PAGE),
        archive=Archive(folder.warc) if job.warc else None,
        sitemaps=job.sitemaps,
        writer=Writer(QuadStore(folder.store)),
        spelling=recorded.spelling if recorded is not None else None,
        resolve=resolve,
        traps=traps,
    )
    budget = Budget(pages=job.pages, seconds=job.time, bytes=job.bytes)
    return Assembled(Crawl(parts, budget=budget, concurrency=job.concurrency), frontier, seeds)


def _politeness(job: Job) -> Politeness:
    """A recorded web has no addresses, and its answers neither change nor tire."""
    live = job.web is None
    return Politeness(
        delay=job.delay,
        per_host=job.per_host,
        retry_wait=job.retry_wait,
        retries=live,
        by_address=live,
        address_delay=job.address_delay,
        per_address=job.per_address,
        adaptive=live,
        patience=job.patience,
        wake_at_once=_WAKE_AT_ONCE,
    )


def _instructions(job: Job) -> Instructions:
    options = job.transform_options()
    return Instructions(
        target=job.target,
        seconds=_SECONDS_A_SYNTAX,
        stylesheets=options.stylesheets,
        transformations=dict(options.transformations),
        services=options.services,
        transformers=options.transformers,
    )


def _recorded(job: Job) -> RecordedWeb | None:
    if job.web is None:
        return None
    try:
        return RecordedWeb(Path(job.web), limit=job.max_body)
    except ValueError as error:
        raise JobError(str(error)) from error


def _http_options(job: Job) -> HttpOptions:
    contact = f" (+{job.contact})" if job.contact else ""
    return HttpOptions(
        user_agent=f"Motherlode/{__version__}{contact}",
        limits=HttpLimits(whole=job.timeout, body=job.max_body),
        allow=job.allow,
        useful=tuple(service.media_type for service in job.transform_options().services),
        hosts=job.places(),
    )
