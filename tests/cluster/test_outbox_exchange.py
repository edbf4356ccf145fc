from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest

from motherlode.cluster import outbox as exchange_module
from motherlode.cluster.outbox import LinkBatch, Outbox, unpack
from motherlode.cluster.partitioner import owner_of
from motherlode.frontier import LmdbStorage, MemoryStorage
from motherlode.model import Link, LinkSource

SHARDS, OWN = 4, 0


def links(count: int, *, source: LinkSource = LinkSource.ANCHOR) -> list[Link]:
    return [Link(url=f"http://site-{number}.example/", source=source) for number in range(count)]


def made(storage: MemoryStorage, *, refuse: str = "") -> Outbox:
    return Outbox(storage, own=OWN, shards=SHARDS, reason=lambda url: "out" if refuse and refuse in url else "")


def own(found: Sequence[Link]) -> list[str]:
    return [link.url for link in found if owner_of(link.url, SHARDS) == OWN]


def foreign(found: Sequence[Link]) -> set[str]:
    return {link.url for link in found} - set(own(found))


class Others:
    """The other shards: they remember what arrived, and may refuse the first tries."""

    def __init__(self, *, refusals: int = 0) -> None:
        self.arrived: list[tuple[int, str]] = []
        self.refusals = refusals

    async def take(self, to: int, batch: bytes) -> bool:
        self.arrived.extend((to, link.url) for parcel in unpack(batch) for link in parcel.links)
        self.refusals -= 1
        return self.refusals < 0


async def send_all(exchange: Outbox, others: Others) -> None:
    task = asyncio.create_task(exchange.run(others.take))
    await at_rest(exchange)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def at_rest(exchange: Outbox) -> None:
    async with asyncio.timeout(20):
        while not exchange.at_rest:  # noqa: ASYNC110 - the exchange says when it is asked, and nobody else wants to know
            await asyncio.sleep(0.01)


async def test_own_links_stay_and_others_reach_their_owners() -> None:
    ledger, others, found = MemoryStorage(), Others(), links(200)
    exchange = made(ledger)
    kept = exchange.keep_own(found, None)
    assert [link.url for link in kept] == own(found)
    assert not exchange.at_rest
    await send_all(exchange, others)
    assert {url for _, url in others.arrived} == foreign(found)
    assert all(to == owner_of(url, SHARDS) for to, url in others.arrived)
    assert not list(ledger.batches()), "what has arrived is forgotten"


async def test_a_letter_is_kept_until_it_is_acknowledged() -> None:
    ledger, found = MemoryStorage(), links(50)
    exchange = made(ledger)
    exchange.keep_own(found, None)
    exchange.seal()
    assert len(list(ledger.batches())) == SHARDS - 1, "all that is on its way is in the ledger"
    others = Others(refusals=2)
    await send_all(exchange, others)
    assert len(others.arrived) > len(foreign(found)), "what was refused came again"
    assert {url for _, url in others.arrived} == foreign(found)


async def test_after_a_crash_what_was_not_acknowledged_is_sent_again() -> None:
    ledger, found, others = MemoryStorage(), links(50), Others()
    before = made(ledger)
    before.keep_own(found, None)
    before.seal()
    after = made(ledger)
    assert not after.at_rest
    await send_all(after, others)
    assert {url for _, url in others.arrived} == foreign(found)
    after.keep_own([Link(url="http://late.example/", source=LinkSource.ANCHOR)], None)
    after.seal()
    assert len({number for number, _ in ledger.batches()}) <= 1, "numbers are not used twice"


def test_the_same_link_is_not_sent_again_and_again() -> None:
    ledger = MemoryStorage()
    exchange = made(ledger)
    for _ in range(10):
        exchange.keep_own(links(20), None)
    exchange.seal()
    assert sorted(in_letters(ledger)) == sorted(foreign(links(20)))
    assert exchange.suppressed == 9 * len(foreign(links(20)))


def in_letters(storage: MemoryStorage) -> list[str]:
    """URLs of all links in the ledger's letters."""
    batches = [msgspec.msgpack.decode(data, type=LinkBatch).batch for _, data in storage.batches()]
    return [link.url for batch in batches for parcel in unpack(batch) for link in parcel.links]


async def test_an_open_letter_grows_from_commit_to_commit_and_is_sent_once() -> None:
    ledger, others = MemoryStorage(), Others()
    exchange = made(ledger)
    for count in (50, 100, 150):
        exchange.keep_own(links(count), None)
        exchange.seal()
        assert set(in_letters(ledger)) == foreign(links(count)), "each commit has all that was found"
        assert len(list(ledger.batches())) == SHARDS - 1
    await send_all(exchange, others)
    assert sorted(url for _, url in others.arrived) == sorted(foreign(links(150)))
    assert exchange.letters == SHARDS - 1


async def test_a_busy_shard_lets_letters_fill_and_an_idle_one_sends_them() -> None:
    exchange, others = Outbox(MemoryStorage(), own=OWN, shards=1000, reason=lambda url: ""), Others()
    exchange.keep_own(links(20), None)
    idle = False
    task = asyncio.create_task(exchange.run(others.take, idle=lambda: idle))
    await asyncio.sleep(0.5)
    assert not others.arrived
    idle = True
    await at_rest(exchange)
    assert others.arrived
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


def test_seeds_of_others_and_links_out_of_scope_are_not_sent() -> None:
    exchange = made(MemoryStorage(), refuse="site-")
    assert list(exchange.keep_own(links(50), None)) == links(50), "the frontier refuses them, and counts them"
    seeds = links(50, source=LinkSource.SEED)
    assert [link.url for link in exchange.keep_own(seeds, None)] == own(seeds)
    exchange.seal()
    assert exchange.at_rest


async def test_few_letters_are_under_way_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exchange_module, "MAX_BATCH_LINKS", 10)
    exchange = made(MemoryStorage())
    under_way = most = 0
    gate = asyncio.Event()

    async def slow(to: int, batch: bytes) -> bool:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        await gate.wait()
        under_way -= 1
        return True

    for number in range(20):
        exchange.keep_own(links(40 * (number + 1)), None)
    task = asyncio.create_task(exchange.run(slow))
    await asyncio.sleep(0.2)
    gate.set()
    await at_rest(exchange)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert most == exchange_module.IN_FLIGHT * (SHARDS - 1)


async def test_a_ledger_that_is_closed_is_left_alone(tmp_path: Path) -> None:
    ledger, others = LmdbStorage(tmp_path / "frontier"), Others()
    exchange = Outbox(ledger, own=OWN, shards=SHARDS, reason=lambda url: "")
    exchange.keep_own(links(50), None)
    exchange.seal()
    task = asyncio.create_task(exchange.run(others.take))
    exchange.close()
    ledger.close()
    async with asyncio.timeout(5):
        await task
    assert not others.arrived


async def test_an_error_while_sending_ends_the_exchange_and_is_not_silent() -> None:
    exchange = made(MemoryStorage())
    exchange.keep_own(links(20), None)

    async def broken(to: int, batch: bytes) -> bool:
        raise ValueError("not a shard of ours")

    async with asyncio.timeout(20):
        outcome = await asyncio.gather(exchange.run(broken), return_exceptions=True)
    assert isinstance(outcome[0], ValueError)
