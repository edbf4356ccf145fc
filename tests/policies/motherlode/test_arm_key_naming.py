"""Arms by name: alike goes together, the number of arms stays bounded, and nothing on a page can break a name."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from motherlode.model import Link, LinkSource, Outcome
from motherlode.policies.motherlode.arm_key import (
    GENERAL,
    HOME,
    ArmKeyBuilder,
    family_of,
    features_of,
    is_cross_host,
    is_redirected_to,
    kind_of,
    parsed,
)


def known_host(host: str = "a.example") -> ArmKeyBuilder:
    namer = ArmKeyBuilder()
    namer.tell_apart(host)
    return namer


def anchor(url: str, **more: str) -> Link:
    return Link(url=url, source=LinkSource.ANCHOR, **more)


PAGE = Outcome(url="https://b.example/", host="b.example", depth=0, relevant=False)


def test_the_parts_of_a_name() -> None:
    link = anchor("https://a.example/news/2019/some-title.html?page=2", tag_path="html body ul.list li.item a")
    name = parsed(known_host().arm(link, PAGE))
    assert name.host == "a.example"
    assert name.pattern == "news/#?some-title&page"
    assert (name.depth, name.extension) == ("2", ".html?")
    assert name.manner == "anchor@b.example"
    assert name.place == "li.item a"


@pytest.mark.parametrize("url", ["https://a.example/", "https://a.example", "http://a.example/"])
def test_a_home_page_has_an_arm_of_its_own(url: str) -> None:
    assert parsed(known_host().arm(anchor(url), None)).pattern == HOME
    assert parsed(ArmKeyBuilder().arm(anchor(url), None)).pattern == HOME, "also before the host was tried"


def test_a_folder_with_a_slash_is_the_page_itself() -> None:
    namer = known_host()
    assert namer.arm(anchor("https://a.example/blog/one-title/"), None) == namer.arm(
        anchor("https://a.example/blog/another-title/"), None
    )
    assert parsed(namer.arm(anchor("https://a.example/blog/one-title/"), None)).pattern == "blog/*"


def arms_of(namer: ArmKeyBuilder, *queries: str) -> list[str]:
    return [namer.arm(anchor(f"https://a.example/{query}"), None) for query in queries]


def test_pages_that_scripts_make_are_told_apart_by_script_and_parameters() -> None:
    namer = known_host()
    topic, same, forum, member = arms_of(
        namer, "viewtopic.php?f=1&t=2", "viewtopic.php?f=3&t=4", "viewforum.php?f=1", "memberlist.php?u=2"
    )
    assert topic == same
    assert len({topic, forum, member}) == 3
    post, author, home = arms_of(namer, "?p=1", "?author=1", "")
    assert len({post, author, home}) == 3


def test_words_of_a_query_count_while_there_are_few() -> None:
    namer = known_host()
    item, same, printed = arms_of(namer, "i.php?view=item&id=1", "i.php?view=item&id=2", "i.php?view=print&id=1")
    assert item == same != printed
    titles = [f"i.php?title={a}{b}" for a in "abcde" for b in "abcde"]
    assert len(set(arms_of(namer, *titles))) <= 8
    assert len(set(arms_of(namer, *titles))) == 1


def test_queries_without_end_leave_room_for_folders() -> None:
    namer = known_host()
    words = [f"{a}{b}" for a in "abcdefgh" for b in "abcdefgh"]
    queries = [f"{script}.php?{name}=1&{name}x=2" for script in words[:20] for name in words]
    assert len(set(arms_of(namer, *queries))) <= 34
    assert parsed(namer.arm(anchor("https://a.example/news/x.html"), None)).pattern == "news"


def test_what_was_told_apart_stays_so_when_queries_have_no_end() -> None:
    namer = known_host()
    before = arms_of(namer, "viewtopic.php?t=1", "viewforum.php?f=1")
    words = [f"{a}{b}" for a in "abcdefgh" for b in "abcdefgh"]
    arms_of(namer, *(f"{word}.php?{word}=1" for word in words))
    assert arms_of(namer, "viewtopic.php?t=2", "viewforum.php?f=2") == before


def test_hosts_are_not_told_apart_before_they_were_tried() -> None:
    namer = ArmKeyBuilder()
    arms = {namer.arm(anchor(f"https://a.example/{word}/x.html"), None) for word in ("one", "two", "three")}
    assert len(arms) == 1
    namer.tell_apart("a.example")
    assert len({namer.arm(anchor(f"https://a.example/{word}/x.html"), None) for word in ("one", "two")}) == 2


def test_a_host_has_a_bounded_number_of_arms() -> None:
    namer = known_host()
    words = [f"{a}{b}{c}" for a in "abcdefgh" for b in "abcdefgh" for c in "abcdefgh"]
    places = [f"html body div.{word} a" for word in words]
    links = [
        anchor(f"https://a.example/{word}/x.html", tag_path=place) for word, place in zip(words, places, strict=True)
    ]
    assert len({namer.arm(link, None) for link in links}) <= 257
    assert namer.arm(links[0], None) == namer.arm(links[0], None)


def test_arms_of_a_host_come_in_the_order_of_their_finding() -> None:
    namer = known_host()
    names = [namer.arm(anchor(f"https://a.example/{word}/x.html"), None) for word in ("zebra", "ant", "cow")]
    assert list(namer.tell_apart("a.example")) == names


def test_arms_that_waited_before_a_host_was_tried_are_remembered() -> None:
    namer = ArmKeyBuilder()
    arm = namer.arm(anchor("https://a.example/x.html"), PAGE)
    namer.remember("a.example", arm)
    assert list(namer.tell_apart("a.example")) == [arm]


_TEXT = st.text(max_size=30)


@given(path=_TEXT, rel=_TEXT, media=_TEXT, place=_TEXT, source=st.sampled_from(list(LinkSource)))
def test_no_text_breaks_a_name(path: str, rel: str, media: str, place: str, source: LinkSource) -> None:
    url = f"https://a.example/{path.replace(chr(9), '')}"  # a canonical URL has no tab
    link = Link(url=url, source=source, rel=rel, type=media, tag_path=place)
    for namer in (known_host(), ArmKeyBuilder()):
        name = namer.arm(link, PAGE)
        assert parsed(name).host == "a.example"
        assert is_cross_host(name)
        assert is_redirected_to(name) is (source is LinkSource.REDIRECT)
        assert len(features_of(name)) > GENERAL
        assert family_of(name).startswith("a.example ")


def test_general_features_do_not_name_the_host() -> None:
    name = known_host().arm(anchor("https://a.example/news/x.html", tag_path="ul li a"), PAGE)
    features = features_of(name)
    assert not any("example" in feature for feature in features[:GENERAL])
    assert all("example" in feature for feature in features[GENERAL:])


def test_links_that_stand_together_are_an_arm_of_their_own() -> None:
    namer = known_host()
    arms = [namer.arm(anchor(f"https://a.example/{path}/x.html"), None) for path in ("news", "about")]
    lists = namer.lists({arms[0]: 7, arms[1]: 2}, "https://a.example/", least=5)
    assert list(lists) == arms[:1]
    assert kind_of(lists[arms[0]]) == arms[0] != lists[arms[0]]
    assert features_of(lists[arms[0]]) == features_of(arms[0])
    assert lists != namer.lists({arms[0]: 7}, "https://a.example/other", least=5)


def test_hosts_that_nobody_tried_have_no_lists_and_others_not_too_many() -> None:
    stranger = ArmKeyBuilder()
    arm = stranger.arm(anchor("https://a.example/news/x.html"), None)
    assert stranger.lists({arm: 7}, "https://b.example/", least=5) == {}
    namer = known_host()
    for number in range(300):
        for name in namer.lists({arm: 7}, f"https://a.example/{number}", least=5).values():
            namer.remember("a.example", name)
    assert len(list(namer.tell_apart("a.example"))) <= 128
