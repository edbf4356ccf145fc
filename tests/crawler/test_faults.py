"""Failing calls by count, power loss and little memory: a crawl can be resumed after each, with an equal result.

These are samples. `make faults` takes every call of the crawl.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence

import pytest

from tests.crawler.fault_runs import (
    Account,
    FaultyCrawl,
    faulty_crawl,
    memory_faults,
    sample_failing_calls,
    sample_power_losses,
)
from tests.crawler.fault_state import Fault

pytestmark = [
    pytest.mark.skipif(
        shutil.which("gcc") is None and os.environ.get("CI") != "true", reason="there is no gcc to build the library"
    ),
    pytest.mark.timeout(900),
]


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FaultyCrawl]:
    with faulty_crawl(tmp_path_factory.mktemp("faults")) as made:
        yield made


def check_all(crawl: FaultyCrawl, faults: Sequence[Fault]) -> Account:
    account = Account()
    for fault in faults:
        crawl.check(fault, account)
    print(account)
    assert account.problems == []
    assert account.exercised.total() >= 0.7 * len(faults), "the last calls differ from run to run, but not so many"
    return account


def test_crawl_with_a_failing_call_is_resumed_with_an_equal_result(crawl: FaultyCrawl) -> None:
    account = check_all(crawl, sample_failing_calls(crawl.counts))
    assert set(account.exercised) >= {"write", "sync", "rename", "truncate", "unlink", "fork", "exec"}
    assert len(account.parts) > 3, "frontier, log, store, words, journal and WARC files are hit"


def test_crawl_after_a_power_loss_is_resumed_with_an_equal_result(crawl: FaultyCrawl) -> None:
    check_all(crawl, sample_power_losses(crawl.counts))


def test_crawl_with_limited_memory_is_resumed_with_an_equal_result(crawl: FaultyCrawl) -> None:
    check_all(crawl, list(memory_faults())[::7])
