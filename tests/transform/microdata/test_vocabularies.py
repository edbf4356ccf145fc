"""Vocabularies and property names."""

from __future__ import annotations

import pytest

from motherlode.transform.microdata.vocabularies import DEFAULT_REGISTRY, Vocabularies

VOCABULARIES = Vocabularies(
    {**DEFAULT_REGISTRY, "http://example.org/v/": {"a": ("http://example.org/x", "http://example.org/y")}}
)
BASE = "http://example.org/page#frag"


@pytest.mark.parametrize(
    ("item_type", "name", "expected"),
    [
        ("", "name", "http://example.org/page#name"),
        ("", "http://example.org/p", "http://example.org/p"),
        ("http://schema.org/Person", "name", "http://schema.org/name"),
        ("http://schema.org/deep/Person", "name", "http://schema.org/name"),
        ("http://microformats.org/profile/hcard", "fn", "http://microformats.org/profile/hcard#fn"),
        ("http://example.com/a/b/C", "name", "http://example.com/a/b/name"),
        ("http://example.com/a#C", "name", "http://example.com/a#name"),
        ("urn:x", "name", "urn:x#name"),
        ("http://example.com/C", "a<b>", "http://example.com/a%3Cb%3E"),
    ],
)
def test_property_name_resolves_to_predicate_of_the_vocabulary(item_type: str, name: str, expected: str) -> None:
    assert VOCABULARIES.resolve_predicates(VOCABULARIES.find(item_type), name, base=BASE)[0] == f"<{expected}>"


def test_property_of_the_registry_adds_implied_predicates() -> None:
    assert VOCABULARIES.resolve_predicates("http://example.org/v/", "a", base=BASE) == (
        "<http://example.org/v/a>",
        "<http://example.org/x>",
        "<http://example.org/y>",
    )
    (_, implied) = VOCABULARIES.resolve_predicates("https://schema.org/", "additionalType", base=BASE)
    assert implied.endswith("#type>")
