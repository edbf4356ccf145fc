"""Rewards: names, range, policies that learn from them, and the filter of seen statements."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest

from motherlode.model import FailureKind, Outcome, Rating, Syntax
from motherlode.policies import POLICIES, ntriples, page_hashes, policy_from, reward_from, rewards
from motherlode.policies.rewards import HASHED_PARTS, SeenHashes, ntriples_hashes
from tests.policies.fakes import facts, links

PAGE = Outcome(url="", host="", relevant=True, counts={Syntax.JSON_LD: 30, Syntax.PAGE: 500}, size=50_000, requests=3)


def test_target_reward_is_one_or_zero() -> None:
    assert reward_from("target")(PAGE) == 1.0
    assert reward_from("target")(judged(PAGE, relevant=False)) == 0.0


def judged(page: Outcome, *, relevant: bool) -> Outcome:
    return msgspec.structs.replace(page, relevant=relevant)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("statements", 30 / 50),
        ("statements:10", 30 / 40),
        ("per-request", 30 / 50 / 3),
        ("target/request", 1 / 3),
        ("target/byte", 2 / 3),
        ("per-byte", 30 / 50 * 2 / 3),
    ],
)
def test_graded_rewards_follow_their_formulas(name: str, expected: float) -> None:
    assert reward_from(name)(PAGE) == pytest.approx(expected)
    assert reward_from(name)(judged(PAGE, relevant=False)) == 0.0


def test_new_statements_count_once() -> None:
    reward = reward_from("new-statements")
    found = page_hashes(facts(RDFA=20, PAGE=7), "statements")
    assert len(found) == 20 * 8
    page = Outcome(url="", host="", relevant=True, counts={Syntax.RDFA: 20}, statement_hashes=found)
    assert reward(page) == pytest.approx(0.5, abs=0.02)
    assert reward(page) == 0.0


def test_blank_nodes_with_different_labels_have_equal_hashes() -> None:
    one = page_hashes(facts(RDFA=[("_:a", "<http://p>", '"x"', "")]), "statements")
    other = page_hashes(facts(RDFA=[("_:b7", "<http://p>", '"x"', "")]), "statements")
    assert one == other


TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
SAID = [
    ("<http://x/a>", TYPE, "<http://schema.org/Recipe>", ""),
    ("<http://x/a>", "<http://p>", '"a text with spaces ."', ""),
    ("_:b", TYPE, "<http://schema.org/Recipe>", ""),
    ("<http://x/b>", TYPE, "_:class", ""),
]


@pytest.mark.parametrize(("part", "count"), [("statements", 4), ("subjects", 2), ("types", 1)])
def test_page_hashes_have_one_hash_for_each_distinct_part(part: str, count: int) -> None:
    result = facts(RDFA=SAID, PAGE=3)
    assert len(page_hashes(result, part)) == 8 * count
    assert part in HASHED_PARTS


@pytest.mark.parametrize("part", HASHED_PARTS)
def test_ntriples_hashes_equal_those_of_the_parsed_page(part: str) -> None:
    result = facts(RDFA=SAID)
    assert ntriples_hashes(ntriples(result), part) == page_hashes(result, part)


@pytest.mark.parametrize(("name", "first"), [("new-subjects", 2 / 7), ("new-subjects:2", 0.5), ("new-types", 0.5)])
def test_new_subjects_and_types_are_rewarded_once(name: str, first: float) -> None:
    reward = reward_from(name)
    found = page_hashes(facts(RDFA=SAID), reward.hashed)
    page = Outcome(url="", host="", relevant=True, statement_hashes=found)
    assert reward(judged(page, relevant=False)) == 0.0, "an irrelevant page is not remembered"
    assert reward(page) == pytest.approx(first)
    assert reward(page) == 0.0


def test_new_hosts_rewards_the_first_relevant_pages_of_each_host() -> None:
    reward, other = reward_from("new-hosts:2"), reward_from("new-hosts:2")
    pages = [Outcome(url="", host=host, relevant=yes) for host, yes in [("a", False), ("a", True), ("b", True)]]
    assert [reward(page) for page in pages * 2] == [0.0, 1.0, 1.0, 0.0, 1.0, 1.0]
    other.seen.load(reward.seen.dump())
    assert [other(page) for page in pages] == [0.0, 0.0, 0.0], "the state of the reward survives a restart"
    assert reward_from("new-hosts/request")(msgspec.structs.replace(pages[1], requests=4)) == 0.25
    with pytest.raises(ValueError, match="at most 100 pages"):
        reward_from("new-hosts:101")


def test_reward_of_a_scorer_is_the_score_of_the_page() -> None:
    reward = reward_from("command:cat")
    assert reward(msgspec.structs.replace(PAGE, relevant=False, page_score=0.7)) == 0.7
    assert reward(PAGE) == 0.0
    assert reward_from("statements").scorer is None


@pytest.mark.parametrize("name", ["", "statement", "target:5", "statements:0", "statements/second", "new"])
def test_unknown_reward_raises_value_error(name: str) -> None:
    with pytest.raises(ValueError, match="reward"):
        reward_from(name)


def outcome(rating: Rating, url: str, reward: float) -> Outcome:
    return Outcome(
        url=url,
        host="a.example" if "a.example" in url else "b.example",
        arm=rating.arm,
        policy_state=rating.policy_state,
        score=rating.score,
        reward=reward,
        relevant=True,
    )


@pytest.mark.parametrize("name", ["motherlode", "bandit:success-rate", "bandit:thompson", "nb-online", "pld", "ldcoc"])
def test_policy_prefers_host_with_higher_rewards(name: str) -> None:
    """All pages of both hosts are relevant, but their rewards differ."""
    policy = policy_from(name, seed=1)
    homes = {"a.example": "http://a.example/", "b.example": "http://b.example/"}
    for turn in range(30):
        for host, home in homes.items():
            url = f"{home}item/{turn}"
            parent = Outcome(url=home, host=host, depth=0, relevant=True, kind="html")
            (rating,) = policy.rate(links(url), parent)
            policy.learn(outcome(rating, url, 0.9 if host == "a.example" else 0.1))
    picked = []
    for _ in range(20):
        for host, home in homes.items():
            parent = Outcome(url=home, host=host, depth=0, relevant=True, kind="html")
            (rating,) = policy.rate(links(f"{home}item/last"), parent)
            policy.arm_ready(rating.arm, rating.score, 10)
        arm = policy.pick()
        assert arm is not None
        picked.append(arm.startswith("a.example"))
    assert sum(picked) > 16


@pytest.mark.parametrize("name", POLICIES)
def test_every_policy_accepts_graded_rewards(name: str) -> None:
    pytest.importorskip("sklearn")
    policy = policy_from(name, seed=1)
    for turn in range(120):
        url = f"http://a.example/{turn}"
        (rating,) = policy.rate(links(url), None)
        sent = outcome(rating, url, reward=turn % 7 / 7)
        if turn % 5 == 0:
            sent = msgspec.structs.replace(sent, reward=0.0, relevant=False, failure=FailureKind.NOT_FOUND)
        policy.learn(sent)
    again = policy_from(name, seed=1)
    again.load(policy.dump())
    assert again.dump() == policy.dump()


def hashes(count: int, seed: int) -> bytes:
    return np.random.default_rng(seed).integers(0, 2**64, count, dtype=np.uint64).astype("<u8").tobytes()


def test_known_statements_are_never_new_and_new_ones_rarely_known() -> None:
    seen = SeenHashes(bits=1 << 20)
    first = hashes(20_000, seed=1)
    assert seen.count_new(first) > 19_950
    assert seen.count_new(first) == 0
    assert seen.count_new(hashes(20_000, seed=2)) > 19_800


def test_seen_statements_survive_dump_and_load() -> None:
    one, other = SeenHashes(), SeenHashes()
    one.count_new(hashes(100, seed=3))
    other.load(one.dump())
    assert other.count_new(hashes(100, seed=3)) == 0
    assert SeenHashes().dump() == b""
    other.load(b"")


def test_invalid_saved_filter_raises_value_error() -> None:
    small = SeenHashes(bits=1 << 10)
    small.count_new(hashes(3, seed=1))
    with pytest.raises(ValueError, match="does not fit"):
        SeenHashes().load(small.dump())
    with pytest.raises(ValueError, match="cannot be read"):
        SeenHashes().load(b"no such thing")


class _Point:
    """An entry point of an installed package."""

    def __init__(self, loaded: object) -> None:
        self._loaded = loaded

    def load(self) -> object:
        if isinstance(self._loaded, Exception):
            raise self._loaded
        return self._loaded


def _install(monkeypatch: pytest.MonkeyPatch, loaded: object) -> None:
    monkeypatch.setattr(rewards, "installed_rewards", lambda: {"mine": _Point(loaded)})


@pytest.mark.parametrize(("value", "expected"), [(0.3, 0.3), (7, 1.0), (-1, 0.0), (float("nan"), 0.0)])
def test_reward_of_installed_package_is_limited(monkeypatch: pytest.MonkeyPatch, value: float, expected: float) -> None:
    _install(monkeypatch, lambda outcome: value)
    reward = reward_from("mine")
    assert reward(PAGE) == expected
    assert reward(judged(PAGE, relevant=False)) == expected, "it decides about irrelevant pages, too"
    assert reward(msgspec.structs.replace(PAGE, failure=FailureKind.NOT_FOUND)) == 0.0


@pytest.mark.parametrize(
    ("loaded", "message"), [(ImportError("no such module"), "cannot be imported"), (3, "no function")]
)
def test_broken_reward_of_installed_package_is_an_error(
    monkeypatch: pytest.MonkeyPatch, loaded: object, message: str
) -> None:
    _install(monkeypatch, loaded)
    with pytest.raises(ValueError, match=message):
        reward_from("mine")


def test_unknown_reward_hints_at_installed_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    _install(monkeypatch, lambda outcome: 1.0)
    with pytest.raises(ValueError, match="did you mean mine"):
        reward_from("mines")
