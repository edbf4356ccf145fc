"""Arm keys: similar links share an arm, the number of arms is bounded, no text can break a key, and features."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import motherlode.policies.motherlode
from motherlode.model import Link, LinkSource, Outcome
from motherlode.policies.motherlode import Motherlode
from motherlode.policies.motherlode.arm_key import GENERAL_FEATURES, HOME_PATTERN, ArmKey, ArmKeyBuilder, hub_arm

PART = st.text(alphabet="abz019.-_*^?", min_size=1, max_size=8)


def key(
    host: str = "a.org",
    pattern: str = "news/*",
    depth: int = 2,
    extension: str = ".html",
    source: str = "anchor",
    from_host: str = "",
    tag_path: str = "li.x a",
) -> ArmKey:
    return ArmKey(host, pattern, depth, extension, source, from_host, tag_path)


def known_host(host: str = "a.example") -> ArmKeyBuilder:
    builder = ArmKeyBuilder()
    builder.arms_of_tried_host(host)
    return builder


def anchor(url: str, **more: str) -> Link:
    return Link(url=url, source=LinkSource.ANCHOR, **more)


PAGE = Outcome(url="https://b.example/", host="b.example", depth=0, relevant=False)


def test_builder_fills_all_parts_of_a_key() -> None:
    link = anchor("https://a.example/news/2019/some-title.html?page=2", tag_path="html body ul.list li.item a")
    name = ArmKey.parse(known_host().arm(link, PAGE))
    assert name.host == "a.example"
    assert name.pattern == "news/#?some-title&page"
    assert (name.depth, name.extension) == (2, ".html?")
    assert (name.source, name.from_host) == ("anchor", "b.example")
    assert name.tag_path == "li.item a"


@pytest.mark.parametrize("url", ["https://a.example/", "https://a.example", "http://a.example/"])
def test_home_page_has_its_own_arm(url: str) -> None:
    assert ArmKey.parse(known_host().arm(anchor(url), None)).pattern == HOME_PATTERN
    assert ArmKey.parse(ArmKeyBuilder().arm(anchor(url), None)).pattern == HOME_PATTERN, (
        "also before the host was tried"
    )


def test_last_directory_with_slash_is_generalized() -> None:
    builder = known_host()
    assert builder.arm(anchor("https://a.example/blog/one-title/"), None) == builder.arm(
        anchor("https://a.example/blog/another-title/"), None
    )
    assert ArmKey.parse(builder.arm(anchor("https://a.example/blog/one-title/"), None)).pattern == "blog/*"


def arms_of(builder: ArmKeyBuilder, *queries: str) -> list[str]:
    return [builder.arm(anchor(f"https://a.example/{query}"), None) for query in queries]


def test_script_urls_are_distinguished_by_script_and_parameters() -> None:
    builder = known_host()
    topic, same, forum, member = arms_of(
        builder, "viewtopic.php?f=1&t=2", "viewtopic.php?f=3&t=4", "viewforum.php?f=1", "memberlist.php?u=2"
    )
    assert topic == same
    assert len({topic, forum, member}) == 3
    post, author, home = arms_of(builder, "?p=1", "?author=1", "")
    assert len({post, author, home}) == 3


def test_values_of_parameter_are_distinguished_while_they_are_few() -> None:
    builder = known_host()
    item, same, printed = arms_of(builder, "i.php?view=item&id=1", "i.php?view=item&id=2", "i.php?view=print&id=1")
    assert item == same != printed
    titles = [f"i.php?title={a}{b}" for a in "abcde" for b in "abcde"]
    assert len(set(arms_of(builder, *titles))) <= 8
    assert len(set(arms_of(builder, *titles))) == 1


def test_unbounded_queries_do_not_use_up_path_patterns() -> None:
    builder = known_host()
    words = [f"{a}{b}" for a in "abcdefgh" for b in "abcdefgh"]
    queries = [f"{script}.php?{name}=1&{name}x=2" for script in words[:20] for name in words]
    assert len(set(arms_of(builder, *queries))) <= 34
    assert ArmKey.parse(builder.arm(anchor("https://a.example/news/x.html"), None)).pattern == "news"


def test_known_query_patterns_stay_distinct_among_unbounded_queries() -> None:
    builder = known_host()
    before = arms_of(builder, "viewtopic.php?t=1", "viewforum.php?f=1")
    words = [f"{a}{b}" for a in "abcdefgh" for b in "abcdefgh"]
    arms_of(builder, *(f"{word}.php?{word}=1" for word in words))
    assert arms_of(builder, "viewtopic.php?t=2", "viewforum.php?f=2") == before


def test_links_of_unseen_host_are_not_distinguished_by_path() -> None:
    builder = ArmKeyBuilder()
    arms = {builder.arm(anchor(f"https://a.example/{word}/x.html"), None) for word in ("one", "two", "three")}
    assert len(arms) == 1
    builder.arms_of_tried_host("a.example")
    assert len({builder.arm(anchor(f"https://a.example/{word}/x.html"), None) for word in ("one", "two")}) == 2


def test_number_of_arms_per_host_is_bounded() -> None:
    builder = known_host()
    words = [f"{a}{b}{c}" for a in "abcdefgh" for b in "abcdefgh" for c in "abcdefgh"]
    places = [f"html body div.{word} a" for word in words]
    links = [
        anchor(f"https://a.example/{word}/x.html", tag_path=place) for word, place in zip(words, places, strict=True)
    ]
    assert len({builder.arm(link, None) for link in links}) <= 257
    assert builder.arm(links[0], None) == builder.arm(links[0], None)


def test_arms_of_host_are_in_order_of_discovery() -> None:
    builder = known_host()
    names = [builder.arm(anchor(f"https://a.example/{word}/x.html"), None) for word in ("zebra", "ant", "cow")]
    assert list(builder.arms_of_tried_host("a.example")) == names


def test_waiting_arms_of_unseen_host_are_kept_when_it_is_tried() -> None:
    builder = ArmKeyBuilder()
    arm = builder.arm(anchor("https://a.example/x.html"), PAGE)
    builder.add_waiting("a.example", arm)
    assert list(builder.arms_of_tried_host("a.example")) == [arm]


_TEXT = st.text(max_size=30)


@given(path=_TEXT, rel=_TEXT, media=_TEXT, place=_TEXT, source=st.sampled_from(list(LinkSource)))
def test_builder_makes_valid_key_from_any_text(path: str, rel: str, media: str, place: str, source: LinkSource) -> None:
    url = f"https://a.example/{path.replace(chr(9), '')}"  # a canonical URL has no tab
    link = Link(url=url, source=source, rel=rel, type=media, tag_path=place)
    for builder in (known_host(), ArmKeyBuilder()):
        name = builder.arm(link, PAGE)
        assert ArmKey.parse(name).host == "a.example"
        assert ArmKey.parse(name).from_host
        assert ArmKey.parse(name).is_redirect_target is (source is LinkSource.REDIRECT)
        assert len(ArmKey.parse(name).features) > GENERAL_FEATURES
        assert ArmKey.parse(name).family.startswith("a.example ")


@pytest.mark.parametrize(
    ("rel", "kept"),
    [("next", "next"), ("a" * 15, "a" * 15), ("a" * 16, "*"), ("https://api.example/", "*"), ("p2", "#")],
)
def test_rel_is_generalized_as_folders_are(rel: str, kept: str) -> None:
    link = Link(url="https://a.example/", source=LinkSource.LINK_ELEMENT, rel=rel)
    assert ArmKey.parse(known_host().arm(link, None)).source == f"link:{kept}"


def test_very_long_names_of_elements_are_cut_in_keys() -> None:
    key = ArmKey.parse(known_host().arm(anchor("https://a.example/x", tag_path=f"html {'x' * 10_000} a"), None))
    assert len(str(key)) < 200


def test_blank_rel_of_link_element_is_ignored() -> None:
    link = Link(url="https://a.example/", source=LinkSource.LINK_ELEMENT, rel=" \n")
    assert ArmKey.parse(known_host().arm(link, None)).source == LinkSource.LINK_ELEMENT.value


def test_general_features_do_not_contain_the_host() -> None:
    name = known_host().arm(anchor("https://a.example/news/x.html", tag_path="ul li a"), PAGE)
    features = ArmKey.parse(name).features
    assert not any("example" in feature for feature in features[:GENERAL_FEATURES])
    assert all("example" in feature for feature in features[GENERAL_FEATURES:])


def test_many_links_of_one_page_get_a_hub_arm() -> None:
    builder = known_host()
    arms = [builder.arm(anchor(f"https://a.example/{path}/x.html"), None) for path in ("news", "about")]
    hubs = builder.hub_arms({arms[0]: 7, arms[1]: 2}, "https://a.example/", min_links=5)
    assert list(hubs) == arms[:1]
    assert ArmKey.parse(hubs[arms[0]]).base_arm == arms[0] != hubs[arms[0]]
    assert ArmKey.parse(hubs[arms[0]]).features == ArmKey.parse(arms[0]).features
    assert hubs != builder.hub_arms({arms[0]: 7}, "https://a.example/other", min_links=5)


def test_hub_arms_are_limited_and_unseen_hosts_have_none() -> None:
    unseen = ArmKeyBuilder()
    arm = unseen.arm(anchor("https://a.example/news/x.html"), None)
    assert unseen.hub_arms({arm: 7}, "https://b.example/", min_links=5) == {}
    builder = known_host()
    for number in range(300):
        for name in builder.hub_arms({arm: 7}, f"https://a.example/{number}", min_links=5).values():
            builder.add_waiting("a.example", name)
    assert len(list(builder.arms_of_tried_host("a.example"))) <= 128


def test_general_features_are_the_same_on_every_host() -> None:
    one, other = key(host="a.org").features, key(host="b.org").features
    assert one[:GENERAL_FEATURES] == other[:GENERAL_FEATURES]
    assert not set(one[GENERAL_FEATURES:]) & set(other[GENERAL_FEATURES:])
    assert all(feature.startswith("a.org") for feature in one[GENERAL_FEATURES:])


def test_keys_that_differ_in_one_part_share_other_features() -> None:
    plain, news = set(key(pattern="item/*").features), set(key(pattern="news/*").features)
    assert plain & news >= {"bias", "ext .html", "by anchor", "a.org", "a.org ext .html"}
    assert {"folder item", "a.org folder item"} <= plain - news


def test_css_classes_are_features_of_the_host_only() -> None:
    one, other = key(tag_path="li.red a.x").features, key(tag_path="li.blue a").features
    assert one[:GENERAL_FEATURES] == other[:GENERAL_FEATURES]
    assert one != other


def test_cross_host_key_has_features_of_the_linking_host() -> None:
    features = key(from_host="b.org").features
    assert "by anchor@" in features
    assert "from b.org" in features


@settings(max_examples=60, deadline=None)
@given(PART, PART, st.integers(0, 4), PART, PART, st.none() | PART, st.text(alphabet="abli. ", max_size=12))
def test_key_of_any_parts_survives_str_and_parse(
    host: str, pattern: str, depth: int, extension: str, source: str, from_host: str | None, tag_path: str
) -> None:
    made = key(host, pattern, depth, extension, source, from_host or "", tag_path)
    assert ArmKey.parse(str(made)) == made
    assert len(made.features) == 12 + bool(made.from_host)
    assert len(set(made.features)) == len(made.features), "no feature counts twice"
    assert made.family == f"{host} {extension}"
    on_hub = ArmKey.parse(hub_arm(str(made), "http://a.org/"))
    assert (on_hub.base_arm, on_hub.features, on_hub.is_hub) == (str(made), made.features, True)
    assert f"{host}\t{made.hostless}" == str(made)


@pytest.mark.parametrize("text", ["", "a.org", "revisit a.org", "a\tb", "a.org\t*\tdeep\t/\tseed\t", "\t" * 7])
def test_parse_of_text_that_is_no_key_raises_value_error(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        ArmKey.parse(text)


def test_only_the_module_of_arm_keys_knows_the_separator() -> None:
    package = Path(motherlode.policies.motherlode.__file__).parent
    with_tab = {path.name for path in package.glob("*.py") if "\\t" in path.read_text(encoding="utf-8")}
    assert with_tab == {"arm_key.py"}


def test_keys_of_rated_links_can_be_parsed() -> None:
    policy = Motherlode()
    home = policy.rate([Link(url="http://a.example/", source=LinkSource.SEED)], None)[0].arm
    parent = Outcome(url="http://a.example/", host="a.example", depth=0, relevant=True, arm=home)
    links = [Link(url=f"http://{host}/x/1.ttl", source=LinkSource.ANCHOR) for host in ("a.example", "b.example")]
    own, cross_host = (ArmKey.parse(rating.arm).features for rating in policy.rate(links, parent))
    assert "a.example" in own
    assert "from a.example" in cross_host
