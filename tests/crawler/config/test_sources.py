"""The tables `[[sources]]` of a job."""

from typing import Any

import pytest

from motherlode.crawler import Job, JobError

MAP = "https://a.example/sitemap.xml"


def test_sources_are_seeds_with_their_own_hosts() -> None:
    job = Job(
        seeds=["https://seed.example/"],
        sources=[{"name": "A", "sitemap": MAP, "pages": 5}, {"name": "B", "seeds": ["b.example/1", "b.example:81/"]}],
    )
    first, second = job.source_list()
    assert (first.hosts, first.pages) == ({"a.example"}, 5)
    assert second.hosts == {"b.example", "b.example:81"}
    assert job.all_seeds == ("https://seed.example/", MAP, "https://b.example/1", "https://b.example:81/")


@pytest.mark.parametrize(
    ("tables", "sentence"),
    [
        ([{"sitemap": MAP}], "number 1: name is missing"),
        ([{"name": "A"}], "needs a sitemap or seeds"),
        ([{"name": "A", "sitemap": "ftp://a.example/"}], "is not an http or https URL"),
        ([{"name": "A", "sitemap": 5}], "must be a URL or a list"),
        ([{"name": "A", "sitemap": MAP, "url": "x"}], "unknown key 'url'"),
        ([{"name": "A", "sitemap": MAP, "pages": 0}], "pages must be a number above 0"),
        ([{"name": "A", "sitemap": MAP}, {"name": "A", "seeds": "b.example"}], "have the name 'A'"),
        ([{"name": "A", "sitemap": MAP}, {"name": "B", "seeds": "https://a.example/x"}], "'A' and 'B' share a.example"),
    ],
)
def test_wrong_sources_are_errors(tables: list[dict[str, Any]], sentence: str) -> None:
    with pytest.raises(JobError, match=sentence):
        Job(sources=tables).source_list()
