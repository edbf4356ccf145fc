"""Reports about the structured data of one host."""

from __future__ import annotations

from pathlib import Path

from motherlode.crawler.report import provider_report
from motherlode.crawler.report.provider_report import file_name, render_report, write_reports
from motherlode.crawler.validation_summary import ValidationSummary
from tests.crawler.test_validation_summary import page_with


def summarize(count: int = 1, host: str = "a.example") -> ValidationSummary:
    summary = ValidationSummary()
    for number in range(count):
        summary.add(page_with(number, "violation", host=host, message=f"<b>wrong</b> {number}"))
    return summary


def test_write_reports_writes_one_file_per_host(tmp_path: Path) -> None:
    summary = summarize()
    summary.add(page_with(1, host="b.example"))
    assert write_reports(summary, tmp_path / "reports", profile="google") == 2
    assert sorted(path.name for path in (tmp_path / "reports").iterdir()) == ["a.example.html", "b.example.html"]
    assert "http://a.example/0" in (tmp_path / "reports" / "a.example.html").read_text(encoding="utf-8")


def test_render_report_escapes_messages() -> None:
    (host,) = summarize().hosts.values()
    text = render_report(host, profile="<i>")
    assert "&lt;b&gt;wrong&lt;/b&gt;" in text
    assert "<b>wrong" not in text and "<i>" not in text


def test_render_report_says_how_many_kinds_are_left_out() -> None:
    most = provider_report._MAX_KINDS_PER_SEVERITY
    (host,) = summarize(most + 7).hosts.values()
    text = render_report(host, profile="google")
    assert text.count("wrong&lt;/b&gt;") == most
    assert "7" in text.partition("wrong&lt;/b&gt; 0")[2]


def test_file_name_of_unsafe_host_stays_in_folder() -> None:
    for host in ("../../etc/passwd", "..", "a/b", "x" * 300, "[::1]"):
        name = file_name(host)
        assert "/" not in name and not name.startswith(".") and len(name) < 120
    assert file_name("a/b") != file_name("a-b")
