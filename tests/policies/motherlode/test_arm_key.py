"""What an arm's name says: which features hold everywhere, and which on its host."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from motherlode.model import Link, LinkSource, Outcome
from motherlode.policies.motherlode import Motherlode
from motherlode.policies.motherlode.arm_key import GENERAL, TAB, family_of, features_of

PART = st.text(alphabet="abz019.-_*^?@", min_size=1, max_size=8)


def name(
    host: str = "a.org",
    pattern: str = "news/*",
    depth: int = 2,
    ext: str = ".html",
    manner: str = "anchor",
    place: str = "li.x a",
) -> str:
    return TAB.join((host, pattern, str(depth), ext, manner, place))


def test_the_first_hold_on_every_host_and_the_others_only_on_their_own() -> None:
    one, other = features_of(name(host="a.org")), features_of(name(host="b.org"))
    assert one[:GENERAL] == other[:GENERAL]
    assert not set(one[GENERAL:]) & set(other[GENERAL:])
    assert all(feature.startswith("a.org") for feature in one[GENERAL:])


def test_what_differs_in_one_part_shares_the_features_of_the_others() -> None:
    plain, news = set(features_of(name(pattern="item/*"))), set(features_of(name(pattern="news/*")))
    assert plain & news >= {"bias", "ext .html", "by anchor", "a.org", "a.org ext .html"}
    assert {"folder item", "a.org folder item"} <= plain - news


def test_classes_count_on_the_host_alone() -> None:
    one, other = features_of(name(place="li.red a.x")), features_of(name(place="li.blue a"))
    assert one[:GENERAL] == other[:GENERAL]
    assert one != other


def test_a_link_from_elsewhere_tells_whose_it_is_and_that_it_is_from_abroad() -> None:
    features = features_of(name(manner="anchor@b.org"))
    assert "by anchor@" in features
    assert "from b.org" in features


@settings(max_examples=60, deadline=None)
@given(PART, PART, st.integers(0, 4), PART, PART, st.text(alphabet="abli. ", max_size=12))
def test_every_name_has_features_and_a_family_of_its_host(
    host: str, pattern: str, depth: int, ext: str, manner: str, place: str
) -> None:
    made = name(host, pattern, depth, ext, manner, place)
    features = features_of(made)
    assert features == features_of(made)
    assert len(features) in (12, 13)
    assert len(set(features)) == len(features), "none counts twice"
    assert family_of(made) == f"{host} {ext}"


def test_the_names_that_the_policy_gives_are_understood() -> None:
    policy = Motherlode()
    home = policy.rate([Link(url="http://a.example/", source=LinkSource.SEED)], None)[0].arm
    parent = Outcome(url="http://a.example/", host="a.example", depth=0, relevant=True, arm=home)
    links = [Link(url=f"http://{host}/x/1.ttl", source=LinkSource.ANCHOR) for host in ("a.example", "b.example")]
    own, abroad = (features_of(rating.arm) for rating in policy.rate(links, parent))
    assert "a.example" in own
    assert "from a.example" in abroad
