"""Contents of the report of a crawl, computed from its statistics."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

from motherlode import __version__
from motherlode.crawler.config.job import Job
from motherlode.crawler.config.units import format_size
from motherlode.crawler.report.page import Count, CrawlReport, Figure, HostRow, SyntaxRow
from motherlode.crawler.report.plot import Curve, compact, percent
from motherlode.crawler.stats.counters import Counters
from motherlode.crawler.stats.reader import CrawlStats
from motherlode.frontier.admission import TOO_MANY_HOSTS
from motherlode.frontier.leases import NO_RULES, TOO_MANY_FAILURES
from motherlode.model import FailureKind, Syntax
from motherlode.www.urls import OUT_OF_SCOPE, canonical, host_of

EXPLANATIONS: dict[FailureKind, str] = {
    FailureKind.REDIRECT: "The server redirected to another URL, which is now known.",
    FailureKind.REDIRECT_BROKEN: "A redirect without a usable target, in a loop, or at the end of too long a chain.",
    FailureKind.NOT_FOUND: "The server has no such page (404, 410), or it is not in the recorded web.",
    FailureKind.FORBIDDEN: "The server refused access (401, 402, 403, 407, 451).",
    FailureKind.CLIENT_ERROR: "The server rejected the request (any other 4xx).",
    FailureKind.TOO_MANY: "The server asks for fewer requests (429).",
    FailureKind.UNAVAILABLE: "The server is temporarily unavailable (503, 509, 529).",
    FailureKind.SERVER_ERROR: "The server failed or asked for a retry (any other 5xx, 408, 421, 425).",
    FailureKind.DNS: "The host's name has no address.",
    FailureKind.NO_DNS: "No name server could resolve the host's name.",
    FailureKind.CONNECT: "No connection could be made.",
    FailureKind.TLS: "No secure connection could be made: no common protocol, or no TLS at all.",
    FailureKind.CERTIFICATE: "The host's certificate has expired, is for another name, or has an unknown issuer.",
    FailureKind.TIMEOUT: "The response took too long.",
    FailureKind.RESET: "The connection ended during a response.",
    FailureKind.PROTOCOL: "The server violated the HTTP protocol.",
    FailureKind.GUARD: "The host's address is private or reserved, and was not allowed.",
    FailureKind.ROBOTS: "The host's robots.txt disallows it; no request was made.",
    FailureKind.SCHEME: "The address is neither http nor https.",
    FailureKind.NOT_MODIFIED: "The page has not changed since it was fetched before.",
    FailureKind.USELESS: "The media type or the first bytes showed that the page has no data; the rest was not read.",
    FailureKind.PROCESSING: "The page was fetched, but parsing it exceeded a limit.",
    FailureKind.INTERNAL: "An unexpected error in Motherlode; crawl.log has the traceback.",
}
"""Explanations of the kinds of failures."""

NAMES: dict[Syntax, str] = {
    Syntax.TURTLE: "Turtle",
    Syntax.TRIG: "TriG",
    Syntax.N_TRIPLES: "N-Triples",
    Syntax.N_QUADS: "N-Quads",
    Syntax.RDF_XML: "RDF/XML",
    Syntax.N3: "Notation3",
    Syntax.JSON_LD: "JSON-LD",
    Syntax.MICRODATA: "Microdata",
    Syntax.RDFA: "RDFa",
    Syntax.MICROFORMATS: "Microformats",
    Syntax.FEED: "RSS and Atom feeds",
    Syntax.GRDDL: "GRDDL",
    Syntax.PAGE: "Titles and meta elements",
    Syntax.OTHER: "Other transformers",
}
"""Names of the syntaxes."""


def build_report(job: Job, stats: CrawlStats, *, made_at: float | None = None) -> CrawlReport:
    """Return the report of a running or finished crawl. `made_at` is in seconds since the epoch."""
    totals = stats.totals
    return CrawlReport(
        title=_format_title(job.seeds),
        generated=_format_generated(made_at),
        settings=_list_settings(job),
        figures=_compute_figures(stats),
        curves=(build_harvest_curve(job.policy, totals),),
        hosts=tuple(
            HostRow(name=host.name, fetched=host.fetched, relevant=host.relevant, quads=host.quads, bytes=host.received)
            for host in stats.hosts
            if host.fetched
        ),
        syntaxes=tuple(
            SyntaxRow(name=_syntax_name(name), pages=pages, statements=statements, plain=name == Syntax.PAGE.value)
            for name, (pages, statements) in totals.syntaxes.items()
        ),
        failures=_explain_counts(totals.failures),
        refused=_explain_counts(stats.refused),
        problems=tuple(Count(name=message, count=count) for message, count in stats.problem_kinds.items()),
    )


def build_harvest_curve(name: str, totals: Counters) -> Curve:
    """Return the harvest curve of a crawl up to its last page. The points in the counters are thinned out.

    Revisits are left out, as in the harvest rate. Relevant pages that revisits removed are missing at its end.
    """
    before = tuple((fetched, relevant) for fetched, relevant in totals.curve if fetched < totals.first)
    return Curve(name=name, points=(*before, (totals.first, totals.relevant)) if totals.first else before)


def format_duration(seconds: float) -> str:
    """Return a time in its two largest units.

    >>> format_duration(0.25), format_duration(59.96), format_duration(3725), format_duration(200_000)
    ('0.2 s', '1 min 0 s', '1 h 2 min', '2 d 7 h')
    """
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    for unit, smaller, larger_size, smaller_size in (("d", "h", 86400, 3600), ("h", "min", 3600, 60)):
        if whole >= larger_size:
            return f"{whole // larger_size:,} {unit} {whole % larger_size // smaller_size} {smaller}"
    return f"{whole // 60} min {whole % 60} s"


def _format_title(seeds: tuple[str, ...]) -> str:
    hosts = list(dict.fromkeys(_host(seed) for seed in seeds))
    if not hosts:
        return "A crawl"
    more = len(hosts) - 1
    return f"Crawl of {hosts[0]}" + (f" and {more:,} more {'host' if more == 1 else 'hosts'}" if more else "")


def _host(seed: str) -> str:
    url = canonical(seed if "://" in seed else f"https://{seed}")
    return seed if url is None else host_of(url)


def _format_generated(made_at: float | None) -> str:
    when = "" if made_at is None else f" on {datetime.fromtimestamp(made_at, UTC):%d %B %Y at %H:%M} UTC"
    return f"Written by Motherlode {__version__}{when.replace(' on 0', ' on ')}"


def _list_settings(job: Job) -> tuple[tuple[str, str], ...]:
    limits = (
        "" if job.pages is None else f"{job.pages:,} pages",
        "" if job.time is None else format_duration(job.time),
        "" if job.bytes is None else format_size(job.bytes),
    )
    settings = {
        "Policy": job.policy,
        "Target": job.target,
        "Scope": job.scope,
        "Seeds": f"{len(job.seeds):,}",
        "Own hosts, robots.txt not applied": ", ".join(job.own_hosts),
        "Certificates not verified": ", ".join(job.any_certificate),
        "Budget": ", ".join(limit for limit in limits if limit) or "none",
        "Recorded web": "" if job.web is None else job.web.rpartition("/")[2],
    }
    return tuple((name, value) for name, value in settings.items() if value)


def _compute_figures(stats: CrawlStats) -> tuple[Figure, ...]:
    totals = stats.totals
    failed = sum(totals.failures.values())
    relevant_hosts = sum(1 for host in stats.hosts if host.relevant)
    pages_per_second = totals.fetched / totals.seconds if totals.seconds else 0.0
    quads_per_page = totals.quads / totals.relevant if totals.relevant else 0.0
    return (
        Figure(
            label="Harvest rate",
            value=percent(totals.relevant, totals.first),
            note="without revisits" if totals.refreshed else "of pages fetched",
        ),
        Figure(label="Relevant", value=_format_number(totals.relevant), note=f"on {_format_hosts(relevant_hosts)}"),
        Figure(
            label="Fetched",
            value=_format_number(totals.fetched),
            note=f"{_format_number(failed)} failed, {_format_number(totals.redirects)} redirected"
            + (f", {_format_number(totals.refreshed)} revisits" if totals.refreshed else ""),
        ),
        Figure(label="Quads", value=_format_number(totals.quads), note=f"{quads_per_page:,.1f} per relevant page"),
        Figure(
            label="Contacted hosts",
            value=_format_number(len(stats.hosts)),
            note=f"{percent(relevant_hosts, len(stats.hosts))} with relevant pages",
        ),
        Figure(
            label="Known URLs",
            value=_format_number(stats.known_urls),
            note=f"{_format_number(totals.links)} links seen",
        ),
        Figure(label="Time", value=format_duration(totals.seconds), note=f"{pages_per_second:,.1f} pages per second"),
        Figure(label="Received", value=format_size(totals.bytes), note=f"{format_size(stats.disk)} on disk"),
    )


def _format_number(number: int) -> str:
    return f"{number:,}" if number < 10**7 else compact(number)


def _format_hosts(count: int) -> str:
    return "1 host" if count == 1 else f"{count:,} hosts"


_REASONS: dict[str, str] = {kind.value: sentence for kind, sentence in EXPLANATIONS.items()} | {
    TOO_MANY_FAILURES: "The host did not respond, or broke the connection, many times in a row.",
    NO_RULES: "The host's robots.txt could not be fetched for hours, because the server failed or was busy.",
    TOO_MANY_HOSTS: "Thousands of hosts of the same domain are waiting, and too few of those contacted were relevant.",
    OUT_OF_SCOPE: "The link leads out of the scope of the crawl. Each such link is counted.",
}


def _explain_counts(counts: Mapping[str, int]) -> tuple[Count, ...]:
    return tuple(Count(name=name, count=count, explanation=_REASONS.get(name, "")) for name, count in counts.items())


def _syntax_name(value: str) -> str:
    """Return the name of a syntax, or the value itself for a syntax of another version."""
    return next((name for syntax, name in NAMES.items() if syntax.value == value), value)
