"""New links, values and failed revisits in the state of a page."""

from __future__ import annotations

import msgspec

from motherlode.crawler.recrawl.page_memory import DAY_SECONDS, PageMemory

A, B = "http://a.example/1", "http://b.example/1"


def test_failed_revisit_waits_longer_each_time() -> None:
    memory = PageMemory(url=A)
    waits = []
    for _ in range(4):
        memory = memory.revisit_failed(DAY_SECONDS)
        waits.append(memory.retry_at - DAY_SECONDS)
    assert waits == [DAY_SECONDS / 4, DAY_SECONDS / 2, DAY_SECONDS, 2 * DAY_SECONDS]
    assert not memory.may_be_visited(2 * DAY_SECONDS)
    assert memory.looked_at(2 * DAY_SECONDS, changed=False).retry_at == 0.0


def test_new_links_of_revisits_raise_the_expected_number() -> None:
    quiet = PageMemory(url=A, children=10, relevant_children=10, watched=10 * DAY_SECONDS)
    active = msgspec.structs.replace(quiet, new_links=30)
    assert active.new_expected(DAY_SECONDS) > 10 * quiet.new_expected(DAY_SECONDS)
    assert active.revisit_value(DAY_SECONDS) > quiet.revisit_value(DAY_SECONDS)


def test_value_of_a_page_that_always_changes_is_lower_than_of_one_that_changes_sometimes() -> None:
    often = PageMemory(url=A, relevant=True, changes=1000, observed=DAY_SECONDS)
    sometimes = PageMemory(url=B, relevant=True, changes=3, observed=3 * DAY_SECONDS)
    assert often.revisit_value(DAY_SECONDS) < sometimes.revisit_value(DAY_SECONDS)
