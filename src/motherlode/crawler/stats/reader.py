"""Statistics and visits of a crawl, read from its folder while it runs or afterwards."""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field, replace
from math import inf
from typing import Any

import msgspec

from motherlode.crawler.config.sources import SourceSettings
from motherlode.crawler.folder import CrawlFolder
from motherlode.crawler.frontier_reader import open_to_read
from motherlode.crawler.index_later import MANIFEST, decode_manifest, find_unread
from motherlode.crawler.stats.counters import Counters, Estimate, sum_of
from motherlode.crawler.stats.counters import sum_of_estimates as sum_of_estimates
from motherlode.crawler.stats.page_list import read_pages
from motherlode.frontier import HostRecord, Withheld, is_revisit_arm
from motherlode.index.nquads_log import log_damage
from motherlode.index.quad_store import store_bytes
from motherlode.model import Visit

_NUMBER = re.compile(r"\b\d[\d,]*\b")
_CURVE_POINTS = 200
"""Number of points of the harvest curve of several shards."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceValidation:
    """Counts of the last validation of a source."""

    shapes: list[str]
    """Names of the profiles, or files of shapes."""
    checked_at: str
    pages: int
    """Pages that the shapes are about."""
    conforming_pages: int
    """Pages without violations."""
    violations: int
    warnings: int
    infos: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFigures:
    """Figures of one of the `[[sources]]` of a job: the sums over its hosts."""

    name: str
    contact: str
    hosts: tuple[str, ...]
    fetched: int
    relevant: int
    quads: int
    bytes: int
    failed: int
    """Number of URLs whose last request failed."""
    problems: int
    """Number of pages with problems, such as broken JSON-LD. Each keeps what could be read."""
    validation: SourceValidation | None = None
    """Counts of the last validation; None if there was none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlStats:
    """Statistics of a crawl at its last commit."""

    totals: Counters
    hosts: tuple[HostRecord, ...]
    known_urls: int
    refused: dict[str, int]
    disk: int
    """Bytes of all files in the folder."""
    store_bytes: int = 0
    """Bytes of the quad store, which are included in `disk`."""
    unindexed_bytes: int = 0
    """Bytes of the log of quads that are not in the store yet."""
    damaged_segments: tuple[str, ...] = ()
    """One sentence for each file of the log that is missing or has the wrong length."""
    sinks: tuple[dict[str, Any], ...] = ()
    """State of each sink: its kind and target, quads that wait, quads that the endpoint refused."""
    sources: tuple[SourceFigures, ...] = ()
    """Figures of each of the job's `[[sources]]`."""
    validation: dict[str, Any] | None = None
    """Counts of the last `motherlode validate`, by host and source; None if there was none."""
    left: Estimate | None = None
    """Estimate of the relevant pages that are left, or None if the crawl has made none."""
    withheld: Withheld = field(default_factory=Withheld)
    """Hosts and URLs that wait because of `max_untried_hosts`."""
    stopped_early: bool = False
    """Whether the crawl stopped early, because too few of the last requests gave a relevant page."""

    @property
    def problem_kinds(self) -> dict[str, int]:
        """Numbers of problems by kind, the most frequent first. Messages that differ only in numbers are one kind."""
        groups: dict[str, Counter[str]] = {}
        for message, count in self.totals.problems.items():
            groups.setdefault(_NUMBER.sub("N", message), Counter())[message] += count
        kinds = Counter(
            {kind if len(group) > 1 else next(iter(group)): group.total() for kind, group in groups.items()}
        )
        return dict(kinds.most_common())

    @property
    def unread_rules(self) -> dict[str, int]:
        """Numbers of hosts whose robots.txt cannot be read, so that nothing is fetched from them, by reason."""
        return dict(Counter(host.unread_for for host in self.hosts if host.unread_since is not None))

    def summary(self) -> dict[str, Any]:
        """Return the object that `stats --json` prints."""
        return {
            **self.totals.summary(),
            "hosts": len(self.hosts),
            "known_urls": self.known_urls,
            "refused": dict(sorted(self.refused.items())),
            "withheld": msgspec.to_builtins(self.withheld),
            "unread_rules": dict(sorted(self.unread_rules.items())),
            "disk": self.disk,
            "store_bytes": self.store_bytes,
            **({"unindexed_bytes": self.unindexed_bytes} if self.unindexed_bytes else {}),
            **({"damaged_segments": list(self.damaged_segments)} if self.damaged_segments else {}),
            "estimated_left": None if self.left is None else self.left.summary(),
            "dried_out": self.stopped_early,
            **({"sinks": list(self.sinks)} if self.sinks else {}),
            **({"sources": [asdict(source) for source in self.sources]} if self.sources else {}),
            **({"validation": self.validation} if self.validation else {}),
        }


def read_stats(folder: CrawlFolder) -> CrawlStats:
    """Read the statistics of a crawl. For a crawl with shards, add up the shards if they are newer."""
    folder.require()
    found = _read_all_stats(folder)
    validation = _read_validation(folder)
    return replace(found, sources=_read_sources(folder, found.hosts, validation), validation=validation)


def _read_validation(folder: CrawlFolder) -> dict[str, Any] | None:
    try:
        return msgspec.json.decode(folder.validation.read_bytes(), type=dict[str, Any])
    except (OSError, msgspec.MsgspecError):  # the crawl was not validated, or a user changed the file
        return None


def _read_all_stats(folder: CrawlFolder) -> CrawlStats:
    whole = _read_stats(folder)
    parts = [_read_stats(part) for part in folder.shard_folders()]
    known = [part.left for part in parts if part.left is not None]
    left = sum_of_estimates(known) if known else None
    sinks = _merge_sinks(parts) if parts else whole.sinks
    if sum(part.totals.fetched for part in parts) <= whole.totals.fetched:
        return replace(whole, left=whole.left if left is None else left, sinks=sinks)
    refused: Counter[str] = Counter()
    for part in parts:  # the shards are running or were killed, so the merged folder is older
        refused.update(part.refused)
    totals = sum_of([part.totals for part in parts])
    totals.curve = sum_curves([part.totals for part in parts])
    return CrawlStats(
        totals=totals,
        hosts=tuple(host for part in parts for host in part.hosts),
        known_urls=sum(part.known_urls for part in parts),
        refused=dict(refused),
        withheld=Withheld(  # each domain belongs to one shard
            domains=sum(part.withheld.domains for part in parts),
            hosts=sum(part.withheld.hosts for part in parts),
            urls=sum(part.withheld.urls for part in parts),
        ),
        disk=whole.disk,
        store_bytes=sum(part.store_bytes for part in parts),
        sinks=sinks,
        left=left,
        stopped_early=all(part.stopped_early for part in parts),
    )


def sum_curves(parts: Sequence[Counters]) -> list[tuple[int, int]]:
    """Return the harvest curve of several shards. It assumes that each shard made its requests at a constant rate.

    >>> shards = [Counters(fetched=20, curve=[(10, 4), (20, 8)]), Counters(fetched=10, curve=[(10, 1)])]
    >>> sum_curves(shards)[-1], dict(sum_curves(shards))[15]
    ((30, 9), 4)
    """
    curves = [(part.first, [(0, 0), *part.curve]) for part in parts if part.curve]
    if not curves:
        return []
    points: dict[int, int] = {}
    for step in range(1, _CURVE_POINTS + 1):
        shares = [(first * step // _CURVE_POINTS, curve) for first, curve in curves]
        relevant = sum(curve[max(0, bisect_right(curve, (at, inf)) - 1)][1] for at, curve in shares)
        points[sum(at for at, _ in shares)] = relevant
    return list(points.items())


def _read_stats(folder: CrawlFolder) -> CrawlStats:
    if not folder.frontier.exists():
        return CrawlStats(totals=Counters(), hosts=(), known_urls=0, refused={}, disk=folder.measure_disk_use())
    with closing(open_to_read(folder)) as storage:
        saved, frontier = storage.note("totals"), storage.note("frontier")
        left, stopped_early = _decode_estimate(storage.note("estimate"))
        state: dict[str, Any] = msgspec.msgpack.decode(frontier) if frontier else {"known_urls": 0, "refused": {}}
        return CrawlStats(
            totals=msgspec.msgpack.decode(saved, type=Counters) if saved else Counters(),
            hosts=tuple(storage.hosts()),
            known_urls=state["known_urls"],
            refused=state["refused"],
            withheld=Withheld(**state.get("withheld", {})),
            disk=folder.measure_disk_use(),
            store_bytes=store_bytes(folder.store),
            unindexed_bytes=find_unread(folder).size,
            damaged_segments=tuple(log_damage(folder.quads, decode_manifest(storage.note(MANIFEST)), contents=False)),
            sinks=_read_sinks(folder),
            left=left,
            stopped_early=stopped_early,
        )


def count_waiting_revisits(folder: CrawlFolder) -> int:
    """Return the number of revisits that a refresh queued and that are still waiting, in all shards."""
    return sum(_count_revisits(part) for part in folder.shard_folders() or [folder] if part.frontier.exists())


def _count_revisits(folder: CrawlFolder) -> int:
    with closing(open_to_read(folder)) as storage:
        waiting = sum(count for arm, _, count in storage.waiting() if is_revisit_arm(arm))
        return waiting + sum(entry.is_revisit for _, entry in storage.postponed())


def _decode_estimate(note: bytes | None) -> tuple[Estimate | None, bool]:
    """Decode the estimate and whether the crawl stopped early. Folders of earlier versions have neither."""
    return (None, False) if note is None else msgspec.msgpack.decode(note, type=tuple[Estimate, bool])


def _read_sinks(folder: CrawlFolder) -> tuple[dict[str, Any], ...]:
    folder.require()
    if b"sinks" not in folder.job_file.read_bytes():  # parsing a job with thousands of seeds is slow
        return ()
    job = folder.read_job()
    from motherlode.index.sinks.sink_store import sink_states  # slow to import

    return tuple(sink_states(job.sink_settings(), folder.path))


def _read_sources(
    folder: CrawlFolder, hosts: Sequence[HostRecord], validation: Mapping[str, Any] | None
) -> tuple[SourceFigures, ...]:
    if b"\nsources = [{" not in folder.job_file.read_bytes():  # parsing a job with thousands of seeds is slow
        return ()
    sources = folder.read_job().source_list()
    failed, problems = (
        Counter(row.host for row in read_pages(folder, failed=key == "failed", problems=key == "problems"))
        for key in ("failed", "problems")
    )
    figures = [_sum_hosts(source, hosts, failed, problems) for source in sources]
    found = {} if validation is None else _find_validations(validation)
    return tuple(replace(one, validation=found.get(one.name)) for one in figures)


def _find_validations(counts: Mapping[str, Any]) -> dict[str, SourceValidation]:
    """Return the counts of the last validation by source. The file is the user's, so anything may be in it."""
    about = {"shapes": counts.get("shapes"), "checked_at": counts.get("checked_at")}
    try:
        rows = [(row["name"], msgspec.convert(about | row, SourceValidation)) for row in counts.get("sources", ())]
    except (msgspec.ValidationError, KeyError, TypeError):
        return {}
    return dict(rows)


def _sum_hosts(
    source: SourceSettings, hosts: Sequence[HostRecord], failed: Counter[str], problems: Counter[str]
) -> SourceFigures:
    own = [host for host in hosts if host.name in source.hosts]
    return SourceFigures(
        name=source.name,
        contact=source.contact,
        hosts=tuple(sorted(source.hosts)),
        fetched=sum(host.fetched for host in own),
        relevant=sum(host.relevant for host in own),
        quads=sum(host.quads for host in own),
        bytes=sum(host.received for host in own),
        failed=sum(failed[name] for name in source.hosts),
        problems=sum(problems[name] for name in source.hosts),
    )


def _merge_sinks(parts: Sequence[CrawlStats]) -> tuple[dict[str, Any], ...]:
    """Merge the states of sinks over all shards. Each shard has its own files and spools."""
    return tuple(
        _merge_sink_states(states) for states in zip(*(part.sinks for part in parts if part.sinks), strict=True)
    )


def _merge_sink_states(states: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    merged = dict(states[0])
    for state in states[1:]:
        for name, value in state.items():
            if isinstance(value, int):
                merged[name] += value
            elif not merged[name]:
                merged[name] = value
    merged["to"] = ", ".join(dict.fromkeys(state["to"] for state in states))
    return merged


def read_visits(folder: CrawlFolder) -> Iterator[Visit]:
    """Yield all recorded visits in order."""
    folder.require()
    with closing(open_to_read(folder)) as storage:
        decode = msgspec.msgpack.Decoder(Visit).decode
        for record in storage.visits():
            yield decode(record)
