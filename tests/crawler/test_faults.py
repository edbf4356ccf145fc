"""Failing calls by count, limited memory and power loss: a crawl can be resumed after each, with an equal result."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator

import pytest

from tests.crawler.fault_runs import Account, FaultyCrawl, faulty_crawl, sample_faults

pytestmark = pytest.mark.skipif(
    shutil.which("gcc") is None and os.environ.get("CI") != "true", reason="there is no gcc to build the library"
)


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FaultyCrawl]:
    with faulty_crawl(tmp_path_factory.mktemp("faults")) as made:
        yield made


@pytest.mark.timeout(900)
def test_crawl_with_one_fault_is_resumed_with_an_equal_result(
    crawl: FaultyCrawl, capsys: pytest.CaptureFixture[str]
) -> None:
    """A sample: the first and last call of each kind, and some between. `make faults` takes every call."""
    account = Account()
    faults = sample_faults(crawl.counts)
    for fault in faults:
        crawl.check(fault, account)
    with capsys.disabled():
        print(f"\n{account}")
    assert account.problems == []
    assert account.exercised.total() >= 0.8 * len(faults)
