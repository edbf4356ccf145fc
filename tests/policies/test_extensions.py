"""Policies that programs add."""

from __future__ import annotations

import pytest

from motherlode.model import Explains, Link, LinkSource, Outcome
from motherlode.policies import policy_from, policy_usage, reads_known_links
from motherlode.policies.extensions import added_policies, policy

pytestmark = pytest.mark.usefixtures("restored_policies")


class ShortFirst:
    """Short URLs first."""

    def __init__(self, seed: int = 0, *, longest: str = "100") -> None:
        self.seed = seed
        self.longest = int(longest)
        self.outcomes = 0

    def score(self, link: Link, parent: Outcome | None) -> float:
        return -min(len(link.url), self.longest)

    def learn(self, outcome: Outcome) -> None:
        self.outcomes += 1

    def dump(self) -> bytes:
        return b"%d" % self.outcomes

    def load(self, state: bytes) -> None:
        self.outcomes = int(state)


def link(path: str) -> Link:
    return Link(url=f"http://a.example/{path}", source=LinkSource.ANCHOR)


def test_score_policy_rates_learns_and_restores_its_state() -> None:
    policy("short-first")(ShortFirst)
    made = policy_from("short-first:longest=20", seed=7)
    ratings = made.rate([link("ab"), link("a"), link("a" * 90)], None)
    assert [rating.score for rating in ratings] == [-19, -18, -20]
    made.arm_ready("a.example", -18, 3)
    assert made.pick() == "a.example"
    made.learn(Outcome(url="http://a.example/", host="a.example"))
    again = policy_from("short-first")
    again.load(made.dump())
    assert again.dump() == b"1"
    assert isinstance(made, Explains)
    assert made.explain(link("a"), ratings[1], None).says == "Short URLs first."


def test_policy_with_all_methods_is_used_as_it_is() -> None:
    from motherlode.policies.baselines.orders import OrderPolicy

    @policy("last-first", reads_known_links=True)
    class LastFirst(OrderPolicy):
        def __init__(self) -> None:
            from random import Random

            super().__init__("dfs", Random(0))

    assert type(policy_from("last-first")) is LastFirst
    assert reads_known_links("last-first")


@pytest.mark.parametrize("name", ["Short First", "a:b", ""])
def test_policy_wrong_name_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="no name of a policy"):
        policy(name)


@pytest.mark.parametrize("name", ["bfs", "motherlode", "oracle"])
def test_policy_built_in_name_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="name of a built-in policy"):
        policy(name)


def test_policy_without_its_methods_names_them() -> None:
    with pytest.raises(TypeError, match=r"no method score\(link, parent\); .* needs rate, learn, arm_ready"):
        policy("empty")(type("Empty", (), {}))


def test_policy_registered_again_replaces_the_old_class() -> None:
    for number in (1, 2):
        policy("again")(type("Again", (), {"score": lambda self, link, parent, n=number: n}))
    assert policy_from("again").rate([link("a")], None)[0].score == 2


def test_unknown_policy_message_names_added_policies() -> None:
    policy("short-first")(ShortFirst)
    with pytest.raises(ValueError, match=r"did you mean short-first\?.*added here: .*short-first"):
        policy_from("short-frst")
    assert "short-first" not in policy_usage()


def test_wrong_argument_of_an_added_policy_is_an_error() -> None:
    policy("short-first")(ShortFirst)
    with pytest.raises(ValueError, match="it should look like short-first"):
        policy_from("short-first:widest=3")


def test_added_policies_are_those_that_names_use() -> None:
    policy("short-first")(ShortFirst)
    assert [one.name for one in added_policies(["bfs", "short-first:longest=3"])] == ["short-first"]
    assert added_policies(["bfs"]) == ()
    assert added_policies()[-1].is_importable


def test_class_of_a_script_or_a_function_is_not_importable() -> None:
    class Local(ShortFirst):
        """Inside a function."""

    policy("local")(Local)
    assert not added_policies(["local"])[0].is_importable
