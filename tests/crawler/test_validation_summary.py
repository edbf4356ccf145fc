"""Counts of findings: by host, by provider, and their limits."""

import pytest

from motherlode.crawler import validation_summary
from motherlode.crawler.config.sources import SourceSettings
from motherlode.crawler.validation import Finding, PageFindings
from motherlode.crawler.validation_summary import ValidationSummary, merge_hosts, sorted_hosts


def make_page(host: str, *severities: str) -> PageFindings:
    url = f"http://{host}/"
    findings = tuple(
        Finding(page=url, host=host, severity=severity, path="schema:name", message="is missing")
        for severity in severities
    )
    return PageFindings(page=url, host=host, nodes=1, findings=findings)


def page_with(number: int, *severities: str, host: str = "a.example", message: str = "wrong") -> PageFindings:
    """Return the findings of one of several pages of a host."""
    url = f"http://{host}/{number}"
    findings = tuple(
        Finding(page=url, host=host, severity=severity, path="schema:name", message=message, types=("schema:Thing",))
        for severity in severities
    )
    return PageFindings(page=url, host=host, nodes=1, findings=findings)


def summarize(*pages: PageFindings, sources: tuple[SourceSettings, ...] = ()) -> ValidationSummary:
    summary = ValidationSummary(sources)
    for page in pages:
        summary.add(page)
    return summary


def test_hosts_are_merged_with_their_kinds() -> None:
    summary = summarize(make_page("a.example", "violation", "warning"), make_page("b.example", "violation"))
    merged = merge_hosts("both", summary.hosts.values())
    assert (merged.pages, merged.conforming, merged.severities["violation"]) == (2, 0, 2)
    [kind] = [kind for kind in merged.sorted_kinds() if kind.severity == "violation"]
    assert (kind.count, kind.pages, len(kind.examples)) == (2, 2, 2)
    assert summary.hosts["a.example"].severities["violation"] == 1


def test_providers_are_the_sources_and_the_other_hosts() -> None:
    source = SourceSettings(name="Archive", seeds=("http://a.example/", "http://b.example/"))
    unused = SourceSettings(name="Unused", seeds=("http://z.example/",))
    pages = [make_page(host, "violation") for host in ("a.example", "b.example", "c.example")]
    summary = summarize(*pages, sources=(source, unused))
    assert [(found.host, found.pages) for found in summary.providers()] == [("Archive", 2), ("c.example", 1)]
    counts = summary.to_counts()
    assert [(found["name"], found["pages"]) for found in counts["sources"]] == [("Archive", 2), ("Unused", 0)]
    assert "properties" not in counts["sources"][0]
    assert "properties" in summary.to_dict()["sources"][0]


def test_page_without_such_data_is_not_counted() -> None:
    page = PageFindings(page="http://a.example/", host="a.example", nodes=0, findings=())
    assert summarize(page).pages == 0


def test_summary_counts_pages_and_findings_by_host() -> None:
    summary = ValidationSummary()
    given = [page_with(1), page_with(2, "violation", "warning"), page_with(3, "warning", host="b.example")]
    assert list(summary.watch(given)) == given
    assert (summary.pages, summary.conforming) == (3, 2)
    assert summary.severities == {"violation": 1, "warning": 2}
    assert [host.host for host in sorted_hosts(summary.hosts.values())] == ["a.example", "b.example"]


def test_kind_keeps_examples_of_different_pages() -> None:
    summary = summarize(*(page_with(number, "violation", "violation") for number in range(5)))
    (kind,) = summary.kinds()
    assert (kind.count, kind.pages) == (10, 5)
    assert [example.page for example in kind.examples] == [f"http://a.example/{number}" for number in range(3)]


def test_findings_of_kinds_above_limit_are_counted_by_severity_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(validation_summary, "_MAX_KINDS", 1)
    summary = summarize(page_with(1, "violation", message="first"), page_with(2, "violation", message="second"))
    assert (len(summary.kinds()), summary.uncounted, summary.severities["violation"]) == (1, 1, 2)
