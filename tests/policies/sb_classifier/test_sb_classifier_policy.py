"""The policy sb-classifier."""

from __future__ import annotations

from math import log, sqrt
from random import Random
from statistics import mean

import pytest

from motherlode.model import Explains, Link, LinkSource, Outcome, Policy, Rating
from motherlode.model.policy import Stops
from motherlode.policies import policy_from, target_from
from motherlode.policies.sb_classifier import SbClassifier
from motherlode.sim.simulator import SimResult, Simulation
from motherlode.sim.synthetic.adapter import SyntheticSimWeb
from motherlode.sim.web_protocol import SimPage

PLACES = ("nav ul li", "main div.results h2", "footer p span", "aside.more table tr td")


def link(number: int, place: str) -> Link:
    return Link(url=f"http://a.example/{number}", source=LinkSource.ANCHOR, tag_path=f"html body {place} a")


def fetched(policy: Policy, rating: Rating, url: str, *, relevant: bool = False, new: int = 0) -> None:
    outcome = Outcome(
        url=url,
        host="a.example",
        arm=rating.arm,
        policy_state=rating.policy_state,
        relevant=relevant,
        reward=float(relevant),
        links=[link(number, PLACES[0]) for number in range(1000, 1000 + new)],
    )
    policy.learn(outcome)


def test_pick_takes_the_awake_action_with_the_highest_score_by_exhaustive_search() -> None:
    random = Random(3)
    policy = SbClassifier(random=Random(1), alpha=0.7, batch=10**6)
    ratings = policy.rate([link(number, PLACES[number % 4]) for number in range(400)], None)
    waiting: dict[str, list[Rating]] = {}
    for rating in ratings:
        waiting.setdefault(rating.arm, []).append(rating)
    assert len(waiting) == 4
    rates = dict(zip(waiting, (0.1, 0.6, 0.3, 0.5), strict=True))
    counts, sums = dict.fromkeys(waiting, 0), dict.fromkeys(waiting, 0.0)
    for arm in waiting:
        policy.arm_ready(arm, 0.0, len(waiting[arm]))
    awake = set(waiting)
    for step in range(300):
        scores = {
            arm: (sums[arm] / counts[arm] if counts[arm] else 0.0)
            + 0.7 * sqrt(log(max(1, step)) / (counts[arm] + 1e-6))
            for arm in awake
        }
        arm = policy.pick()
        assert arm is not None
        assert scores[arm] == pytest.approx(max(scores.values()))
        relevant = random.random() < rates[arm]
        fetched(policy, waiting[arm].pop(), f"http://a.example/x{step}", relevant=relevant)
        counts[arm] += 1
        sums[arm] += relevant
        if waiting[arm]:
            policy.arm_ready(arm, 0.0, len(waiting[arm]))
        else:
            policy.arm_snoozed(arm)
            awake.discard(arm)
    assert len(awake) < 4  # at least one action has no links left


def test_reward_is_the_number_of_new_links_that_look_like_targets() -> None:
    policy = SbClassifier(random=Random(1), batch=2)
    seeds = [Link(url=f"http://a.example/data/{number}.ttl", source=LinkSource.ANCHOR) for number in range(20)]
    for seed, rating in zip(seeds, policy.rate(seeds, None), strict=True):
        fetched(policy, rating, seed.url, relevant=True)
        fetched(policy, rating, f"http://a.example/browse?p={seed.url[-5:]}", new=1)
    list_page = Link(url="http://a.example/browse?p=1", source=LinkSource.ANCHOR, tag_path=f"html body {PLACES[1]} a")
    (page,) = policy.rate([list_page], None)
    parent = Outcome(url=list_page.url, host="a.example", arm=page.arm, policy_state=page.policy_state)
    new = [Link(url=f"http://a.example/data/n{number}.ttl", source=LinkSource.ANCHOR) for number in range(5)]
    policy.learn(parent)
    ratings = policy.rate([*new, Link(url="http://a.example/browse?p=77", source=LinkSource.ANCHOR)], parent)
    assert [rating.arm.endswith(" now") for rating in ratings] == [True] * 5 + [False]
    record = policy.explain(list_page, page, None).record
    assert record == {"selections": 1.0, "targets_per_selection": 5.0}


def test_links_that_look_like_targets_are_picked_in_the_order_of_their_discovery() -> None:
    policy = SbClassifier(random=Random(1))
    policy.arm_ready("a.example 0", 0.9, 5)
    policy.arm_ready("c.example last", 0.0, 1)
    policy.arm_ready("a.example now", -7.0, 1)
    policy.arm_ready("b.example now", -3.0, 1)
    picked = []
    while (arm := policy.pick()) is not None:
        picked.append(arm)
        policy.arm_snoozed(arm)
    assert picked == ["b.example now", "a.example now", "a.example 0", "c.example last"]


def test_redirect_target_is_fetched_at_once_for_the_same_action() -> None:
    policy = SbClassifier(random=Random(1))
    (rating,) = policy.rate([link(1, PLACES[0])], None)
    redirect = Outcome(url="http://a.example/1", host="a.example", policy_state=rating.policy_state)
    (target,) = policy.rate([Link(url="http://b.example/", source=LinkSource.REDIRECT)], redirect)
    assert (target.arm, target.policy_state) == ("b.example now", rating.policy_state)


def run(name: str, pages: int = 400, seed: int = 1, target: str = "any") -> SimResult:
    web = SyntheticSimWeb(pages=3000, seed=5, target=target_from(target))
    policy = policy_from(name, seed, target=target_from(target))
    simulation = Simulation(web, policy, scope=lambda url: "")
    return simulation.run(web.home_pages(), pages=pages, keep_picks=True)


def test_sb_classifier_finds_more_than_random_order_and_than_without_its_classifier() -> None:
    found = {
        name: mean(run(name, seed=seed).relevant for seed in range(3))
        for name in ("sb-classifier", "sb-classifier:batch=99999", "random")
    }
    assert found["sb-classifier"] > 1.7 * found["random"]
    assert found["sb-classifier"] > 1.7 * found["sb-classifier:batch=99999"]


class OneSite:
    """A site whose home page links to relevant pages in one place and to others in another, with random names."""

    def __init__(self, pages: int) -> None:
        random = Random(7)
        self.relevant = {f"http://a.example/{random.getrandbits(40):x}": number % 4 == 0 for number in range(pages)}

    def page(self, url: str) -> SimPage:
        if url != "http://a.example/":
            return SimPage(url=url, relevant=self.relevant[url])
        links = [
            Link(url=target, source=LinkSource.ANCHOR, tag_path=f"html body {PLACES[1 if relevant else 0]} a")
            for target, relevant in self.relevant.items()
        ]
        return SimPage(url=url, links=links)


def test_bandit_alone_prefers_the_place_whose_links_are_relevant() -> None:
    web = OneSite(400)
    found = {
        name: Simulation(web, policy_from(name, 1), scope=lambda url: "")  # type: ignore[arg-type]
        .run(["http://a.example/"], pages=101)
        .relevant
        for name in ("sb-classifier:batch=99999", "random")
    }
    assert found["random"] < 40
    assert found["sb-classifier:batch=99999"] > 70


def test_sb_classifier_is_deterministic_for_a_seed() -> None:
    one, same, other = (run("sb-classifier", 200, seed, "rdf").picks for seed in (1, 1, 2))
    assert one == same != other


def test_stop_ends_a_simulation_when_the_curve_is_flat() -> None:
    policy = policy_from("sb-classifier:stop=20")
    assert isinstance(policy, Stops)
    web = SyntheticSimWeb(pages=3000, seed=5, target=target_from("type:http://no.example/such"))
    result = Simulation(web, policy, scope=lambda url: "").run(web.home_pages(), pages=1000)
    assert 60 <= result.fetched < 100
    assert policy.stop_reason


def test_load_continues_identically() -> None:
    one, other = SbClassifier(random=Random(1)), SbClassifier(random=Random(9))
    for number, rating in enumerate(one.rate([link(number, PLACES[number % 4]) for number in range(60)], None)):
        fetched(one, rating, f"http://a.example/{number}", relevant=number % 4 == 1, new=2)
    other.load(one.dump())
    found = []
    for policy in (one, other):
        ratings = policy.rate([link(number, PLACES[number % 4]) for number in range(60, 90)], None)
        for rating in ratings:
            policy.arm_ready(rating.arm, rating.score, 9)
        found.append((ratings, [policy.pick() for _ in range(10)]))
    assert found[0] == found[1]
    assert one.dump() == other.dump()


def test_explain_names_the_group_and_summary_lists_it() -> None:
    policy = SbClassifier(random=Random(1))
    (rating,) = policy.rate([link(1, PLACES[2])], None)
    fetched(policy, rating, "http://a.example/1", relevant=True)
    assert isinstance(policy, Explains)
    explanation = policy.explain(link(1, PLACES[2]), rating, None)
    assert any("footer p span" in note for note in explanation.notes)
    (table,) = policy.summary(5)
    assert table.rows == (("a.example", f"html body {PLACES[2]} a", 1, 1.0),)


@pytest.mark.parametrize("argument", ["alpha=-1", "similarity=2", "similarity=x", "batch=0", "sites=far", "stop=-5"])
def test_wrong_argument_is_refused(argument: str) -> None:
    with pytest.raises(ValueError, match=argument.partition("=")[0]):
        policy_from(f"sb-classifier:{argument}")
