"""The verdict of bench/compare.py, and the input that it generates."""

from __future__ import annotations

import gzip
import random
from pathlib import Path

from bench.compare import MEDIA_TYPES, compare_times, documents, page_links, page_url, write_web

OLD = [1.0, 1.02, 0.98, 1.01, 0.99, 1.0, 1.03]


def test_comparison_of_equal_times_is_not_slower() -> None:
    found = compare_times("crawl", OLD, OLD)
    assert (found.median, found.low, found.high, found.is_slower) == (1.0, 1.0, 1.0, False)


def test_comparison_with_a_clear_loss_is_slower() -> None:
    found = compare_times("crawl", OLD, [1.1 * seconds for seconds in OLD])
    assert found.is_slower
    assert found.low > 1.03


def test_comparison_with_a_small_loss_is_not_slower() -> None:
    assert not compare_times("crawl", OLD, [1.02 * seconds for seconds in OLD]).is_slower


def test_comparison_whose_interval_includes_one_is_not_slower() -> None:
    factors = [0.8, 1.2, 0.9, 1.3, 1.04, 0.85, 1.25]
    found = compare_times("crawl", OLD, [a * b for a, b in zip(OLD, factors, strict=True)])
    assert found.median > 1.03
    assert not found.is_slower


def test_generated_web_links_to_all_of_its_pages(tmp_path: Path) -> None:
    pages = 200
    linked = {url for number in range(pages) for url in page_links(number, random.Random(number), pages)}
    assert linked == {page_url(number) for number in range(pages)}
    write_web(tmp_path / "web.warc.gz", pages)
    assert gzip.decompress((tmp_path / "web.warc.gz").read_bytes()).count(b"WARC-Type: response") == pages


def test_generated_documents_cover_all_media_types() -> None:
    assert documents(0, random.Random(0), 5).keys() == MEDIA_TYPES.keys()
