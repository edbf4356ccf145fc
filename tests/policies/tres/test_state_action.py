"""Features of states and actions of tres."""

from __future__ import annotations

from motherlode.model import Link, LinkSource, Outcome
from motherlode.policies.tres.state_action import CrawlPath, Keywords, LinkMemory


def page(*, relevant: bool, state: bytes = b"") -> Outcome:
    return Outcome(url="http://a.example/", host="a.example", relevant=relevant, policy_state=state)


def test_path_counts_relevant_pages_and_the_distance_to_the_last() -> None:
    seen, state = [], b""
    for relevant in (False, True, False, False):
        parent = page(relevant=relevant, state=state)
        path = CrawlPath.behind(parent)
        seen.append(path.levels(parent))
        state = LinkMemory(path.relevant, path.others, path.distance, (0,) * 7).pack()
    assert seen == [(0, 5, 0), (10, 10, 5), (0, 5, 3), (0, 3, 2)]


def test_memory_survives_packing_and_clips_large_numbers() -> None:
    memory = LinkMemory(3, 4, 2, (0, 10, 5, 0, 10, 0, 7), (1, 65535))
    assert LinkMemory.unpack(memory.pack()) == memory
    large = LinkMemory.unpack(LinkMemory(10**6, 10**6, 10**6, (0,) * 7).pack())
    assert large is not None
    assert (large.relevant, large.distance) == (65535, 255)
    assert LinkMemory.unpack(b"abc") is None


def test_keywords_are_found_in_url_text_and_surroundings() -> None:
    words = Keywords(["Recipe"])
    anchor = LinkSource.ANCHOR
    assert words.levels(Link(url="http://a.example/recipes/1", source=anchor)) == (10, 0, 0)
    assert words.levels(Link(url="http://a.example/", source=anchor, anchor="A RECIPE")) == (0, 10, 0)
    assert words.levels(Link(url="http://a.example/", source=anchor, context="my recipe")) == (0, 0, 10)
    assert Keywords([]).levels(Link(url="http://a.example/", source=anchor, anchor="recipe")) == (0, 0, 0)
