"""Model files: merging, starting, refusing models that do not fit; explanations of all policies; random states."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from motherlode.model import Link, Outcome, Policy, Rating, ReadsHeaders, Reason
from motherlode.policies import policy_from
from motherlode.policies.model_io import (
    Model,
    ModelError,
    check_fits,
    from_bytes,
    merge_models,
    policy_family,
    policy_of,
    random_state,
    set_random_state,
    start_from,
    to_bytes,
)
from tests.policies.fakes import links

MERGEABLE = ("motherlode", "ldcoc", "ldcoc:head=no", "nb-online", "bandit:success-rate", "linkanalysis", "pld")
GOOD, POOR = "data.example", "blog.example"


def rated(policy: Policy, link: Link, parent: Outcome) -> Rating:
    """Return the rating of a link, after a HEAD request if the policy wants one. All content types are the same."""
    (rating,) = policy.rate([link], parent)
    if isinstance(policy, ReadsHeaders) and policy.wants_header(rating.policy_state):
        return policy.rate_again(link.url, rating, "text/html")
    return rating


def taught(name: str, turns: Sequence[int]) -> Policy:
    """Return a policy that learned from pages of two hosts: all pages of one are relevant, none of the other."""
    policy = policy_from(name, seed=3)
    for turn in turns:
        for host in (GOOD, POOR):
            url, found = f"http://{host}/item/{turn}", host == GOOD
            parent = Outcome(url=f"http://{host}/", host=host, depth=0, relevant=found, kind="html")
            rating = rated(policy, *links(url), parent)
            policy.learn(
                Outcome(
                    url=url,
                    host=host,
                    arm=rating.arm,
                    policy_state=rating.policy_state,
                    score=rating.score,
                    reward=float(found),
                    relevant=found,
                    kind="rdfxml" if found else "html",
                    parent_url=parent.url,
                )
            )
    return policy


def model(name: str, turns: Sequence[int], **label: str) -> Model:
    state = taught(name, turns).dump()
    return Model(
        policy=name, target=label.get("target", "any"), requests=2 * len(turns), relevant=len(turns), state=state
    )


def first_choice(policy: Policy) -> str:
    for host in (POOR, GOOD):
        parent = Outcome(url=f"http://{host}/", host=host, depth=0, relevant=False, kind="html")
        rating = rated(policy, *links(f"http://{host}/item/new"), parent)
        policy.arm_ready(rating.arm, rating.score, 5)
    picked = policy.pick()
    assert picked is not None
    return picked


@pytest.mark.parametrize("name", ["motherlode", "ldcoc", "ldcoc:head=no", "nb-online", "bandit:success-rate:0", "pld"])
def test_policy_started_from_model_picks_like_the_trained_policy(name: str) -> None:
    policy = policy_from(name, seed=9)
    start_from(policy, from_bytes(to_bytes(model(name, range(20)))))
    assert first_choice(policy).startswith(GOOD)


@pytest.mark.parametrize("name", MERGEABLE)
def test_merged_model_does_not_depend_on_order(name: str) -> None:
    one, other = model(name, range(8)), model(name, range(50, 60))
    both = merge_models([("one", one), ("other", other)], made_at="now", version="1")
    turned = merge_models([("other", other), ("one", one)], made_at="now", version="1")
    assert (both.requests, both.relevant, both.crawls) == (36, 18, 2)
    assert table(policy_of(both)) == table(policy_of(turned))
    if name != "linkanalysis":  # both models have the same family of pages
        assert table(policy_of(both)) != table(policy_of(one))


def table(policy: Policy) -> object:
    tables = policy.summary(100)  # type: ignore[attr-defined]
    return [(one.title, sorted(str(row) for row in one.rows if "links rated" not in row)) for one in tables]


def test_model_merged_with_itself_has_twice_the_tries_and_the_same_weights() -> None:
    one = model("motherlode", range(6))
    both = policy_of(merge_models([("a", one), ("b", one)], made_at="", version=""))
    single = policy_of(one)
    arms = single.statistics.arms  # type: ignore[attr-defined]
    for arm, record in both.statistics.arms.items():  # type: ignore[attr-defined]
        assert (record.tries, record.reward) == (2 * arms[arm].tries, 2 * arms[arm].reward)
    for feature, found in both.statistics.features.items():  # type: ignore[attr-defined]
        n = single.statistics.features[feature][1::2]  # type: ignore[attr-defined]
        assert found[1::2] == pytest.approx([2 * value for value in n])
        for question in (0, 2):
            weights = [policy.posterior.weight(feature, question, is_general=True) for policy in (both, single)]  # type: ignore[attr-defined]
            assert weights[0] == pytest.approx(weights[1])


def test_merged_model_is_not_part_of_delta() -> None:
    """A shard that starts from a model must not send it to the other shards, because they have it, too."""
    for name in ("motherlode", "ldcoc", "ldcoc:head=no", "bandit:success-rate"):
        policy = policy_from(name)
        start_from(policy, model(name, range(10)))
        assert policy.delta() == b"", name  # type: ignore[attr-defined]


def test_tree_can_be_loaded_but_not_merged() -> None:
    one = model("ht-online", range(10))
    start_from(policy_from("ht-online"), one)
    with pytest.raises(ModelError, match="cannot be merged"):
        merge_models([("a", one), ("b", one)], made_at="", version="")


def test_unfit_model_raises_model_error_with_reason() -> None:
    one = model("motherlode", range(3))
    with pytest.raises(ModelError, match=r"learned by the policy motherlode, but the crawl uses nb-online"):
        check_fits(one, policy="nb-online")
    with pytest.raises(ModelError, match=r"version 0\.0"):
        start_from(policy_from("motherlode"), Model(policy="motherlode", target="any", version="0.0", state=b"\xc1"))
    with pytest.raises(ModelError, match="target 'rdf'"):
        merge_models([("a", one), ("b", model("motherlode", range(3), target="rdf"))], made_at="", version="")
    with pytest.raises(ModelError, match="learns nothing"):
        merge_models([("a", model("bfs", [1])), ("b", model("bfs", [1]))], made_at="", version="")
    with pytest.raises(ModelError, match="at least two"):
        merge_models([("a", one)], made_at="", version="")


def test_file_that_is_no_model_raises_model_error() -> None:
    with pytest.raises(ModelError, match="not a model"):
        from_bytes(b"PK\x03\x04")
    with pytest.raises(ModelError, match="format 2"):
        from_bytes(to_bytes(model("bfs", [1])).replace(b"model 1", b"model 2"))
    with pytest.raises(ModelError, match="damaged"):
        from_bytes(to_bytes(model("bfs", [1]))[:-4])


def test_bandits_with_different_functions_share_models() -> None:
    assert policy_family("bandit:thompson:0.1") == policy_family("bandit:success-rate")
    check_fits(model("bandit:thompson", range(3)), policy="bandit:success-rate:0.2")


@pytest.mark.parametrize("name", [*MERGEABLE, "bfs", "dfs", "random", "ldspider", "bounded", "ht-online"])
def test_every_policy_explains_itself(name: str) -> None:
    policy = taught(name, range(10))
    for host in (GOOD, POOR):
        (link,) = links(f"http://{host}/item/new")
        parent = Outcome(url=f"http://{host}/", host=host, depth=0, relevant=host == GOOD, kind="html")
        (rating,) = policy.rate([link], parent)
        said = policy.explain(link, rating, parent)  # type: ignore[attr-defined]
        assert said.says.endswith(".")
        assert msgspec.json.encode(said)


@pytest.mark.parametrize("name", ["motherlode", "ldcoc", "ldcoc:head=no", "nb-online"])
def test_weights_of_relevant_host_are_positive_and_of_other_negative(name: str) -> None:
    policy = taught(name, range(20))
    totals = {}
    for host in (GOOD, POOR):
        (link,) = links(f"http://{host}/item/new")
        parent = Outcome(url=f"http://{host}/", host=host, depth=0, relevant=host == GOOD, kind="html")
        rating = rated(policy, link, parent)
        said = policy.explain(link, rating, parent)  # type: ignore[attr-defined]
        reasons: tuple[Reason, ...] = said.reasons
        assert [abs(one.weight) for one in reasons] == sorted((abs(one.weight) for one in reasons), reverse=True)
        totals[host] = sum(one.weight for one in reasons if one.about == "is a find"), said.posterior
    assert totals[GOOD][0] > 0 > totals[POOR][0]
    assert totals[GOOD][1] > 0.5 > totals[POOR][1]


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**64), st.integers(0, 700))
def test_random_generator_continues_after_any_number_of_draws(seed: int, draws: int) -> None:
    one, other = Random(seed), Random(0)
    for _ in range(draws):
        one.random()
    set_random_state(other, random_state(one))
    assert [one.random() for _ in range(5)] == [other.random() for _ in range(5)]
    assert one.sample(range(100), 5) == other.sample(range(100), 5)


def test_random_state_does_not_change_the_generator() -> None:
    random = Random(3)
    assert random_state(random) == random_state(random)
    assert random.random() == Random(3).random()


@pytest.mark.parametrize("state", [b"", b"x", b"\x00" * 100])
def test_invalid_random_state_raises_value_error_and_changes_nothing(state: bytes) -> None:
    random = Random(3)
    with pytest.raises(ValueError, match=r"."):
        set_random_state(random, state)
    assert random.random() == Random(3).random()
