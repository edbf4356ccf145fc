"""Batches of links between shards: their encoding, storage, sending and acknowledgement."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
import pytest
import zstandard

from motherlode.cluster import outbox as outbox_module
from motherlode.cluster.outbox import LinkBatch, Outbox, Send, encode_batch, make_page_links, pack, unpack
from motherlode.cluster.partitioner import owner_of
from motherlode.frontier import FrontierStorage, LmdbStorage, MemoryStorage
from motherlode.model import Link, LinkSource, Outcome, Syntax

LINK = Link(url="http://a.example/x", source=LinkSource.ANCHOR, anchor="a text", rel="next", tag_path="html body a")
OTHER = Link(url="http://b.example/y", source=LinkSource.TRIPLE, predicate="http://xmlns.com/foaf/0.1/knows")
SHARDS, OWN = 4, 0
DEADLINE_SECONDS = 120
"""Time limit of every wait: generous, for a loaded machine."""


# Encoding


def test_batch_is_equal_after_packing_and_unpacking() -> None:
    parent = Outcome(
        url="http://p.example/",
        host="p.example",
        score=0.25,
        depth=3,
        hops=2,
        relevant=True,
        counts={Syntax.RDFA: 4},
        policy_state=b"\x00m",
    )
    page, orphan = unpack(pack([make_page_links([LINK, OTHER], parent), make_page_links([LINK], None)]))
    assert list(page.links) == [LINK, OTHER]
    assert page.parent_with_links() == msgspec.structs.replace(parent, links=[LINK, OTHER])
    assert orphan.parent_with_links() is None


def test_batch_of_version_1_keeps_parent_depth_score_and_hops() -> None:
    parent = {"url": "http://p.example/", "host": "p.example", "depth": 3, "relevant": True, "memo": b"\x00m"}
    pages = [([LINK], parent, ("http://p.example/", 3, 0.25, 2)), ([OTHER], None, None)]
    old = LinkBatch(1, 2, zstandard.compress(msgspec.msgpack.encode(pages)))
    page, orphan = unpack(encode_batch(old))
    assert list(page.links) == [LINK]
    assert page.parent == Outcome(
        url="http://p.example/", host="p.example", depth=3, score=0.25, hops=2, relevant=True, policy_state=b"\x00m"
    )
    assert list(orphan.links) == [OTHER] and orphan.parent is None


def test_parent_in_a_batch_contains_only_the_links_to_the_receiver() -> None:
    parent = Outcome(url="http://p.example/", host="p.example", depth=0, relevant=False, links=[LINK, OTHER] * 100)
    page = make_page_links([LINK], parent)
    assert page.parent is not None and not page.parent.links
    received = unpack(pack([page]))[0].parent_with_links()
    assert received is not None and list(received.links) == [LINK]


# Outbox


def make_links(count: int, *, source: LinkSource = LinkSource.ANCHOR) -> list[Link]:
    return [Link(url=f"http://site-{number}.example/", source=source) for number in range(count)]


def make_outbox(storage: FrontierStorage, *, refuse: str = "") -> Outbox:
    return Outbox(storage, own=OWN, shards=SHARDS, reason=lambda url: "out" if refuse and refuse in url else "")


def commit(outbox: Outbox) -> None:
    outbox.prepare_commit(lambda key, data: None)


def own_urls(links: Sequence[Link]) -> list[str]:
    return [link.url for link in links if owner_of(link.url, SHARDS) == OWN]


def peer_urls(links: Sequence[Link]) -> set[str]:
    return {link.url for link in links} - set(own_urls(links))


def stored_urls(storage: FrontierStorage) -> list[str]:
    """Return the URLs of all links in stored batches."""
    batches = [msgspec.msgpack.decode(data, type=LinkBatch).batch for _, data in storage.batches()]
    return [link.url for batch in batches for page in unpack(batch) for link in page.links]


class ReceivingPeers:
    """Peers that record the received links. They refuse the first `refusals` batches."""

    def __init__(self, *, refusals: int = 0) -> None:
        self.received: list[tuple[int, str]] = []
        self.refusals = refusals

    async def receive(self, to: int, batch: bytes) -> bool:
        self.received.extend((to, link.url) for page in unpack(batch) for link in page.links)
        self.refusals -= 1
        return self.refusals < 0

    @property
    def urls(self) -> list[str]:
        return [url for _, url in self.received]


async def wait_until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(DEADLINE_SECONDS):
        while not condition():  # noqa: ASYNC110 - the outbox has no event for these conditions
            await asyncio.sleep(0.01)


@asynccontextmanager
async def running(outbox: Outbox, send: Send, *, idle: Callable[[], bool] = lambda: True) -> AsyncIterator[None]:
    task = asyncio.create_task(outbox.run(send, idle=idle))
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def send_all(outbox: Outbox, peers: ReceivingPeers) -> None:
    async with running(outbox, peers.receive):
        await wait_until(lambda: outbox.is_empty)


async def test_outbox_returns_own_links_and_sends_the_others_to_their_owners() -> None:
    storage, peers, links = MemoryStorage(), ReceivingPeers(), make_links(200)
    outbox = make_outbox(storage)
    kept = outbox.keep_own(links, None)
    assert [link.url for link in kept] == own_urls(links)
    assert not outbox.is_empty
    await send_all(outbox, peers)
    assert set(peers.urls) == peer_urls(links)
    assert all(to == owner_of(url, SHARDS) for to, url in peers.received)
    assert not list(storage.batches()), "acknowledged batches are removed"


async def test_batch_is_stored_and_sent_again_until_acknowledged() -> None:
    storage, links = MemoryStorage(), make_links(50)
    outbox = make_outbox(storage)
    outbox.keep_own(links, None)
    commit(outbox)
    assert len(list(storage.batches())) == SHARDS - 1, "the storage has one batch per peer"
    peers = ReceivingPeers(refusals=2)
    await send_all(outbox, peers)
    assert len(peers.received) > len(peer_urls(links)), "refused batches are sent again"
    assert set(peers.urls) == peer_urls(links)


async def test_unacknowledged_batches_are_sent_after_a_crash() -> None:
    storage, links, peers = MemoryStorage(), make_links(50), ReceivingPeers()
    crashed = make_outbox(storage)
    crashed.keep_own(links, None)
    commit(crashed)
    restored = make_outbox(storage)
    assert not restored.is_empty
    await send_all(restored, peers)
    assert set(peers.urls) == peer_urls(links)
    restored.keep_own([Link(url="http://late.example/", source=LinkSource.ANCHOR)], None)
    commit(restored)
    assert len({number for number, _ in storage.batches()}) <= 1, "numbers are not used twice"


def test_recently_sent_link_is_not_sent_again() -> None:
    storage = MemoryStorage()
    outbox = make_outbox(storage)
    for _ in range(10):
        outbox.keep_own(make_links(20), None)
    commit(outbox)
    assert sorted(stored_urls(storage)) == sorted(peer_urls(make_links(20)))
    assert outbox.traffic.suppressed == 9 * len(peer_urls(make_links(20)))


async def test_open_batch_is_stored_at_each_commit_and_sent_once() -> None:
    storage, peers = MemoryStorage(), ReceivingPeers()
    outbox = make_outbox(storage)
    for count in (50, 100, 150):
        outbox.keep_own(make_links(count), None)
        commit(outbox)
        assert set(stored_urls(storage)) == peer_urls(make_links(count)), "each commit contains all links so far"
        assert len(list(storage.batches())) == SHARDS - 1
    await send_all(outbox, peers)
    assert sorted(peers.urls) == sorted(peer_urls(make_links(150)))
    assert outbox.traffic.batches == SHARDS - 1


async def test_partly_filled_batches_are_sent_only_when_the_shard_is_idle() -> None:
    outbox, peers = Outbox(MemoryStorage(), own=OWN, shards=1000, reason=lambda url: ""), ReceivingPeers()
    outbox.keep_own(make_links(20), None)
    rounds, idle = 0, False

    def is_idle() -> bool:
        nonlocal rounds
        rounds += 1
        return idle

    async with running(outbox, peers.receive, idle=is_idle):
        await wait_until(lambda: rounds >= 10)  # of 25 ms each; a busy shard among 1000 waits 99.9 seconds
        assert not peers.received
        idle = True
        await wait_until(lambda: outbox.is_empty)
    assert peers.received


def test_seeds_of_peers_and_links_out_of_scope_are_not_sent() -> None:
    outbox = make_outbox(MemoryStorage(), refuse="site-")
    assert list(outbox.keep_own(make_links(50), None)) == make_links(50), "the frontier refuses and counts them"
    seeds = make_links(50, source=LinkSource.SEED)
    assert [link.url for link in outbox.keep_own(seeds, None)] == own_urls(seeds)
    commit(outbox)
    assert outbox.is_empty


async def test_batches_in_flight_are_limited_per_peer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outbox_module, "MAX_BATCH_LINKS", 10)
    outbox = make_outbox(MemoryStorage())
    limit = outbox_module.MAX_BATCHES_IN_FLIGHT * (SHARDS - 1)
    in_flight = maximum = rounds = 0
    acknowledge = asyncio.Event()

    async def send(to: int, batch: bytes) -> bool:
        nonlocal in_flight, maximum
        in_flight += 1
        maximum = max(maximum, in_flight)
        await acknowledge.wait()
        in_flight -= 1
        return True

    def count_round() -> bool:
        nonlocal rounds
        rounds += 1
        return True

    for number in range(20):
        outbox.keep_own(make_links(40 * (number + 1)), None)
    async with running(outbox, send, idle=count_round):
        await wait_until(lambda: in_flight >= limit)
        seen = rounds
        await wait_until(lambda: rounds >= seen + 3)  # further rounds send nothing more
        acknowledge.set()
        await wait_until(lambda: outbox.is_empty)
    assert maximum == limit


async def test_closed_outbox_does_not_access_the_closed_storage(tmp_path: Path) -> None:
    storage, peers = LmdbStorage(tmp_path / "frontier"), ReceivingPeers()
    outbox = make_outbox(storage)
    outbox.keep_own(make_links(50), None)
    commit(outbox)
    task = asyncio.create_task(outbox.run(peers.receive))
    outbox.close()
    storage.close()
    async with asyncio.timeout(DEADLINE_SECONDS):
        await task
    assert not peers.received


async def test_error_while_sending_is_raised_by_run() -> None:
    outbox = make_outbox(MemoryStorage())
    outbox.keep_own(make_links(20), None)

    async def fail(to: int, batch: bytes) -> bool:
        raise ValueError("unknown shard")

    async with asyncio.timeout(DEADLINE_SECONDS):
        with pytest.raises(ValueError, match="unknown shard"):
            await outbox.run(fail)
