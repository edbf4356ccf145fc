"""Links are immutable and can be serialized."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from motherlode.model import Link, LinkSource


@settings(max_examples=50, deadline=None)
@given(
    st.builds(
        Link,
        url=st.text(max_size=20),
        source=st.sampled_from(LinkSource),
        anchor=st.text(max_size=20),
        rel=st.text(max_size=5),
        tag_path=st.text(max_size=20),
        predicate=st.text(max_size=20),
        nofollow=st.booleans(),
    )
)
def test_link_serialized_and_parsed_is_equal(link: Link) -> None:
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(link), type=Link) == link


def test_link_without_last_fields_is_parsed_with_defaults() -> None:
    short = msgspec.msgpack.encode(["http://a.example/", "anchor"])
    assert msgspec.msgpack.decode(short, type=Link) == Link(url="http://a.example/", source=LinkSource.ANCHOR)


def test_link_with_unknown_source_is_rejected() -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.msgpack.decode(msgspec.msgpack.encode(["http://a.example/", "nowhere"]), type=Link)


def test_link_is_immutable() -> None:
    with pytest.raises(AttributeError):
        Link(url="http://a.example/", source=LinkSource.SEED).url = "x"  # type: ignore[misc]
