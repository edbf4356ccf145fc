"""The policy tres."""

from __future__ import annotations

from random import Random
from statistics import mean

import numpy as np
import pytest

from motherlode.model import Explains, Link, LinkSource, Outcome
from motherlode.policies import policy_from, target_from
from motherlode.policies.tres import Tres
from motherlode.policies.tres.state_action import FEATURES
from motherlode.sim.simulator import SimResult, Simulation
from motherlode.sim.synthetic.adapter import SyntheticSimWeb


def run(name: str, pages: int = 500, seed: int = 1) -> SimResult:
    web = SyntheticSimWeb(pages=3000, seed=5, target=target_from("any"))
    policy = policy_from(name, seed, target=target_from("any"))
    return Simulation(web, policy, scope=lambda url: "").run(web.home_pages(), pages=pages, keep_picks=True)


def test_tres_finds_more_than_without_training_and_twice_as_many_as_random_order() -> None:
    found = {
        name: mean(run(name, seed=seed).relevant for seed in range(3)) for name in ("tres", "tres:start=9999", "random")
    }
    assert found["tres"] > 1.3 * found["tres:start=9999"]
    assert found["tres"] > 2 * found["random"]


def test_tres_is_deterministic_for_a_seed() -> None:
    one, same, other = (run("tres", 200, seed).picks for seed in (1, 1, 2))
    assert one == same != other


def trained(steps: int = 300) -> Tres:
    """A policy for which pages behind links with the word `good` are relevant."""
    policy, random = Tres(random=Random(1), start=50, copy_every=50), Random(2)
    for step in range(steps):
        good = random.random() < 0.5
        link = Link(
            url=f"http://a{step % 7}.example/{step}", source=LinkSource.ANCHOR, anchor="good" if good else "bad"
        )
        (rating,) = policy.rate([link], None)
        policy.learn(
            Outcome(
                url=link.url,
                host=f"a{step % 7}.example",
                arm=rating.arm,
                policy_state=rating.policy_state,
                relevant=good,
                reward=float(good),
            )
        )
    return policy


def test_pick_takes_the_link_that_training_prefers() -> None:
    policy = trained()
    links = [
        Link(url=f"http://a1.example/new-{word}", source=LinkSource.ANCHOR, anchor=word) for word in ("bad", "good")
    ]
    bad, good = policy.rate(links, None)
    assert bad.arm != good.arm
    for rating in (bad, good):
        policy.arm_ready(rating.arm, rating.score, 1)
    assert {policy.pick() for _ in range(20)} == {good.arm}
    assert policy.value(good.arm) > policy.value(bad.arm)


def test_every_feature_takes_several_values_in_a_crawl() -> None:
    web = SyntheticSimWeb(pages=3000, seed=5, target=target_from("rdf"))
    policy = Tres(random=Random(1), keywords=("rdf", "data", "about", "recipe"))
    Simulation(web, policy, scope=lambda url: "").run(web.home_pages(), pages=400)
    rows = np.array([np.frombuffer(one.row, dtype=np.float32) for one in policy._buffer.experiences])
    fired = {name for name, column in zip(FEATURES, rows.T, strict=True) if len(set(column.tolist())) > 1}
    assert fired == set(FEATURES)


def test_aim_takes_the_name_of_the_target_unless_keywords_are_given() -> None:
    link = Link(url="http://a.example/recipe/1", source=LinkSource.ANCHOR)
    found = []
    for keywords in ((), ("other",)):
        policy = Tres(random=Random(1), keywords=keywords)
        policy.aim(target_from("type:schema:Recipe"))
        found.append(policy.rate([link], None)[0].arm)
    assert found == ["a.example 0a0a005", "a.example 0a00005"]


def test_load_continues_identically() -> None:
    one, other = trained(), Tres(random=Random(9), start=50, copy_every=50)
    other.load(one.dump())
    link = Link(url="http://a1.example/x", source=LinkSource.ANCHOR, anchor="good")
    for policy in (one, other):
        (rating,) = policy.rate([link], None)
        for number in range(40):
            policy.arm_ready(f"h{number % 9}.example {number % 10}0{number % 3}0005", 0.5, number)
            policy.learn(
                Outcome(url=link.url, host="a1.example", policy_state=rating.policy_state, relevant=True, reward=1.0)
            )
    assert [one.pick() for _ in range(30)] == [other.pick() for _ in range(30)]
    assert one.dump() == other.dump()


def test_explain_lists_features_by_their_effect() -> None:
    policy = trained()
    link = Link(url="http://a1.example/x", source=LinkSource.ANCHOR, anchor="good")
    (rating,) = policy.rate([link], None)
    assert isinstance(policy, Explains)
    explanation = policy.explain(link, rating, None)
    assert explanation.prior is not None
    assert explanation.prior > 0.8
    assert any(reason.name.startswith("predicted probability") for reason in explanation.reasons)
    assert [abs(reason.weight) for reason in explanation.reasons] == sorted(
        (abs(reason.weight) for reason in explanation.reasons), reverse=True
    )
    assert {line.title for line in policy.summary(3)} >= {"learned", "best domains"}


@pytest.mark.parametrize("argument", ["discount=2", "discount=x", "copy_every=0", "start=-1", "depth=x"])
def test_wrong_argument_is_refused(argument: str) -> None:
    with pytest.raises(ValueError, match=argument.partition("=")[0]):
        policy_from(f"tres:{argument}")
