from __future__ import annotations

from motherlode.cluster.outbox import pack, page_links, unpack
from motherlode.frontier import Entry
from motherlode.model import Link, LinkSource, Parent, Syntax

LINK = Link(url="http://a.example/x", source=LinkSource.ANCHOR, anchor="a text", rel="next", tag_path="html body a")
OTHER = Link(url="http://b.example/y", source=LinkSource.TRIPLE, predicate="http://xmlns.com/foaf/0.1/knows")


def test_a_batch_arrives_as_it_was_packed() -> None:
    entry = Entry(url="http://p.example/", arm="p", score=0.25, sequence=7, depth=3, hops=2)
    parent = Parent(
        url=entry.url, host="p.example", depth=3, relevant=True, counts={Syntax.RDFA: 4}, policy_state=b"\x00m"
    )
    page, seedless = unpack(pack([page_links([LINK, OTHER], parent, entry), page_links([LINK], None, None)]))
    assert list(page.links) == [LINK, OTHER]
    assert page.found_on is not None
    arrived = page.found_on.entry()
    assert (arrived.url, arrived.depth, arrived.score, arrived.hops) == (entry.url, 3, 0.25, 2)
    given = page.unpacked_parent()
    assert given is not None and given.counts == {Syntax.RDFA: 4} and given.policy_state == b"\x00m" and given.relevant
    assert seedless.unpacked_parent() is None and seedless.found_on is None


def test_a_parent_travels_without_the_links_of_other_shards() -> None:
    parent = Parent(url="http://p.example/", host="p.example", depth=0, relevant=False, links=[LINK, OTHER] * 100)
    packed = page_links([LINK], parent, None)
    assert packed.parent is not None and not packed.parent.links
    given = unpack(pack([packed]))[0].unpacked_parent()
    assert given is not None and list(given.links) == [LINK]
