"""IRI expansion in an active context, and the context cache."""

from __future__ import annotations

import pytest

from motherlode.transform.jsonld.active_context import ActiveContext, CachedContext, ContextCache, TermDefinition


def context() -> ActiveContext:
    active = ActiveContext()
    active.vocab = "http://v/"
    active.terms = {
        "term": TermDefinition(iri="http://t/"),
        "ex": TermDefinition(iri="http://ex/", prefix=True),
        "no": TermDefinition(iri="http://no/"),
        "id": TermDefinition(iri="@id"),
        "null": TermDefinition(iri=None),
    }
    return active


@pytest.mark.parametrize(
    ("value", "term", "reference"),
    [
        ("term", "http://t/", "term"),
        ("other", "http://v/other", "other"),
        ("ex:a", "http://ex/a", "http://ex/a"),
        ("no:a", "no:a", "no:a"),
        ("ex://a", "ex://a", "ex://a"),
        ("_:b", "_:b", "_:b"),
        (":a", "http://v/:a", ":a"),
        ("#a:b", "http://v/#a:b", "#a:b"),
        ("id", "@id", "@id"),
        ("@type", "@type", "@type"),
        ("@later", None, None),
        ("@", "http://v/@", "@"),
        ("null", None, "null"),
        ("", "http://v/", ""),
    ],
)
def test_active_context_expands_iris(value: str, term: str | None, reference: str | None) -> None:
    active = context()
    assert active.expand_term(value) == term
    assert active.expand_reference(value) == reference


def test_expanded_key_has_properties_of_its_definition() -> None:
    active = context()
    assert active.key("term").iri == "http://t/"
    assert active.key("null").iri is None
    assert active.key("@type").keyword
    active.vocab = None
    assert active.key("unmapped").iri is None


def test_active_context_key_cache_is_bounded() -> None:
    active = context()
    for number in range(10_000):
        active.key(f"key{number}")
    active.key("k" * 1000)
    assert len(active.key_cache) < 5000
    assert "k" * 1000 not in active.key_cache


def test_active_context_clone_is_independent() -> None:
    active = context()
    clone = active.clone()
    clone.terms["new"] = TermDefinition(iri="http://new/")
    assert active.term("new") is None
    assert clone.serial_number != active.serial_number


def test_term_definition_protection_is_ignored_in_comparison() -> None:
    one = TermDefinition(iri="http://t/", protected=True, context={"a": "b"}, context_key=1)
    assert one.is_same_definition(TermDefinition(iri="http://t/", context={"a": "b"}, context_key=2))
    assert not one.is_same_definition(TermDefinition(iri="http://t/", context={"a": "c"}))


# Cache


def processed(weight: int) -> CachedContext:
    return CachedContext(ActiveContext(), (), weight)


def test_context_cache_keeps_most_recently_used() -> None:
    cache = ContextCache(entries=2, weight=100)
    cache.put("a", processed(1))
    cache.put("b", processed(1))
    cache.get("a")
    cache.put("c", processed(1))
    assert [cache.get(key) is not None for key in "abc"] == [True, False, True]


def test_context_cache_weight_is_bounded() -> None:
    cache = ContextCache(entries=100, weight=10)
    cache.put("heavy", processed(11))
    assert cache.get("heavy") is None
    for key in "abcdef":
        cache.put(key, processed(4))
    assert [cache.get(key) is not None for key in "abcdef"] == [False] * 4 + [True] * 2


def test_context_cache_replaced_entry_is_counted_once() -> None:
    cache = ContextCache(entries=10, weight=10)
    for _ in range(5):
        cache.put("a", processed(6))
    cache.put("b", processed(4))
    assert cache.get("a") is not None
    assert cache.get("b") is not None
