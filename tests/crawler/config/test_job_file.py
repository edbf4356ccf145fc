"""Paths in a job file are seen from the file; what is no path stays as it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from motherlode.crawler.config.job_file import make_paths_absolute


@pytest.mark.parametrize(
    ("name", "value", "found"),
    [
        ("web", "sub/web.warc.gz", "{}/sub/web.warc.gz"),
        ("model", "/elsewhere/a.model", "/elsewhere/a.model"),
        ("state", "s3://bucket/crawl", "s3://bucket/crawl"),
        ("model", "", ""),
        ("target", "any", "any"),
    ],
)
def test_a_value_is_found_from_anywhere(tmp_path: Path, name: str, value: str, found: str) -> None:
    assert make_paths_absolute(name, value, tmp_path) == found.format(tmp_path)


def test_stylesheets_of_a_table_too_but_not_those_that_are_built_in(tmp_path: Path) -> None:
    table = {"stylesheets": [{"xslt": "a.xsl"}], "grddl": {"http://a.example/": "builtin:feed"}}
    assert make_paths_absolute("transform", table, tmp_path) == {
        "stylesheets": [{"xslt": str(tmp_path / "a.xsl")}],
        "grddl": {"http://a.example/": "builtin:feed"},
    }
