"""The command `stats`, and the summary of a crawl for people."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from motherlode.cli.options import AsJson, CrawlDir
from motherlode.cli.terminal import print_json, print_table
from motherlode.crawler import CrawlFolder
from motherlode.crawler.config.values import format_count, format_moment, format_size

if TYPE_CHECKING:
    from motherlode.crawler import Counters, CrawlStats
    from motherlode.crawler.stats.reader import SourceFigures

_MAX_PROBLEM_KINDS = 5


def stats(folder: CrawlDir, *, as_json: AsJson = False) -> None:
    """Summarize what a crawl has fetched and found.

    The summary has the relevant pages and how many are left, failures and refused URLs by reason, problems of pages,
    and syntaxes. docs/reference/metrics.md explains the keys of the JSON.

    \b
    Examples:
      motherlode stats out
      motherlode stats out --json
    """
    from motherlode.crawler.stats.reader import read_stats

    found = read_stats(CrawlFolder(folder))
    if as_json:
        print_json(found.summary())
    else:
        print_summary(found)


def print_summary(stats: CrawlStats) -> None:
    totals = stats.totals
    waits = totals.waits_until is not None and totals.waits_until > time.time()
    advice = "`motherlode index` or the first query indexes them"
    rows = [
        ("fetched", f"{format_count(totals.fetched, 'page')} in {totals.seconds:,.1f} s ({_describe_rate(totals)})"),
        *([("waits", describe_wait(totals))] if waits else []),
        *([("stalled", describe_stall(totals))] if totals.stalled_since is not None or totals.stalls else []),
        ("relevant", f"{totals.relevant:,} (harvest rate {totals.harvest_rate:.3f})"),
        ("quads", f"{totals.quads:,}"),
        ("contacted hosts", f"{len(stats.hosts):,}"),
        ("known URLs", f"{stats.known_urls:,}"),
        *([("left to find", describe_estimate(stats))] if stats.left is not None else []),
        ("received", format_size(totals.bytes)),
        ("on disk", format_size(stats.disk)),
        *([("memory", describe_memory(totals))] if totals.memory_peak else []),
        *(
            [("not indexed", f"{format_size(stats.unindexed_bytes)} of quads: {advice}")]
            if stats.unindexed_bytes
            else []
        ),
        *([("damaged", "\n".join(stats.damaged_segments))] if stats.damaged_segments else []),
        ("redirects", f"{totals.redirects:,}"),
        *([("network", _describe_outages(totals))] if totals.outages else []),
        *([("heads", f"{totals.heads:,}")] if totals.heads else []),
        *([("refreshed", _describe_refreshes(totals))] if totals.refreshed else []),
        *([("sinks", "; ".join(map(_describe_sink, stats.sinks)))] if stats.sinks else []),
        *([("sources", "\n".join(map(_describe_source, stats.sources)))] if stats.sources else []),
        *([("validation", describe_validation(stats.validation))] if stats.validation else []),
        *([("unfinished", _describe_unfinished(totals))] if totals.unfinished else []),
        ("failures", _join_counts(totals.failures) or "none"),
        *([("challenged by", _join_counts(totals.challenged_by))] if totals.challenged_by else []),
        *([("scripts", _describe_script_applications(totals))] if totals.script_applications else []),
        ("refused", _join_counts(stats.refused) or "none"),
        *([("withheld", _describe_withheld(stats))] if stats.withheld.urls else []),
        *([("robots.txt unread", _describe_unread_robots(stats))] if stats.unread_rules else []),
        ("problems", _describe_problems(stats.problem_kinds) or "none"),
        ("syntaxes", _describe_syntaxes(totals.syntaxes) or "none"),
    ]
    print_table(("", ""), rows)


def describe_validation(counts: Mapping[str, Any]) -> str:
    """Return the counts of the last validation, and those of each source, one per line."""
    lines = [f"{_describe_findings(counts)} ({', '.join(counts.get('shapes', ()))}, {counts.get('checked_at', '')})"]
    lines += [f"{source.get('name', '')}: {_describe_findings(source)}" for source in counts.get("sources", ())]
    return "\n".join(lines)


def _describe_findings(counts: Mapping[str, Any]) -> str:
    pages, good = counts.get("pages", 0), counts.get("conforming_pages", 0)
    found = f"{counts.get('violations', 0):,} violations, {counts.get('warnings', 0):,} warnings"
    return f"{good:,} of {pages:,} pages without violations; {found}"


def describe_wait(totals: Counters) -> str:
    """Return until when nothing may be fetched, and why; "" if the crawl does not wait."""
    if totals.waits_until is None:
        return ""
    return f"nothing may be fetched until {format_moment(totals.waits_until)}: {totals.waits_for}"


def describe_stall(totals: Counters) -> str:
    """Return since when no page was settled and what is waited for, or how often that was so."""
    if totals.stalled_since is None:
        times = "once" if totals.stalls == 1 else f"{totals.stalls:,} times"
        return f"{times}, for more than a minute: see crawl.log"
    return f"no page was settled since {format_moment(totals.stalled_since)}: waiting for {totals.stalled_for}"


def describe_memory(totals: Counters) -> str:
    """Return the memory in use, the most so far, and what was shed to stay below the ceiling."""
    shed = f"; shed: {_join_counts(totals.shed)}" if totals.shed else ""
    return f"{format_size(totals.memory)}, at most {format_size(totals.memory_peak)}{shed}"


def _describe_rate(totals: Counters) -> str:
    """Return the pages per second of the last minute, and for longer crawls the mean."""
    from motherlode.crawler.stats.counters import RATE_SECONDS  # slow to import

    mean = totals.fetched / totals.seconds if totals.seconds else 0.0
    if totals.seconds <= RATE_SECONDS:
        return f"{mean:,.0f} per second"
    return f"{totals.rate:,.1f} per second in the last minute, {mean:,.1f} on average"


def describe_estimate(stats: CrawlStats) -> str:
    """Return a sentence about the estimated number of relevant pages that are left, or "" without an estimate."""
    left = stats.left
    if left is None:
        return ""
    stopped = "; the crawl stopped early" if stats.stopped_early else ""
    if not left.urls:
        return f"nothing: no URL is waiting{stopped}"
    if not left.found:
        unknown = f"not known yet: none of {format_count(left.requests, 'request')} gave a relevant page"
        return f"{unknown}; {left.low:,.0f} to {left.high:,.0f} may be among {left.urls:,} waiting URLs{stopped}"
    if left.is_early:
        unseen = f"{left.requests:,} requests are too few to estimate how many pages these link to"
    elif left.with_unseen is None:
        unseen = "new links are still too many to estimate how many pages these link to"
    else:
        unseen = f"about {left.with_unseen:,.0f} together with pages that no link led to yet"
    among = f"among {left.urls:,} waiting URLs"
    return f"about {left.relevant:,.0f} ({left.low:,.0f} to {left.high:,.0f}) {among}; {unseen}{stopped}"


def describe_refresh(totals: Counters) -> str:
    """Return the results of revisits, by kind."""
    failed = totals.refreshed - totals.unchanged - totals.changed - totals.gone
    found = f"{totals.unchanged:,} unchanged, {totals.changed:,} changed, {totals.gone:,} gone"
    return f"{found}, {failed:,} failed" if failed else found


def _describe_withheld(stats: CrawlStats) -> str:
    withheld = stats.withheld
    where = f"{format_count(withheld.hosts, 'untried host')} of {format_count(withheld.domains, 'domain')}"
    return f"{format_count(withheld.urls, 'URL')} on {where} without a relevant page so far (max_untried_hosts)"


def _describe_outages(totals: Counters) -> str:
    from motherlode.crawler.config.values import format_duration  # slow to import

    times = "once" if totals.outages == 1 else f"{totals.outages:,} times"
    outages = f"down {times}, for {format_duration(totals.outage_seconds)} in all"
    if totals.no_network_since is None:
        return outages
    return f"{outages}; no network since {format_moment(totals.no_network_since)}"


def _describe_unfinished(totals: Counters) -> str:
    stages = Counter(totals.unfinished.values())
    counts = " and ".join(f"{count:,} {stage}" for stage, count in sorted(stages.items(), reverse=True))
    return f"{counts} when the time was up; `motherlode resume` begins with them"


def _describe_script_applications(totals: Counters) -> str:
    count = totals.script_applications
    verb = "is" if count == 1 else "are"
    return f"{format_count(count, 'page')} {verb} empty until a script runs, which a crawl does not do"


def _describe_refreshes(totals: Counters) -> str:
    return f"{format_count(totals.refreshed, 'revisit')} in all: {describe_refresh(totals)}"


def _describe_sink(state: Mapping[str, Any]) -> str:
    name = f"{state['kind']} {state['to']}"
    if "files" in state:
        return f"{name}: {format_count(state['files'], 'file')}"
    error = f" ({state['trouble']})" if state["trouble"] else ""
    return f"{name}: {state['waiting']:,} waiting{error}, {state['refused']:,} refused"


def _describe_source(source: SourceFigures) -> str:
    parts = [f"{format_count(source.fetched, 'page')} fetched", f"{source.relevant:,} relevant"]
    parts += [f"{source.failed:,} failed"] if source.failed else []
    parts += [f"{source.problems:,} with problems"] if source.problems else []
    contact = f" ({source.contact})" if source.contact and (source.failed or source.problems) else ""
    return f"{source.name}: {', '.join(parts)}{contact}"


def _describe_unread_robots(stats: CrawlStats) -> str:
    hosts = format_count(sum(stats.unread_rules.values()), "host")
    return f"of {hosts}, from which nothing is fetched until then: {_join_counts(stats.unread_rules)}"


def _describe_syntaxes(syntaxes: Mapping[str, Sequence[int]]) -> str:
    by_pages = sorted(((name, pages) for name, (pages, _) in syntaxes.items()), key=lambda item: -item[1])
    return ", ".join(f"{name} on {format_count(pages, 'page')}" for name, pages in by_pages)


def _describe_problems(kinds: Mapping[str, int]) -> str:
    """Return the number of problems, and one line for each of the most frequent kinds."""
    if not kinds:
        return ""
    rest = len(kinds) - _MAX_PROBLEM_KINDS
    return "\n".join(
        [
            f"{sum(kinds.values()):,}",
            *(f"{count:,} × {kind}" for kind, count in list(kinds.items())[:_MAX_PROBLEM_KINDS]),
            *([f"and {rest:,} other kinds: --json"] if rest > 0 else []),
        ]
    )


def _join_counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in sorted(counts.items(), key=lambda item: -item[1]))
