"""A policy that rates waiting URLs again: after a HEAD, and when a further page mentions them."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from motherlode.frontier import End, Frontier, MemoryStorage, Politeness
from motherlode.model import Link, LinkSource, Outcome, Rating
from motherlode.policies.baselines.orders import OrderPolicy

PARENT = Outcome(url="http://a.example/", host="a.example", relevant=True)


class Again(OrderPolicy):
    """Breadth-first, with new ratings for chosen URLs when they are picked."""

    def __init__(self, ratings: dict[str, Rating]) -> None:
        super().__init__("bfs", Random(0))
        self.ratings = ratings
        self.mentions: list[str] = []

    def mention(self, links: Sequence[Link], parent: Outcome) -> None:
        self.mentions += [link.url for link in links]

    def rate_picked(self, url: str, rating: Rating) -> Rating | None:
        return self.ratings.pop(url, None)


def frontier_with(policy: Again) -> Frontier:
    return Frontier(
        storage=MemoryStorage(),
        policy=policy,
        scope=lambda url: "",
        read_rules=None,
        politeness=Politeness(delay=0.0),
    )


def links(*names: str) -> list[Link]:
    return [Link(url=f"http://a.example/{name}", source=LinkSource.ANCHOR) for name in names]


def leased(frontier: Frontier) -> list[tuple[str, bytes]]:
    """Lease and end every URL. Return the URLs in order, with the state of the policy."""
    order = []
    now = 0.0
    while not frontier.exhausted:
        now += 1.0
        lease = frontier.lease(now)
        assert lease is not None
        frontier.response_received(lease, now)
        order.append((lease.url.rpartition("/")[2], lease.entry.policy_state))
        frontier.end(lease, End.FETCHED, now)
    return order


def test_worse_rating_of_a_picked_url_lets_it_wait_again() -> None:
    policy = Again({"http://a.example/1": Rating(arm="a.example", score=-1e9, policy_state=b"new")})
    frontier = frontier_with(policy)
    frontier.add_links(links("1", "2", "3"), parent=None)
    assert leased(frontier) == [("2", b""), ("3", b""), ("1", b"new")]


def test_refusing_rating_of_a_picked_url_removes_it() -> None:
    policy = Again({"http://a.example/1": Rating(arm="a.example", score=0.0, refused="not hard")})
    frontier = frontier_with(policy)
    frontier.add_links(links("1", "2"), parent=None)
    assert leased(frontier) == [("2", b"")]
    assert frontier.refused == {"not hard": 1}


def test_known_links_of_a_further_page_are_mentioned() -> None:
    policy = Again({})
    frontier = frontier_with(policy)
    frontier.add_links(links("1", "2"), parent=None)
    frontier.add_links(links("2", "3"), parent=PARENT)
    assert policy.mentions == ["http://a.example/2"]


def test_rating_after_a_head_decides_where_the_url_waits() -> None:
    frontier = frontier_with(Again({}))
    frontier.add_links(links("1", "2", "3"), parent=None)
    for number, rating in enumerate(
        (
            Rating(arm="a.example", score=-1e9, policy_state=b"headed"),
            Rating(arm="a.example", score=0.0, refused="an image"),
        )
    ):
        lease = frontier.lease(float(number))
        assert lease is not None
        frontier.response_received(lease, float(number))
        frontier.end(lease, End.HEADER_READ, float(number), rating=rating)
    assert leased(frontier) == [("3", b""), ("1", b"headed")]
    assert frontier.refused == {"an image": 1}
