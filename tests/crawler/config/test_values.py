"""Sizes and times that users write and read."""

from __future__ import annotations

import pytest

from motherlode.crawler.config.values import JobError, format_size, parse_size, parse_time


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
