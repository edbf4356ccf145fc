"""From the account of a crawl to its report: which figures, in which words."""

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
from motherlode.frontier.backoff import NO_RULES, TOO_MANY_FAILURES
from motherlode.frontier.domain_limit import TOO_MANY_HOSTS
from motherlode.model import FailureKind, Syntax
from motherlode.www.urls import OUT_OF_SCOPE, canonical, host_of

EXPLANATIONS: dict[FailureKind, str] = {
    FailureKind.REDIRECT: "The answer was the address of another page, which is now known.",
    FailureKind.REDIRECT_BROKEN: "A redirect without a usable target, in a loop, or at the end of too long a chain.",
    FailureKind.NOT_FOUND: "The server has no such page (404, 410), or the recorded web does not hold it.",
    FailureKind.FORBIDDEN: "The server does not let us in (401, 402, 403, 407, 451).",
    FailureKind.CLIENT_ERROR: "The server takes the request to be wrong (any other 4xx).",
    FailureKind.TOO_MANY: "The server asks for fewer requests (429).",
    FailureKind.UNAVAILABLE: "The server cannot answer for now (503, 509, 529).",
    FailureKind.SERVER_ERROR: "The server failed, or asks for another try (any other 5xx, 408, 421, 425).",
    FailureKind.DNS: "The host's name has no address.",
    FailureKind.NO_DNS: "No name server could say whether the host's name has an address.",
    FailureKind.CONNECT: "No connection could be made.",
    FailureKind.TLS: "No secure connection could be made: no common protocol, or no TLS at all.",
    FailureKind.CERTIFICATE: "The host's certificate has expired, is for others, or of an unknown authority.",
    FailureKind.TIMEOUT: "The answer took too long.",
    FailureKind.RESET: "The connection ended in the middle of an answer.",
    FailureKind.PROTOCOL: "The server does not speak HTTP as it should.",
    FailureKind.GUARD: "The host's address is private or reserved, and was not allowed.",
    FailureKind.ROBOTS: "The host's robots.txt disallows it; no request was made.",
    FailureKind.SCHEME: "The address is neither http nor https.",
    FailureKind.NOT_MODIFIED: "The page has not changed since it was fetched before.",
    FailureKind.USELESS: "The type and the first bytes showed that nothing could come of it; the rest was not read.",
    FailureKind.PROCESSING: "The page arrived, but reading it ran past its limits.",
}
"""What each kind of failure means, in one sentence."""

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
"""How people write the names of the syntaxes."""


def report_of(job: Job, stats: CrawlStats, *, made_at: float | None = None) -> CrawlReport:
    """The report of a crawl, finished or not; `made_at` is in seconds since the epoch."""
    totals = stats.totals
    return CrawlReport(
        title=_title(job.seeds),
        generated=_generated(made_at),
        asked=_asked(job),
        figures=_figures(stats),
        curves=(curve_of(job.policy, totals),),
        hosts=tuple(
            HostRow(name=host.name, fetched=host.fetched, relevant=host.relevant, quads=host.quads, bytes=host.received)
            for host in stats.hosts
            if host.fetched
        ),
        syntaxes=tuple(
            SyntaxRow(name=_syntax_name(name), pages=pages, statements=statements, plain=name == Syntax.PAGE.value)
            for name, (pages, statements) in totals.syntaxes.items()
        ),
        failures=_explained(totals.failures),
        refused=_explained(stats.refused),
        problems=tuple(Count(name=message, count=count) for message, count in stats.problem_kinds.items()),
    )


def curve_of(name: str, totals: Counters) -> Curve:
    """The harvest of a crawl up to its very last page, which the totals' own, thinned points may lack.

    Like the harvest rate it leaves out looks at known pages; what these took away, its end lacks.
    """
    before = tuple((asked, relevant) for asked, relevant in totals.curve if asked < totals.first)
    return Curve(name=name, points=(*before, (totals.first, totals.relevant)) if totals.first else before)


def duration(seconds: float) -> str:
    """Time for people.

    >>> duration(0.25), duration(59.96), duration(3725), duration(200_000)
    ('0.2 s', '1 min 0 s', '1 h 2 min', '2 d 7 h')
    """
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    for unit, smaller, larger_size, smaller_size in (("d", "h", 86400, 3600), ("h", "min", 3600, 60)):
        if whole >= larger_size:
            return f"{whole // larger_size:,} {unit} {whole % larger_size // smaller_size} {smaller}"
    return f"{whole // 60} min {whole % 60} s"


def _title(seeds: tuple[str, ...]) -> str:
    hosts = list(dict.fromkeys(_host(seed) for seed in seeds))
    if not hosts:
        return "A crawl"
    more = len(hosts) - 1
    return f"Crawl of {hosts[0]}" + (f" and {more:,} more {'host' if more == 1 else 'hosts'}" if more else "")


def _host(seed: str) -> str:
    url = canonical(seed if "://" in seed else f"https://{seed}")
    return seed if url is None else host_of(url)


def _generated(made_at: float | None) -> str:
    when = "" if made_at is None else f" on {datetime.fromtimestamp(made_at, UTC):%d %B %Y at %H:%M} UTC"
    return f"Made by Motherlode {__version__}{when.replace(' on 0', ' on ')}"


def _asked(job: Job) -> tuple[tuple[str, str], ...]:
    limits = (
        "" if job.pages is None else f"{job.pages:,} pages",
        "" if job.time is None else duration(job.time),
        "" if job.bytes is None else format_size(job.bytes),
    )
    asked = {
        "Policy": job.policy,
        "Target": job.target,
        "Scope": job.scope,
        "Seeds": f"{len(job.seeds):,}",
        "Own hosts, robots.txt not applied": ", ".join(job.own_hosts),
        "Certificates not checked": ", ".join(job.any_certificate),
        "Budget": ", ".join(limit for limit in limits if limit) or "none",
        "Recorded web": "" if job.web is None else job.web.rpartition("/")[2],
    }
    return tuple((name, value) for name, value in asked.items() if value)


def _figures(stats: CrawlStats) -> tuple[Figure, ...]:
    totals = stats.totals
    failed = sum(totals.failures.values())
    fruitful = sum(1 for host in stats.hosts if host.relevant)
    a_second = totals.fetched / totals.seconds if totals.seconds else 0.0
    a_page = totals.quads / totals.relevant if totals.relevant else 0.0
    return (
        Figure(
            label="Harvest rate",
            value=percent(totals.relevant, totals.first),
            note="looks at known pages aside" if totals.refreshed else "of what was fetched",
        ),
        Figure(label="Relevant", value=_big(totals.relevant), note=f"on {_hosts(fruitful)}"),
        Figure(
            label="Fetched",
            value=_big(totals.fetched),
            note=f"{_big(failed)} failed, {_big(totals.redirects)} redirected"
            + (f", {_big(totals.refreshed)} looks at known pages" if totals.refreshed else ""),
        ),
        Figure(label="Quads", value=_big(totals.quads), note=f"{a_page:,.1f} a relevant page"),
        Figure(
            label="Hosts asked", value=_big(len(stats.hosts)), note=f"{percent(fruitful, len(stats.hosts))} with finds"
        ),
        Figure(label="Known URLs", value=_big(stats.known_urls), note=f"{_big(totals.links)} links seen"),
        Figure(label="Time", value=duration(totals.seconds), note=f"{a_second:,.1f} pages a second"),
        Figure(label="Received", value=format_size(totals.bytes), note=f"{format_size(stats.disk)} on disk"),
    )


def _big(number: int) -> str:
    return f"{number:,}" if number < 10**7 else compact(number)


def _hosts(count: int) -> str:
    return "1 host" if count == 1 else f"{count:,} hosts"


_REASONS: dict[str, str] = {kind.value: sentence for kind, sentence in EXPLANATIONS.items()} | {
    TOO_MANY_FAILURES: "The host did not answer, or broke off, many times in a row.",
    NO_RULES: "The host's server failed or was busy whenever it was asked for its rules, for hours.",
    TOO_MANY_HOSTS: "Thousands of hosts of the same domain wait already, and too few of those contacted were relevant.",
    OUT_OF_SCOPE: "The link leads outside of what the crawl was asked to stay in; counted each time it is met.",
}


def _explained(counts: Mapping[str, int]) -> tuple[Count, ...]:
    return tuple(Count(name=name, count=count, explanation=_REASONS.get(name, "")) for name, count in counts.items())


def _syntax_name(value: str) -> str:
    """A folder may have been written by another version that knows more syntaxes."""
    return next((name for syntax, name in NAMES.items() if syntax.value == value), value)
