"""Counts and examples of findings: for all pages, per host, per provider and per property. Memory is bounded."""

from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any

import msgspec

from motherlode.crawler.config.sources import SourceSettings
from motherlode.crawler.folder import CrawlFolder, write_atomically
from motherlode.crawler.validation import Finding, PageFindings

SEVERITIES = ("violation", "warning", "info")
_MAX_EXAMPLES = 3
_MAX_SAVED_HOSTS = 1_000
_MAX_KINDS = 100_000
"""Maximum number of kinds of findings over all hosts. Further kinds are counted by severity only."""


class FindingKind(msgspec.Struct, kw_only=True):
    """Findings of one kind: the same severity, types, property and message."""

    severity: str
    types: str
    path: str
    message: str
    count: int = 0
    pages: int = 0
    last_page: str = ""
    """The page of the last finding, because the findings of a page come one after the other."""
    examples: list[Finding] = msgspec.field(default_factory=list)

    def add(self, finding: Finding) -> None:
        """Count a finding. The first ones of different pages are kept as examples."""
        self.count += 1
        if not self.pages or self.last_page != finding.page:
            self.pages += 1
            self.last_page = finding.page
            if len(self.examples) < _MAX_EXAMPLES:
                self.examples.append(finding)


class HostSummary(msgspec.Struct, kw_only=True):
    """Numbers of pages and findings of one host."""

    host: str
    pages: int = 0
    nodes: int = 0
    conforming: int = 0
    """Pages without violations."""
    severities: Counter[str] = msgspec.field(default_factory=Counter)
    kinds: dict[tuple[str, str, str, str], FindingKind] = msgspec.field(default_factory=dict)

    def sorted_kinds(self) -> list[FindingKind]:
        """Return the kinds by severity, then by number of findings."""
        return sort_kinds(self.kinds.values())


def sort_kinds(kinds: Iterable[FindingKind]) -> list[FindingKind]:
    """Return kinds of findings by severity, then by number of findings."""
    ranks = {severity: rank for rank, severity in enumerate(SEVERITIES)}
    return sorted(kinds, key=lambda kind: (ranks.get(kind.severity, len(ranks)), -kind.count, kind.types, kind.path))


def merge_hosts(name: str, hosts: Iterable[HostSummary]) -> HostSummary:
    """Return the summary of several hosts, under a common name."""
    merged = HostSummary(host=name)
    for host in hosts:
        merged.pages += host.pages
        merged.nodes += host.nodes
        merged.conforming += host.conforming
        merged.severities += host.severities
        for key, kind in host.kinds.items():
            total = merged.kinds.setdefault(
                key, FindingKind(severity=key[0], types=key[1], path=key[2], message=key[3])
            )
            total.count += kind.count
            total.pages += kind.pages
            total.examples = [*total.examples, *kind.examples][:_MAX_EXAMPLES]
    return merged


class ValidationSummary:
    """Collects the findings of pages. `sources` are the providers of the job, each with its hosts."""

    def __init__(self, sources: Iterable[SourceSettings] = ()) -> None:
        self._sources = tuple(sources)
        self.hosts: dict[str, HostSummary] = {}
        self._kinds = 0
        self.uncounted = 0
        """Number of findings of kinds beyond the limit."""

    def watch(self, pages: Iterable[PageFindings]) -> Iterator[PageFindings]:
        """Yield all pages and count their findings."""
        for page in pages:
            self.add(page)
            yield page

    def add(self, page: PageFindings) -> None:
        """Count the findings of a page. Pages that the shapes are not about count as nothing."""
        if not page.nodes:
            return
        host = self.hosts.setdefault(page.host, HostSummary(host=page.host))
        host.pages += 1
        host.nodes += page.nodes
        host.conforming += not any(finding.severity == "violation" for finding in page.findings)
        for finding in page.findings:
            host.severities[finding.severity] += 1
            self._add_kind(host, finding)

    def _add_kind(self, host: HostSummary, finding: Finding) -> None:
        key = finding.severity, ", ".join(finding.types), finding.path, finding.message
        kind = host.kinds.get(key)
        if kind is None:
            if self._kinds >= _MAX_KINDS:
                self.uncounted += 1
                return
            self._kinds += 1
            kind = host.kinds[key] = FindingKind(severity=key[0], types=key[1], path=key[2], message=key[3])
        kind.add(finding)

    @property
    def pages(self) -> int:
        """Number of pages that the shapes are about."""
        return sum(host.pages for host in self.hosts.values())

    @property
    def conforming(self) -> int:
        """Number of pages that the shapes are about and that have no violations."""
        return sum(host.conforming for host in self.hosts.values())

    @property
    def severities(self) -> Counter[str]:
        """Number of findings by severity."""
        total: Counter[str] = Counter()
        for host in self.hosts.values():
            total += host.severities
        return total

    def kinds(self) -> list[FindingKind]:
        """Return the kinds of findings over all hosts."""
        return merge_hosts("", self.hosts.values()).sorted_kinds()

    def sources(self) -> list[tuple[SourceSettings, HostSummary]]:
        """Return the providers of the job, each with the sum over its hosts."""
        return [(source, merge_hosts(source.name, self._hosts_of(source))) for source in self._sources]

    def providers(self) -> list[HostSummary]:
        """Return the summaries for reports: one per provider of the job, and one per host of none."""
        owned = {host for source in self._sources for host in source.hosts}
        others = [host for name, host in self.hosts.items() if name not in owned]
        return [*(found for _, found in self.sources() if found.pages), *others]

    def _hosts_of(self, source: SourceSettings) -> Iterator[HostSummary]:
        return (self.hosts[name] for name in sorted(source.hosts) if name in self.hosts)

    def to_dict(self) -> dict[str, Any]:
        """Return the summary for JSON."""
        return {
            "pages": self.pages,
            "conforming_pages": self.conforming,
            **_count_severities(self.severities),
            "properties": [_describe_kind(kind) for kind in self.kinds()],
            "hosts": [_describe_host(host) for host in sorted_hosts(self.hosts.values())],
            **({"sources": [_describe_source(*pair) for pair in self.sources()]} if self._sources else {}),
        }

    def to_counts(self) -> dict[str, Any]:
        """Return the counts for JSON, without properties and examples, of the hosts with most violations."""
        whole = self.to_dict()
        del whole["properties"]
        for part in (*whole["hosts"], *whole.get("sources", ())):
            del part["properties"]
        return whole | {"hosts": whole["hosts"][:_MAX_SAVED_HOSTS]}


def save_counts(summary: ValidationSummary, folder: CrawlFolder, shapes: Iterable[str]) -> None:
    """Save the counts of a validation in the crawl's folder, where `stats` reads them."""
    about = {"checked_at": datetime.now(UTC).isoformat(timespec="seconds"), "shapes": list(shapes)}
    write_atomically(folder.validation, msgspec.json.format(msgspec.json.encode(about | summary.to_counts())))


def sorted_hosts(hosts: Iterable[HostSummary]) -> list[HostSummary]:
    """Return hosts by number of violations, most first."""
    return sorted(hosts, key=lambda host: (-host.severities["violation"], -host.severities["warning"], host.host))


def _count_severities(severities: Counter[str]) -> dict[str, int]:
    return {"violations": severities["violation"], "warnings": severities["warning"], "infos": severities["info"]}


def _describe_kind(kind: FindingKind) -> dict[str, Any]:
    return {
        "severity": kind.severity,
        "types": kind.types,
        "path": kind.path,
        "message": kind.message,
        "count": kind.count,
        "pages": kind.pages,
        "examples": [{"page": example.page, "value": example.value} for example in kind.examples],
    }


def _describe_source(source: SourceSettings, found: HostSummary) -> dict[str, Any]:
    described = _describe_host(found)
    del described["host"]
    return {"name": source.name, "contact": source.contact, "hosts": sorted(source.hosts), **described}


def _describe_host(host: HostSummary) -> dict[str, Any]:
    return {
        "host": host.host,
        "pages": host.pages,
        "conforming_pages": host.conforming,
        **_count_severities(host.severities),
        "properties": [_describe_kind(kind) for kind in host.sorted_kinds()],
    }
