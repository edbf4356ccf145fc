"""Processed contexts, shared between documents: the many pages of a site say the same few contexts."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from contextlib import suppress
from dataclasses import dataclass

from motherlode.transform.jsonld.active import ActiveContext


@dataclass(frozen=True, slots=True)
class Processed:
    """A context that was made, and what it was made of."""

    context: ActiveContext
    sources: tuple[tuple[str, bytes | None], ...]
    """The remote contexts that it leads to, with their content; None for those that are bundled."""
    weight: int


class ContextCache:
    """Keeps what was used last, up to a number of contexts and a sum of weights (terms).

    >>> cache = ContextCache(entries=1, weight=100)
    >>> for name in "ab":
    ...     cache.put(name, Processed(ActiveContext(), (), 1))
    >>> cache.get("a") is None, cache.get("b") is None
    (True, False)
    """

    def __init__(self, *, entries: int, weight: int) -> None:
        self._entries = entries
        self._weight = weight
        self._total = 0
        self._kept: OrderedDict[Hashable, Processed] = OrderedDict()

    def get(self, key: Hashable) -> Processed | None:
        found = self._kept.get(key)
        if found is not None:
            with suppress(KeyError):  # another thread may have dropped it just now
                self._kept.move_to_end(key)
        return found

    def put(self, key: Hashable, processed: Processed) -> None:
        if processed.weight > self._weight:
            return
        replaced = self._kept.pop(key, None)
        self._total += processed.weight - (replaced.weight if replaced else 0)
        self._kept[key] = processed
        while len(self._kept) > self._entries or self._total > self._weight:
            _, dropped = self._kept.popitem(last=False)
            self._total -= dropped.weight
