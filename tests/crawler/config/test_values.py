"""Sizes and times that users write and read."""

from __future__ import annotations

import pytest

from motherlode.crawler.config.values import (
    JobError,
    format_count,
    format_duration,
    format_moment,
    format_size,
    has_password,
    parse_size,
    parse_time,
    remove_password,
)


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1.0 kB"),
        (999_949, "999.9 kB"),
        (999_999, "1.0 MB"),
        (2_500_000_000, "2.5 GB"),
        (10**15, "1.0 PB"),
    ],
)
def test_size_is_formatted_with_a_unit(count: int, text: str) -> None:
    assert format_size(count) == text


def test_sizes_and_times_are_parsed() -> None:
    assert [parse_size(text) for text in ("10", "1.5k", "2 MB", "1GiB")] == [10, 1500, 2_000_000, 1_000_000_000]
    assert [parse_time(text) for text in ("10", "1.5h", "2d")] == [10.0, 5400.0, 172800.0]
    with pytest.raises(JobError):
        parse_size("many")


def test_format_size_on_examples_gives_expected_values() -> None:
    assert (format_size(0), format_size(1_500_000), format_size(999_999), format_size(10**21)) == (
        "0 B",
        "1.5 MB",
        "1.0 MB",
        "1,000.0 EB",
    )


def test_parse_time_on_examples_gives_expected_values() -> None:
    assert (parse_time("30m"), parse_time("90")) == (1800.0, 90.0)


def test_parse_size_on_examples_gives_expected_values() -> None:
    assert (parse_size("1GB"), parse_size("512k")) == (1000000000, 512000)


def test_format_duration_on_examples_gives_expected_values() -> None:
    assert (format_duration(0.25), format_duration(59.96), format_duration(3725), format_duration(200_000)) == (
        "0.2 s",
        "1 min 0 s",
        "1 h 2 min",
        "2 d 7 h",
    )


def test_format_moment_on_examples_gives_expected_values() -> None:
    assert format_moment(0.0) == "1970-01-01 00:00:00 UTC"


def test_format_count_on_examples_gives_expected_values() -> None:
    assert (format_count(1, "page"), format_count(2_000, "page")) == ("1 page", "2,000 pages")


def test_has_password_on_examples_gives_expected_values() -> None:
    assert (has_password('proxy = "http://ann:s=cret@127.0.0.1:3128"'), has_password("http://a.example:80/@b")) == (
        True,
        False,
    )


def test_remove_password_on_examples_gives_expected_values() -> None:
    assert (remove_password("http://ann:s=cret@a.example/"), remove_password("http://a.example/")) == (
        "http://a.example/",
        "http://a.example/",
    )
