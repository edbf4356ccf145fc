"""Counts of findings: by host, by provider, and their limits."""

from motherlode.crawler.config.sources import Source
from motherlode.crawler.validation import Finding, PageFindings
from motherlode.crawler.validation_summary import ValidationSummary, merge_hosts


def make_page(host: str, *severities: str) -> PageFindings:
    url = f"http://{host}/"
    findings = tuple(
        Finding(page=url, host=host, severity=severity, path="schema:name", message="is missing")
        for severity in severities
    )
    return PageFindings(page=url, host=host, nodes=1, findings=findings)


def summarize(*pages: PageFindings, sources: tuple[Source, ...] = ()) -> ValidationSummary:
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
    source = Source(name="Archive", seeds=("http://a.example/", "http://b.example/"))
    unused = Source(name="Unused", seeds=("http://z.example/",))
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
