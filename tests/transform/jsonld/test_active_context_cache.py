from __future__ import annotations

from motherlode.transform.jsonld.active_context import ActiveContext, CachedContext, ContextCache


def processed(weight: int) -> CachedContext:
    return CachedContext(ActiveContext(), (), weight)


def test_what_was_used_last_stays() -> None:
    cache = ContextCache(entries=2, weight=100)
    cache.put("a", processed(1))
    cache.put("b", processed(1))
    cache.get("a")
    cache.put("c", processed(1))
    assert [cache.get(key) is not None for key in "abc"] == [True, False, True]


def test_weight_is_bounded() -> None:
    cache = ContextCache(entries=100, weight=10)
    cache.put("heavy", processed(11))
    assert cache.get("heavy") is None
    for key in "abcdef":
        cache.put(key, processed(4))
    assert [cache.get(key) is not None for key in "abcdef"] == [False] * 4 + [True] * 2


def test_replacing_does_not_count_twice() -> None:
    cache = ContextCache(entries=10, weight=10)
    for _ in range(5):
        cache.put("a", processed(6))
    cache.put("b", processed(4))
    assert cache.get("a") is not None
    assert cache.get("b") is not None
