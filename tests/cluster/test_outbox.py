from __future__ import annotations

import msgspec
import zstandard

from motherlode.cluster.outbox import LinkBatch, batch_bytes, pack, page_links, unpack
from motherlode.model import Link, LinkSource, Outcome, Syntax

LINK = Link(url="http://a.example/x", source=LinkSource.ANCHOR, anchor="a text", rel="next", tag_path="html body a")
OTHER = Link(url="http://b.example/y", source=LinkSource.TRIPLE, predicate="http://xmlns.com/foaf/0.1/knows")


def test_a_batch_arrives_as_it_was_packed() -> None:
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
    page, seedless = unpack(pack([page_links([LINK, OTHER], parent), page_links([LINK], None)]))
    assert list(page.links) == [LINK, OTHER]
    assert page.unpacked_parent() == msgspec.structs.replace(parent, links=[LINK, OTHER])
    assert seedless.unpacked_parent() is None


def test_batch_of_version_1_keeps_parent_depth_score_and_hops() -> None:
    parent = {"url": "http://p.example/", "host": "p.example", "depth": 3, "relevant": True, "memo": b"\x00m"}
    pages = [([LINK], parent, ("http://p.example/", 3, 0.25, 2)), ([OTHER], None, None)]
    old = LinkBatch(1, 2, zstandard.compress(msgspec.msgpack.encode(pages)))
    page, seedless = unpack(batch_bytes(old))
    assert list(page.links) == [LINK]
    assert page.parent == Outcome(
        url="http://p.example/", host="p.example", depth=3, score=0.25, hops=2, relevant=True, policy_state=b"\x00m"
    )
    assert list(seedless.links) == [OTHER] and seedless.parent is None


def test_a_parent_travels_without_the_links_of_other_shards() -> None:
    parent = Outcome(url="http://p.example/", host="p.example", depth=0, relevant=False, links=[LINK, OTHER] * 100)
    packed = page_links([LINK], parent)
    assert packed.parent is not None and not packed.parent.links
    given = unpack(pack([packed]))[0].unpacked_parent()
    assert given is not None and list(given.links) == [LINK]
