"""The contract between frontier and policy about ratings and arms, tested on each policy.

`dump` and `load` are tested with the policies.
"""

from __future__ import annotations

import msgspec
import pytest

from motherlode.model import Explanation, Link, LinkSource, Outcome, Rating, Reason, SummaryLine, Syntax
from motherlode.policies import POLICIES, policy_from
from motherlode.www.urls import host_of

URLS = [f"http://{host}.example/{path}" for host in "abc" for path in ("", "item/1.html", "data.ttl", "x?y=1")]
LINKS = [Link(url=url, source=LinkSource.ANCHOR, anchor="text", tag_path="html body ul li a") for url in URLS]
PARENT = Outcome(
    url="http://a.example/", host="a.example", depth=0, relevant=True, counts={Syntax.RDFA: 1}, links=LINKS
)


@pytest.mark.parametrize("name", POLICIES)
def test_rate_returns_one_rating_per_link_and_arms_of_one_host(name: str) -> None:
    policy = policy_from(name, 7)
    ratings = policy.rate(LINKS, PARENT)
    assert len(ratings) == len(LINKS)
    hosts: dict[str, set[str]] = {}
    for link, rating in zip(LINKS, ratings, strict=True):
        hosts.setdefault(rating.arm, set()).add(host_of(link.url))
    assert all(len(found) == 1 for found in hosts.values())
    assert list(policy.rate([], PARENT)) == []


@pytest.mark.parametrize("name", POLICIES)
def test_pick_returns_every_ready_arm_and_no_snoozed_one(name: str) -> None:
    policy = policy_from(name, 7)
    assert policy.pick() is None
    ratings = policy.rate(LINKS, PARENT)
    for rating in ratings:
        policy.arm_ready(rating.arm, best=rating.score, waiting=1)
        policy.arm_ready(rating.arm, best=rating.score, waiting=2)
    snoozed = ratings[0].arm
    policy.arm_snoozed(snoozed)
    policy.arm_snoozed(snoozed)
    found: list[str] = []
    while len(found) <= len(LINKS) and (arm := policy.pick()) is not None:
        found.append(arm)
        policy.arm_snoozed(arm)
    assert sorted(found) == sorted({rating.arm for rating in ratings} - {snoozed})


@pytest.mark.parametrize(
    "noun",
    [
        Rating(arm="a", score=float("-inf"), policy_state=b"\x00", refused="why"),
        PARENT,
        Outcome(
            url="u", host="h", arm="a", policy_state=b"m", score=0.5, reward=1.0, relevant=True, counts={Syntax.N3: 2}
        ),
        Explanation(says="so", reasons=(Reason(name="r", weight=-1.5, about="a"),), prior=0.5, record={"tries": 3}),
        SummaryLine(title="t", columns=("a", "b"), rows=(("x", 1.5), ("y", 2))),
    ],
)
def test_policy_struct_serialized_and_parsed_is_equal(noun: msgspec.Struct) -> None:
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(noun), type=type(noun)) == noun
