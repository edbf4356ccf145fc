"""Consequences of a response on a real frontier: which links are added, what the policy learns, and when."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from motherlode.crawler.engine.scheduler import MAX_SITEMAPS, TOO_MANY_SITEMAPS, Scheduler, same_url
from motherlode.frontier import MAX_REDIRECTS, Frontier, Lease, MemoryStorage, UrlState
from motherlode.model import Failure, FailureKind, Link, LinkSource, Outcome, Rating, Syntax
from motherlode.www.urls import simplify
from tests.frontier.fakes import BestOf, frontier_on, take

HOME = "http://a.example/"


class Learner(BestOf):
    """A policy that records the outcomes and parents that it gets."""

    def __init__(self) -> None:
        super().__init__()
        self.told: list[Outcome] = []
        self.parents: list[Outcome | None] = []

    def rate(self, links: Sequence[Link], parent: Outcome | None) -> Sequence[Rating]:
        self.parents.append(parent)
        return super().rate(links, parent)

    def learn(self, feedback: Outcome) -> None:
        self.told.append(feedback)


class Turn:
    """A crawl of one host without delay, turn by turn."""

    def __init__(self, *, spelled: bool = False) -> None:
        self.policy = Learner()
        self.storage = MemoryStorage()
        self.frontier: Frontier = frontier_on(self.storage, policy=self.policy, delay=0.0)
        self.settler = Scheduler(self.frontier, self.policy, respell=str.lower if spelled else same_url)

    def lease(self, now: float = 0.0) -> Lease:
        lease = take(self.frontier, now)
        self.frontier.response_received(lease, now)
        return lease

    def settle_page(self, *urls: str, relevant: bool = True, reward: float | None = None) -> int:
        lease = self.lease()
        links = [Link(url=url, source=LinkSource.ANCHOR) for url in urls]
        outcome = self.settler.page_outcome(lease, relevant=relevant, kind="html", counts={Syntax.RDFA: 3}, links=links)
        if reward is not None:
            outcome = msgspec.structs.replace(outcome, reward=reward)
        return self.settler.settle_page(lease, outcome, 0.0)

    def fails(self, kind: FailureKind, now: float = 0.0, **more: str) -> Failure:
        lease = self.lease(now)
        failure = Failure(url=lease.url, kind=kind, **more)  # type: ignore[arg-type]
        return self.settler.settle_failure(lease, failure, now)

    def state(self, url: str) -> UrlState | None:
        found = self.storage.find(url)
        return None if found is None else found[1]


def test_a_page_is_learned_from_its_links_are_offered_and_it_is_done() -> None:
    turn = Turn()
    assert turn.settler.add_seeds([HOME, HOME]) == 1
    assert turn.settle_page("http://a.example/1", "http://a.example/2", HOME) == 2
    (told,) = turn.policy.told
    assert (told.url, told.arm, told.score) == (HOME, "a.example", -1.0)
    assert (told.reward, told.relevant, len(told.links), told.kind) == (1.0, True, 3, "html")
    assert told.counts == {Syntax.RDFA: 3}
    assert told.failure is None
    assert turn.state(HOME) is UrlState.DONE
    found = turn.storage.find("http://a.example/1")
    assert found is not None
    assert (found[0].parent_url, found[0].depth) == (HOME, 1)


def test_a_reward_of_its_own_takes_the_place_of_yes_and_no() -> None:
    turn = Turn()
    turn.settler.add_seeds([HOME, "http://a.example/1", "http://a.example/2"])
    turn.settle_page(reward=0.25)
    turn.settle_page(reward=0.0)
    turn.settle_page(relevant=False)
    assert [(told.reward, told.relevant) for told in turn.policy.told] == [(0.25, True), (0.0, True), (0.0, False)]


def test_the_target_of_a_redirect_is_no_deeper_and_passes_the_frontier_like_any_link() -> None:
    turn = Turn()
    turn.settler.add_seeds([HOME, "http://a.example/known"])
    failure = turn.fails(FailureKind.REDIRECT, location="http://a.example/moved")
    assert failure.kind is FailureKind.REDIRECT
    found = turn.storage.find("http://a.example/moved")
    assert found is not None
    assert (found[0].depth, found[0].hops, found[0].source) == (0, 1, "redirect")
    turn.fails(FailureKind.REDIRECT, location="http://outside.example/")
    assert turn.frontier.refused["out of scope"] == 1
    assert [told.failure for told in turn.policy.told] == [FailureKind.REDIRECT] * 2


def test_a_chain_of_redirects_ends() -> None:
    turn = Turn()
    turn.settler.add_seeds(["http://a.example/0"])
    for number in range(1, MAX_REDIRECTS + 1):
        assert turn.fails(FailureKind.REDIRECT, location=f"http://a.example/{number}").kind is FailureKind.REDIRECT
    last = turn.fails(FailureKind.REDIRECT, location="http://a.example/end")
    assert (last.kind, last.location) == (FailureKind.REDIRECT_BROKEN, "")
    assert str(MAX_REDIRECTS) in last.detail
    assert turn.state("http://a.example/end") is None
    assert turn.frontier.exhausted


def test_what_is_tried_again_is_learned_from_only_when_it_is_given_up() -> None:
    turn, now = Turn(), 0.0
    turn.settler.add_seeds([HOME])
    while not turn.policy.told:
        assert turn.state(HOME) is not UrlState.FAILED
        turn.fails(FailureKind.TIMEOUT, now)
        now += 100_000.0
        assert now < 1e7, "it is given up some time"
    (told,) = turn.policy.told
    assert (told.failure, told.relevant, told.reward) == (FailureKind.TIMEOUT, False, 0.0)
    assert now > 100_000.0, "not at the first failure"
    assert turn.state(HOME) is UrlState.FAILED


def test_sitemaps_are_resolved_and_so_many_and_no_more() -> None:
    turn = Turn()
    assert turn.settler.add_sitemaps(["/sitemap.xml", "mailto:x", "http://a.example/b.xml"], base=HOME) == 2
    assert turn.state("http://a.example/sitemap.xml") is UrlState.WAITING
    assert turn.settler.add_sitemaps([f"/{number}.xml" for number in range(1_000)], base=HOME) == MAX_SITEMAPS
    assert turn.frontier.refused == {TOO_MANY_SITEMAPS: 1_000 - MAX_SITEMAPS}


def test_a_recorded_web_spells_every_address_in_its_way() -> None:
    turn = Turn(spelled=True)
    turn.settler.add_seeds(["http://a.example/SEED"])
    turn.settle_page("http://a.example/PAGE")
    turn.fails(FailureKind.REDIRECT, location="http://a.example/MOVED")
    turn.settler.add_sitemaps(["/MAP.xml"], base=HOME)
    for name in ("seed", "page", "moved", "map.xml"):
        assert turn.state(f"http://a.example/{name}") is not None, name
        assert turn.state(f"http://a.example/{name.upper()}") is None, name


def test_a_policy_sees_the_page_and_all_its_links() -> None:
    turn = Turn()
    turn.settler.add_seeds([HOME])
    assert turn.policy.parents == [None], "seeds stand on no page"
    turn.settle_page(HOME, "http://a.example/new")
    parent = turn.policy.parents[-1]
    assert parent is not None
    assert (parent.url, parent.host, parent.depth, parent.arm) == (HOME, "a.example", 0, "a.example")
    assert (parent.relevant, parent.kind, parent.counts) == (True, "html", {Syntax.RDFA: 3})
    assert [link.url for link in parent.links] == [HOME, "http://a.example/new"], "known ones, too"


def test_links_that_are_alike_are_one_page_but_seeds_and_redirects_stay_as_they_are() -> None:
    turn = Turn()
    turn.settler = Scheduler(turn.frontier, turn.policy, simplify=simplify)
    seed = f"{HOME}?z=1&a=2"
    turn.settler.add_seeds([seed])
    assert turn.settle_page(f"{HOME}x?c=1&b=2", f"{HOME}x?b=2&c=1", f"{HOME}/x?b=2&c=1&") == 1
    assert turn.state(seed) is UrlState.DONE
    moved = turn.fails(FailureKind.REDIRECT, location=f"{HOME}x?c=1&b=2")
    assert moved.url == f"{HOME}x?b=2&c=1"
    assert turn.state(f"{HOME}x?c=1&b=2") is UrlState.WAITING, "the server knows it by this address alone"
