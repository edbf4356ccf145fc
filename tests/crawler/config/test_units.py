"""Amounts as people write them."""

from __future__ import annotations

import pytest

from motherlode.crawler.config.units import format_size


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
def test_bytes_for_people(count: int, text: str) -> None:
    assert format_size(count) == text
