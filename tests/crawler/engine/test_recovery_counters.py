"""Counters and trap watch of a resumed crawl."""

from __future__ import annotations

import msgspec

from motherlode.crawler.engine.recovery import restore_counters
from motherlode.crawler.stats.counters import Counters, Estimator
from motherlode.crawler.url_rules import TrapWatch
from motherlode.frontier import MemoryStorage
from motherlode.model import Visit
from motherlode.policies import DEFAULT_REWARD, policy_from, reward_from


def watch() -> TrapWatch:
    return TrapWatch(lambda url: "", year_now=2026)


def restored(storage: MemoryStorage, traps: TrapWatch) -> Counters:
    reward = reward_from(DEFAULT_REWARD)
    return restore_counters(storage, policy=policy_from("bfs"), traps=traps, estimator=Estimator(), reward=reward)


def visit(number: int) -> Visit:
    return Visit(
        number=number,
        url=f"http://a.example/{number}",
        host="a.example",
        arm="a.example",
        depth=0,
        parent_url="",
        score=0.0,
        at=0.0,
        quads=3,
        relevant=True,
    )


def test_restore_without_saved_state_gives_empty_counters() -> None:
    assert restored(MemoryStorage(), watch()) == Counters()


def test_unreadable_counters_are_added_up_from_the_visits() -> None:
    storage = MemoryStorage()
    for number in range(1, 6):
        storage.append_visit(number, msgspec.msgpack.encode(visit(number)))
    storage.put_note("totals", b"\xc1")
    totals = restored(storage, watch())
    assert (totals.fetched, totals.relevant, totals.quads) == (5, 5, 15)
    assert [problem for problem in totals.problems if "added up again" in problem]


def test_state_of_the_trap_watch_is_restored() -> None:
    before, body = watch(), b"the same text everywhere" * 10
    before.record_page("http://a.example/1", body, useful=False)
    for number in range(20):
        own = b"page %d of two hosts" % number * 10
        before.record_page(f"http://a.example/p{number}", own, useful=False)
        before.record_page(f"http://mirror.example/p{number}", own, useful=False)
    storage = MemoryStorage()
    storage.put_note("traps", before.dump())
    after = watch()
    totals = restored(storage, after)
    assert not totals.problems
    assert after.record_page("http://b.example/2", body, useful=False) == "http://a.example/1"
    assert after.reason("http://mirror.example/other") == before.reason("http://mirror.example/other") != ""
    assert after.dump() != watch().dump()
