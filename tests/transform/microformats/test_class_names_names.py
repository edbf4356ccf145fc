from __future__ import annotations

import pytest

from motherlode.transform.microformats.class_names import NOTHING, class_names


@pytest.mark.parametrize("name", ["h-t", "h-test-three", "h-6-test", "h-8t8-test", "h-t11t-test-t"])
def test_accepts_names_of_the_grammar(name: str) -> None:
    assert class_names(f"a {name}").roots == (name,)


@pytest.mark.parametrize(
    "name",
    ["h", "h-", "h-19", "H-test", "h-TEST", "h-t_t", "h-24-24", "h-test-26", "h-test-", "h-a--b", "h-x!", "h-x\x0b"],
)
def test_refuses_other_names(name: str) -> None:
    assert class_names(f"a {name}") is NOTHING


def test_only_ascii_white_space_separates() -> None:
    assert class_names("p-a\tp-b\np-c\fp-d\rp-e").properties == tuple(("p", name) for name in "abcde")
    assert class_names("p-a\xa0p-b\u2003p-c") is NOTHING


def test_roots_are_sorted_and_unique_and_properties_are_as_written() -> None:
    names = class_names("p-b h-z p-a h-a p-b h-z")
    assert names.roots == ("h-a", "h-z")
    assert names.properties == (("p", "b"), ("p", "a"), ("p", "b"))


def test_knows_classic_names_and_the_value_pattern() -> None:
    names = class_names("vcard fn value value-title include nothing")
    assert (names.classic_roots, names.classic) == (("vcard",), ("fn",))
    assert names.is_value and names.is_value_title and names.is_include


def test_an_endless_name_is_no_property() -> None:
    assert class_names("p-" + "a" * 1_000_000) is NOTHING
