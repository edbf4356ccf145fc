"""Metrics of a crawl in the text format of Prometheus (version 0.0.4)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate

from motherlode.crawler.stats.counters import BODY_BYTES, RESPONSE_SECONDS
from motherlode.frontier import HostRecord
from motherlode.serve.crawl_view import CrawlState

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_ESCAPES = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})
Sample = tuple[Mapping[str, str], float]
"""Labels and value."""


def render_metrics(state: CrawlState, now: float) -> str:
    """Return all metrics. docs/reference/metrics.md describes each."""
    return "".join(f"{line}\n" for line in _lines(state, now))


def _lines(state: CrawlState, now: float) -> Iterator[str]:
    yield from _counters(state)
    yield from _gauges(state, now)
    totals = state.stats.totals
    name, text = "motherlode_response_seconds", "Seconds from the request for a page to the end of its response."
    yield from _histogram(name, text, RESPONSE_SECONDS, totals.response_times, totals.response_seconds)
    name, text = "motherlode_page_bytes", "Unpacked size of pages in bytes."
    yield from _histogram(name, text, BODY_BYTES, totals.body_sizes, totals.body_bytes)


def _counters(state: CrawlState) -> Iterator[str]:
    totals, stats = state.stats.totals, state.stats
    results = {"page": totals.pages, "redirect": totals.redirects} | totals.failures
    yield from _metric("requests_total", "counter", "Requests for pages by result.", _by("result", results))
    yield from _simple("all_requests_total", "counter", "All requests, with robots.txt and HEAD.", totals.requests)
    yield from _simple("relevant_pages_total", "counter", "Relevant pages found.", totals.relevant)
    yield from _simple("quads_total", "counter", "Quads stored.", totals.quads)
    yield from _simple("received_bytes_total", "counter", "Bytes of bodies received, packed.", totals.bytes)
    yield from _simple("links_total", "counter", "Links seen.", totals.links)
    yield from _simple("run_seconds_total", "counter", "Seconds that the crawl has run.", totals.seconds)
    yield from _simple("outages_total", "counter", "Network outages.", totals.outages)
    yield from _metric("shed_total", "counter", "What the memory ceiling shed, by kind.", _by("kind", totals.shed))
    yield from _metric("refused_urls_total", "counter", "URLs refused by reason.", _by("reason", stats.refused))
    pages = {name: counts[0] for name, counts in totals.syntaxes.items()}
    yield from _metric("pages_total", "counter", "Pages with statements by syntax.", _by("syntax", pages))
    statements = {name: counts[1] for name, counts in totals.syntaxes.items()}
    yield from _metric("statements_total", "counter", "Statements by syntax.", _by("syntax", statements))
    revisits = {"unchanged": totals.unchanged, "changed": totals.changed, "gone": totals.gone}
    yield from _metric("revisits_total", "counter", "Revisits by result.", _by("result", revisits))


def _gauges(state: CrawlState, now: float) -> Iterator[str]:
    totals, stats, policy = state.stats.totals, state.stats, state.policy
    yield from _simple("running", "gauge", "1 while the crawl runs, else 0.", int(state.is_running))
    rate = totals.rate if state.is_running else 0.0
    yield from _simple("pages_per_second", "gauge", "Requests for pages per second in the last minute.", rate)
    yield from _simple("harvest_rate", "gauge", "Relevant pages per request so far.", totals.harvest_rate)
    if state.recent_rate is not None:
        yield from _simple("recent_harvest_rate", "gauge", "The same in the latest requests.", state.recent_rate)
    in_flight = totals.in_flight if state.is_running else 0
    queue = {
        "waiting": policy.waiting,
        "retry": policy.retries,
        "revisit": policy.revisits,
        "withheld": stats.withheld.urls,
        "in_flight": in_flight,
    }
    yield from _metric("queue_urls", "gauge", "URLs in the queue by state.", _by("state", queue))
    yield from _simple("slots_in_use", "gauge", "Leases in flight.", in_flight)
    yield from _simple("slots", "gauge", "Slots.", state.concurrency)
    yield from _metric("hosts", "gauge", "Contacted hosts by state.", _by("state", _count_hosts(stats.hosts, now)))
    yield from _simple("known_urls", "gauge", "Known URLs.", stats.known_urls)
    yield from _simple("disk_bytes", "gauge", "Bytes of all files of the crawl.", stats.disk)
    yield from _simple("memory_bytes", "gauge", "Memory of the crawl, if it has a ceiling.", totals.memory)
    waits = max(0.0, (totals.waits_until or 0.0) - now) if state.is_running else 0.0
    yield from _simple("waiting_seconds", "gauge", "Seconds until something may be fetched again.", waits)
    if stats.left is not None:
        yield from _simple("estimated_relevant_left", "gauge", "Estimated relevant pages left.", stats.left.relevant)


def _count_hosts(hosts: Sequence[HostRecord], now: float) -> dict[str, int]:
    snoozed = sum(host.ready_at > now for host in hosts)
    return {"ready": len(hosts) - snoozed, "snoozed": snoozed}


def _by(label: str, counts: Mapping[str, float]) -> list[Sample]:
    return [({label: name}, count) for name, count in sorted(counts.items())]


def _simple(name: str, kind: str, text: str, value: float) -> Iterator[str]:
    return _metric(name, kind, text, [({}, value)])


def _metric(name: str, kind: str, text: str, samples: Iterable[Sample]) -> Iterator[str]:
    yield f"# HELP motherlode_{name} {text}"
    yield f"# TYPE motherlode_{name} {kind}"
    for labels, value in samples:
        shown = ",".join(f'{key}="{label.translate(_ESCAPES)}"' for key, label in labels.items())
        yield f"motherlode_{name}{{{shown}}} {value:.15g}" if shown else f"motherlode_{name} {value:.15g}"


def _histogram(name: str, text: str, bounds: Sequence[float], counts: Sequence[int], total: float) -> Iterator[str]:
    yield f"# HELP {name} {text}"
    yield f"# TYPE {name} histogram"
    for bound, count in zip((*(f"{bound:g}" for bound in bounds), "+Inf"), accumulate(counts), strict=True):
        yield f'{name}_bucket{{le="{bound}"}} {count}'
    yield f"{name}_sum {total:.15g}"
    yield f"{name}_count {sum(counts)}"
