"""Queries meet the store: prepared, asked, and explained where they are wrong."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from motherlode.index.quad_store import QuadStore, StoreResult
from motherlode.index.query.diagnostics import QueryError, diagnose
from motherlode.index.query.service_clause import Lookup, RewrittenQuery, rewrite_services
from motherlode.index.snapshot import is_damage, store_advice
from motherlode.model.sparql import offset_of

_NEW_USER, _NEW_NETWORK = 0x10000000, 0x40000000
"""Flags of unshare(2)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryRequest:
    """A query with what goes with it."""

    sparql: str
    default_graphs: tuple[str, ...] | None = None
    """IRIs of graphs in the place of those that the query names; None leaves it to the query."""
    named_graphs: tuple[str, ...] | None = None
    base: str = ""
    """The IRI against which relative IRIs of the query are resolved; "" if they are errors."""
    allow_service: bool = False
    """Let SERVICE ask other servers."""


class QueryExecutor:
    """Answers from a store and its words as they are now."""

    def __init__(self, store: Path, words: Path) -> None:
        self._path = store
        self._store = QuadStore(store, read_only=True)
        self._words = words

    def execute(self, question: QueryRequest) -> StoreResult:
        """The answer, which may still be worked out while it is read. QueryError where the query is wrong."""
        sparql = question.sparql.removeprefix("\ufeff")  # which editors of some systems put before a text
        made = rewrite_services(sparql, self._lookup(), allow_network=question.allow_service)
        try:
            return self._store.query(
                made.text,
                functions=made.functions,
                base=question.base,
                default_graphs=_graphs(question.default_graphs, question.named_graphs),
                named_graphs=_graphs(question.named_graphs, question.default_graphs),
            )
        except SyntaxError as error:
            message = error.msg or str(error)
            raise QueryError(diagnose(sparql, message, offset=_offset(message, made))) from error

    def _lookup(self) -> Lookup | None:
        """The word index, loaded when a query uses it; None where there is none."""
        if not (self._words / "meta.json").exists():
            return None

        def look_up(words: str, limit: int) -> Sequence[tuple[str, str, float]]:
            from motherlode.index.fulltext import WordSearcher

            return WordSearcher(self._words).subjects(words, limit=limit)

        return look_up

    def damage(self, error: BaseException) -> str:
        """What to do, where an answer that was being read met files that are damaged; "" for other errors."""
        return store_advice(self._path, str(error)) if is_damage(error) else ""

    def close(self) -> None:
        self._store.close()


def _graphs(own: tuple[str, ...] | None, other: tuple[str, ...] | None) -> tuple[str, ...] | None:
    """A data set that names graphs of one kind only has none of the other (SPARQL 1.1 Protocol, 2.1.4)."""
    return () if own is None and other is not None else own


def _offset(message: str, made: RewrittenQuery) -> int | None:
    """Where in the user's own text the parser stopped."""
    head = message.removeprefix("error at ").partition(": ")[0].split(":")
    if len(head) != 2 or not all(part.isdigit() for part in head):
        return None
    return made.original_offset(offset_of(made.text, int(head[0]), int(head[1])))


def isolate_from_network() -> bool:
    """Cut this process off from every network, where the system lets us: the second wall behind refusing SERVICE."""
    try:
        unshare = ctypes.CDLL(None, use_errno=True).unshare
    except (OSError, AttributeError):  # not Linux
        return False
    return bool(unshare(_NEW_NETWORK) == 0 or (os.getuid() != 0 and unshare(_NEW_USER | _NEW_NETWORK) == 0))
