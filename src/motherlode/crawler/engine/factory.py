"""From a job to a crawl: the only place that sees the whole configuration."""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple

from motherlode.crawler.config.host_patterns import canonical_seeds, compile_own_hosts, compile_untrusted_hosts
from motherlode.crawler.config.job import Job, JobError
from motherlode.crawler.engine.checkpoint import LogFile, SavedPart
from motherlode.crawler.engine.components import CommitParticipant, Components, Join, Peers
from motherlode.crawler.engine.engine import Engine
from motherlode.crawler.engine.limits import MAX_REQUESTS_PER_SLOT, Budget, ControlFile
from motherlode.crawler.engine.memory_limit import check_ceiling, count_workers, make_ceiling, take_back
from motherlode.crawler.engine.outage import MonitoredFetcher, OutageDetector, OutageMonitor
from motherlode.crawler.engine.pipeline import NoArchive, NoIndexQuery, NoNotices, NoProber, Subrequests, UrlDescriber
from motherlode.crawler.engine.recovery import make_policy, open_log, open_storage
from motherlode.crawler.engine.robots_and_dns import NoNames, ignore_response, unresolvable
from motherlode.crawler.engine.scheduler import same_url
from motherlode.crawler.engine.usage import NoTdmFiles, ObeyedUsage, TdmFiles
from motherlode.crawler.folder import CrawlFolder
from motherlode.crawler.index_later import MANIFEST, IndexUpdater
from motherlode.crawler.notices import Notices
from motherlode.crawler.parsing.messages import ParseOptions
from motherlode.crawler.parsing.parser_pool import ParserLanes, Parsers
from motherlode.crawler.recrawl.revisits import BEGUN as REFRESH_BEGUN
from motherlode.crawler.recrawl.revisits import RefreshFirst, Revisits
from motherlode.crawler.run_validation import check_profiles
from motherlode.crawler.scoring import check_scorers, make_scorers
from motherlode.crawler.url_rules import Filters, TrapWatch, waiting_rule
from motherlode.fetch import (
    AddressGuard,
    ArchivedFetcher,
    HttpFetcher,
    HttpLimits,
    HttpOptions,
    JournalledFetcher,
    Prober,
    Probing,
    RecordedWeb,
    ResponseJournal,
    RobotsRules,
    WarcArchive,
    check_recorded,
)
from motherlode.fetch.http.connections import MAX_IDLE_CONNECTIONS
from motherlode.fetch.http.descriptor_limits import raise_descriptor_limit
from motherlode.frontier import Frontier, HostBudget, LmdbStorage, Politeness
from motherlode.frontier.leases import DEFAULT_UNIT_SECONDS
from motherlode.index.crawl_store import BatchWriter
from motherlode.index.nquads_log import NQuadsLog
from motherlode.index.page_record import RunRecord
from motherlode.index.sinks.sink_store import open_sinks
from motherlode.model import Fetcher, Policy, ValuesArms
from motherlode.model.usage import Usage
from motherlode.policies import (
    reads_context_graph,
    reads_element_ids,
    reads_known_links,
    reward_from,
    target_from,
)
from motherlode.project import VERSION
from motherlode.runtime import Clock
from motherlode.transform.options import transformable_types
from motherlode.www.urls import ScopeRule, scope_rule, simplify

if TYPE_CHECKING:
    from motherlode.crawler.engine.index_query import IndexQuery

_PAGE_TIMEOUT_SECONDS = 30.0
_MAX_READY_AT_ONCE = 2000
"""Maximum number of hosts that become ready at a time, because a resumed crawl may have a million."""

BeginRefresh = Callable[[Revisits, Frontier], None]
MakeParsers = Callable[[ParseOptions, float], Parsers]
"""Starts the parsers of a crawl. Its arguments are their options and the timeout of a page in seconds."""


@dataclass(frozen=True, slots=True)
class Assembled:
    """A crawl that is ready to run, with its seeds in canonical form."""

    engine: Engine
    frontier: Frontier
    seeds: tuple[str, ...]
    storage: LmdbStorage
    store: NQuadsLog
    policy: Policy
    clock: Clock


def check(job: Job) -> None:
    """Raise JobError if the job cannot be run. Nothing is created."""
    seeds = canonical_seeds(job.all_seeds)
    if not seeds:
        raise JobError("no seeds: name URLs to start from, or a file of them with --seeds FILE")
    job.host_endpoints()
    job.proxy_url(os.environ)
    job.host_headers(os.environ)
    job.request_signer()
    job.notice_settings()
    check_ceiling(job)
    try:
        _instructions(job, scope_rule(job.scope, seeds))
        AddressGuard(job.allow)
        check_profiles(job.validate)
        check_scorers(target_from(job.target), reward_from(job.reward))
        for sink in job.sink_settings():
            sink.headers(os.environ)
    except ValueError as error:
        raise JobError(str(error)) from error
    if job.web is not None:
        try:
            check_recorded(Path(job.web))
        except OSError as error:
            raise JobError(f"the recorded web {job.web} cannot be read: {error.strerror}") from error
        except ValueError as error:
            raise JobError(str(error)) from error


def assemble(
    job: Job,
    folder: CrawlFolder,
    *,
    join: Join | None = None,
    refresh: BeginRefresh | None = None,
    make_parsers: MakeParsers | None = None,
    notices: Notices | NoNotices | None = None,
) -> Assembled:
    """Make a crawl from a job, in a folder that is locked. Call it inside a running event loop.

    `join` makes the crawl a shard with peers; `refresh` lets known pages wait again.
    `make_parsers` starts parsers elsewhere instead of parser processes on this machine.
    `notices` replaces those of the job, for several runs in a row.
    """
    check(job)
    seeds = canonical_seeds(job.all_seeds)
    scope = scope_rule(job.scope, seeds)
    clock = Clock()
    storage, store, lost = _opened(job, folder)  # before the others, because they may be damaged
    web = _open_web(job, _recorded(job), folder, storage, clock)
    store.begin(_run_record(job))
    control = ControlFile(folder)
    control.clear()
    queue = _open_queue(job, folder, storage, web, scope, now=clock.now(), join=join, refresh=refresh)
    frontier, learner, peers = queue.frontier, queue.learner, queue.peers
    describer = UrlDescriber(job.describe, job.response_headers)
    frontier.call_on_refused(describer.note_refused)
    parsers = _readers(job, scope, make_parsers)
    is_shard = peers is not None
    memory = make_ceiling(job, frontier, learner, queue.traps, parsers, web.http, is_shard=is_shard, clock=clock)
    parts = Components(
        storage=storage,
        frontier=frontier,
        policy=queue.policy,
        **_web_parts(job, web, frontier, clock, queue.obeyed),
        participants=(*_participants(web, store, peers), LogFile(folder.log, job.log_level)),
        problems=(*_opening_problems(lost, web), *queue.problems),
        readers=parsers,
        memory=memory,
        **_optional_parts(job, folder),
        describer=describer,
        revisits=queue.revisits,
        stop_conditions=(memory.is_exhausted, *queue.stop_conditions),
        **_store_parts(job, folder, store),
        value_of=learner.value if isinstance(learner, ValuesArms) else lambda arm: None,
        traps=queue.traps,
        filters=queue.filters,
        control=control,
        ends_when_idle=not is_shard,
        notices=make_notices(job, folder, is_one_run=not is_shard) if notices is None else notices,
    )
    engine = Engine(parts, budget=_budget(job), concurrency=job.concurrency, clock=clock)
    return Assembled(engine, frontier, seeds, storage, store, learner, clock)


def make_notices(job: Job, folder: CrawlFolder, *, is_one_run: bool) -> Notices | NoNotices:
    """Return the notices of a job. `is_one_run` says that the end of one run is the end of the crawl."""
    settings = job.notice_settings()
    if settings is None:
        return NoNotices()
    return Notices(settings, folder=str(folder.path), http_options=lambda: _http_options(job), is_one_run=is_one_run)


def _budget(job: Job) -> Budget:
    budget = Budget(pages=job.pages, seconds=job.time, bytes=job.bytes, idle=job.idle_timeout)
    return replace(budget, stop_after=job.stop_after, stop_below=job.stop_below)


class _Web(NamedTuple):
    """The parts through which a crawl fetches: from the network, or from a recorded web.

    Parts that a web does not need are None.
    """

    fetcher: Fetcher
    monitored: Fetcher
    """The fetcher that records which hosts respond, without the journal around it."""
    detector: OutageDetector
    archive: WarcArchive | NoArchive
    recorded: RecordedWeb | None = None
    http: HttpFetcher | None = None
    journal: ResponseJournal | None = None


def _open_web(job: Job, recorded: RecordedWeb | None, folder: CrawlFolder, storage: LmdbStorage, clock: Clock) -> _Web:
    detector = OutageDetector(unit=job.retry_wait or DEFAULT_UNIT_SECONDS)
    if recorded is not None:  # it can be asked again at no cost, so it needs no journal
        return _Web(recorded, recorded, detector, _archive(job, folder, None, storage), recorded)
    raise_descriptor_limit(connections=MAX_REQUESTS_PER_SLOT * job.concurrency, idle=MAX_IDLE_CONNECTIONS)
    http = HttpFetcher(_http_options(job))
    http.load_authorities()  # later it would delay the requests of all hosts
    journal = ResponseJournal(folder.journal, state=storage.note("journal"))
    monitored = MonitoredFetcher(http, detector, clock=clock)
    archive = _archive(job, folder, http, storage)
    return _Web(JournalledFetcher(monitored, journal), monitored, detector, archive, None, http, journal)


def _web_parts(job: Job, web: _Web, frontier: Frontier, clock: Clock, obeyed: ObeyedUsage) -> dict[str, Any]:
    """Return the components that depend on whether a recorded web is crawled."""
    recorded, fetcher, archive = web.recorded, web.fetcher, web.archive
    resolve = unresolvable if web.http is None else web.http.resolve
    forget = ignore_response if web.journal is None else web.journal.settle
    subrequests = Subrequests(
        frontier,
        ArchivedFetcher(fetcher, archive) if isinstance(archive, WarcArchive) else fetcher,
        services=job.transform_options().services,
        fetch_contexts=job.contexts == "fetch",
        resolve=resolve,
        forget=forget,
        clock=clock,
    )
    wants_tdm_files = job.tdmrep or Usage.TDM.value in job.obey_usage
    tdm_files = TdmFiles(subrequests.polite, clock=clock) if wants_tdm_files else NoTdmFiles()
    obeyed.sources = (frontier.robots_preferences, tdm_files.preferences)
    return {
        "fetcher": fetcher,
        "archive": archive,
        "resolve": resolve,
        "names": NoNames() if web.http is None else web.http,
        "forget_response": forget,
        "subrequests": subrequests,
        "tdm_files": tdm_files,
        "outage_monitor": OutageMonitor(web.detector, web.monitored, frontier, resolve=resolve, clock=clock),
        "respell": recorded.spelling if recorded is not None else same_url,
        # what was recorded is there under its own URL alone
        "simplify": (lambda url: url if recorded is not None and url in recorded else simplify(url))
        if job.simplify
        else same_url,
    }


def _optional_parts(job: Job, folder: CrawlFolder) -> dict[str, Any]:
    """Return the components and settings that only depend on a key of the job."""
    return {
        "sitemaps": bool(job.sitemaps),
        "usual_sitemaps": job.sitemaps == "usual",
        "prober": NoProber() if job.probe == "never" else Prober(Probing(job.probe)),
        "index_query": _index_query(job, folder),
        "reward": (reward := reward_from(job.reward)),
        "scorers": make_scorers(target_from(job.target), reward, job.scorer_limits()),
    }


def _store_parts(job: Job, folder: CrawlFolder, store: NQuadsLog) -> dict[str, Any]:
    """Return the components that write pages into the store and the sinks of the job."""
    sinks = open_sinks(store, job.sink_settings(), folder.path, environment=os.environ)
    return {"log": store, "sinks": sinks, "writer": BatchWriter(sinks, at_end=lambda: store.finish(time.time()))}


def _opened(job: Job, folder: CrawlFolder) -> tuple[LmdbStorage, NQuadsLog, int]:
    """Open frontier and log. The last value is the number of pages that were missing in the store."""
    storage = open_storage(folder)
    try:
        return storage, *open_log(folder, storage, words=job.words, index_later=job.index == "later")
    except BaseException:
        storage.close()
        raise


def _run_record(job: Job) -> RunRecord:
    return RunRecord(
        identifier=str(uuid.uuid4()),
        started_at=time.time(),
        version=VERSION,
        target=job.target,
        policy=job.policy,
        own_hosts=tuple(job.own_hosts),
        unproven_hosts=tuple(job.any_certificate),
    )


def _participants(web: _Web, store: NQuadsLog, peers: Peers | None) -> tuple[CommitParticipant, ...]:
    found: list[CommitParticipant] = []
    if isinstance(web.archive, WarcArchive):
        found.append(SavedPart("warc", web.archive.state))
    if (journal := web.journal) is not None:
        found.append(SavedPart("journal", journal.state, committed=journal.finish_commit, close=journal.close))
    found.append(SavedPart(MANIFEST, partial(getattr, store, "encoded_manifest")))
    if peers is not None:
        found.append(peers)
    return tuple(found)


def _readers(job: Job, scope: ScopeRule, make_parsers: MakeParsers | None) -> Parsers:
    if make_parsers is not None:
        return make_parsers(_instructions(job, scope), _PAGE_TIMEOUT_SECONDS)
    return ParserLanes(_instructions(job, scope), workers=count_workers(job), seconds=_PAGE_TIMEOUT_SECONDS)


def _opening_problems(lost: int, web: _Web) -> Iterator[str]:
    """Yield the problems that occurred when the components were opened, to be counted."""
    if web.journal is not None:
        yield from web.journal.problems
    if lost:
        yield "resume: pages were missing in the quad store; they are fetched again"
    if web.recorded is not None and web.recorded.broken_records:
        yield f"{web.recorded.broken_records} records of the recorded web cannot be read"


def _archive(job: Job, folder: CrawlFolder, http: HttpFetcher | None, storage: LmdbStorage) -> WarcArchive | NoArchive:
    if not job.warc:
        return NoArchive()
    about = {"software": f"Motherlode/{VERSION}"}
    if http is None:
        about["description"] = f"a crawl of the recorded web {Path(job.web or '').name}"
    else:
        robots = f"obey, but for {', '.join(job.own_hosts)}" if job.own_hosts else "obey"
        about |= {"robots": robots, "http-header-user-agent": _user_agent(job)}
    serialize, is_committed = None if http is None else http.serialize, storage.note("totals") is not None
    state = storage.note("warc")
    return WarcArchive(folder.warc, about=about, serialize=serialize, state=state, is_committed=is_committed)


def _index_query(job: Job, folder: CrawlFolder) -> IndexQuery | NoIndexQuery:
    query = job.link_rules().index_query
    if not query:
        return NoIndexQuery()
    from motherlode.crawler.engine.index_query import IndexQuery  # only if it is needed
    from motherlode.index.query.query_pool import QueryPool

    pool = QueryPool(folder.store, folder.words, workers=1, refresh_seconds=0.0, update=IndexUpdater(folder))
    return IndexQuery(query, pool)


class _Queue(NamedTuple):
    """The frontier of a crawl, with the policy that orders it and the rules that decide which URLs it accepts."""

    frontier: Frontier
    learner: Policy
    """The policy of the job. In a refresh, `policy` wraps it."""
    policy: Policy
    peers: Peers | None
    traps: TrapWatch
    filters: Filters
    obeyed: ObeyedUsage
    revisits: Revisits
    stop_conditions: tuple[Callable[[], bool], ...]
    problems: tuple[str, ...]


def _open_queue(
    job: Job,
    folder: CrawlFolder,
    storage: LmdbStorage,
    web: _Web,
    scope: ScopeRule,
    *,
    now: float,
    join: Join | None,
    refresh: BeginRefresh | None,
) -> _Queue:
    """Restore the policy and the frontier, join the peers, and begin a refresh if one is wanted."""
    learner = make_policy(job, storage)
    take_back(job, storage)
    refreshing = RefreshFirst(learner)
    is_refresh = refresh is not None or storage.note(REFRESH_BEGUN) is not None
    policy = refreshing if is_refresh else learner
    filters = Filters(folder.filters, job.links)
    traps = TrapWatch(filters.within(scope.scope()), year_now=datetime.now(UTC).year)
    peers = join(storage, traps.plain_reason) if join is not None else None
    obeyed = ObeyedUsage(job.obey_usage)
    frontier = _frontier(job, storage, policy, traps, filters, peers, web.http, obeyed)
    clock_warning = frontier.check_clock(now, known_time=web.journal.latest if web.journal else 0.0)
    revisits = Revisits(storage, frontier, refreshing, always=job.source_sitemaps())
    if refresh is not None:
        refresh(revisits, frontier)
    stops = (revisits.is_over,) if is_refresh else ()
    problems = (clock_warning,) if clock_warning else ()
    return _Queue(frontier, learner, policy, peers, traps, filters, obeyed, revisits, stops, problems)


def _frontier(
    job: Job,
    storage: LmdbStorage,
    policy: Policy,
    traps: TrapWatch,
    filters: Filters,
    peers: Peers | None,
    http: HttpFetcher | None,
    obeyed: ObeyedUsage,
) -> Frontier:
    is_live = job.web is None  # a recorded web has no addresses, and needs neither delays nor retries
    politeness = Politeness(
        delay=job.host_delay,
        per_host=job.per_host,
        retry_wait=job.retry_wait,
        retries=is_live,
        by_address=is_live,
        uses_grants=peers is not None,
        address_delay=job.address_delay,
        per_address=job.per_address,
        adaptive=is_live,
        delay_factor=job.delay_factor,
        max_ready_at_once=_MAX_READY_AT_ONCE,
    )
    admit = waiting_rule(filters, traps)
    return Frontier(
        storage=storage,
        policy=policy,
        scope=(lambda url: traps.reason(url) or obeyed.refusal(url)) if job.obey_usage else traps.reason,
        read_rules=RobotsRules,
        politeness=politeness,
        keep_own=peers.keep_own if peers is not None else None,
        budget=HostBudget(
            pages=job.pages_per_host,
            bytes=job.bytes_per_host,
            host_stop_after=job.host_stop_after,
            pages_by_host={host: source.pages for source in job.source_list() if source.pages for host in source.hosts},
        ),
        random=Random(job.seed),
        is_own=compile_own_hosts(job.own_hosts) if job.own_hosts else None,
        is_stale=None if http is None else http.is_stale,
        admit=(lambda entry: admit(entry) or obeyed.refusal(entry.url)) if job.obey_usage else admit,
        max_untried_hosts=job.max_untried_hosts,
        idle_hosts_on_disk=job.memory is not None,
    )


def _instructions(job: Job, scope: ScopeRule) -> ParseOptions:
    is_brief = not reads_known_links(job.policy)
    is_scoped = is_brief and job.web is None  # a recorded web spells its links in its own way before they are judged
    return ParseOptions(
        target=job.target,
        transform=job.transform_options(),
        following=job.link_rules(),
        hashed=reward_from(job.reward).hashed,
        max_text=job.scorer_limits().max_bytes if job.has_scorer else 0,
        is_brief=is_brief,
        element_ids=reads_element_ids(job.policy),
        context_graph=reads_context_graph(job.policy),
        obeyed_uses=tuple(job.obey_usage),
        scope=scope if is_scoped else ScopeRule(),
    )


def _recorded(job: Job) -> RecordedWeb | None:
    if job.web is None:
        return None
    try:
        return RecordedWeb(Path(job.web), limit=job.max_body, useful=transformable_types(job.transform_options()))
    except ValueError as error:
        raise JobError(str(error)) from error


def _http_options(job: Job) -> HttpOptions:
    return HttpOptions(
        user_agent=_user_agent(job),
        limits=HttpLimits(whole=job.timeout, body=job.max_body, min_rate=job.min_rate),
        allow=tuple(job.allow),
        useful=transformable_types(job.transform_options()),
        hosts=job.host_endpoints(),
        name_servers=job.name_servers,
        any_certificate=compile_untrusted_hosts(job.any_certificate) if job.any_certificate else None,
        host_headers=job.host_headers(os.environ),
        signer=job.request_signer(),
        keep_wire=job.warc,
        environment=os.environ,
        proxy=job.proxy_url(os.environ),
    )


def _user_agent(job: Job) -> str:
    contact = f" (+{job.contact})" if job.contact else ""
    return f"Motherlode/{VERSION}{contact} {job.user_agent_suffix}".rstrip()
