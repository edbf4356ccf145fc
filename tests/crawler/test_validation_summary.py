"""Counts and examples of findings."""

from __future__ import annotations

import pytest

from motherlode.crawler import validation_summary
from motherlode.crawler.validation import Finding, PageFindings
from motherlode.crawler.validation_summary import ValidationSummary, sorted_hosts


def page(
    number: int, *severities: str, host: str = "a.example", nodes: int = 1, message: str = "wrong"
) -> PageFindings:
    url = f"http://{host}/{number}"
    findings = tuple(
        Finding(page=url, host=host, severity=severity, path="schema:name", message=message, types=("schema:Thing",))
        for severity in severities
    )
    return PageFindings(page=url, host=host, nodes=nodes, findings=findings, results=())


def test_summary_counts_pages_and_findings_by_host() -> None:
    summary = ValidationSummary()
    given = [page(1), page(2, "violation", "warning"), page(3, "warning", host="b.example"), page(4, nodes=0)]
    assert list(summary.watch(given)) == given
    assert (summary.pages, summary.conforming) == (3, 2)
    assert summary.severities == {"violation": 1, "warning": 2}
    assert [(host.host, host.pages) for host in sorted_hosts(summary.hosts.values())] == [
        ("a.example", 2),
        ("b.example", 1),
    ]


def test_kind_keeps_examples_of_different_pages() -> None:
    summary = ValidationSummary()
    for number in range(5):
        summary.add(page(number, "violation", "violation"))
    (kind,) = summary.kinds()
    assert (kind.count, kind.pages) == (10, 5)
    assert [example.page for example in kind.examples] == [f"http://a.example/{number}" for number in range(3)]


def test_kinds_of_several_hosts_are_merged_violations_first() -> None:
    summary = ValidationSummary()
    summary.add(page(1, "warning", "warning", message="better"))
    summary.add(page(2, "violation"))
    summary.add(page(3, "violation", host="b.example"))
    assert [(kind.severity, kind.count, kind.pages) for kind in summary.kinds()] == [
        ("violation", 2, 2),
        ("warning", 2, 1),
    ]
    described = summary.to_dict()
    assert (described["pages"], described["conforming_pages"], described["violations"]) == (3, 1, 2)
    assert [host["host"] for host in described["hosts"]] == ["a.example", "b.example"]


def test_findings_of_kinds_above_limit_are_counted_by_severity_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(validation_summary, "_MAX_KINDS", 1)
    summary = ValidationSummary()
    summary.add(page(1, "violation", message="first"))
    summary.add(page(2, "violation", message="second"))
    assert (len(summary.kinds()), summary.uncounted, summary.severities["violation"]) == (1, 1, 2)
