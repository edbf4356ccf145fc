"""Run SPARQL queries on the store: rewrite SERVICE, execute, and explain syntax errors."""

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
    """A query and its parameters."""

    sparql: str
    default_graphs: tuple[str, ...] | None = None
    """IRIs of graphs that override the FROM clauses of the query; None uses those of the query."""
    named_graphs: tuple[str, ...] | None = None
    base: str = ""
    """The IRI against which relative IRIs of the query are resolved; "" if they are errors."""
    allow_service: bool = False
    """Allow SERVICE to send requests to other servers."""


class QueryExecutor:
    """Executes queries on a snapshot of a store and on its word index."""

    def __init__(self, store: Path, words: Path) -> None:
        self._path = store
        self._store = QuadStore(store, read_only=True)
        self._words = words

    def execute(self, request: QueryRequest) -> StoreResult:
        """Return the result, which may be computed while it is read. QueryError if the query is invalid."""
        sparql = request.sparql.removeprefix("\ufeff")  # the byte order mark that some editors write
        made = rewrite_services(sparql, self._lookup(), allow_network=request.allow_service)
        try:
            return self._store.query(
                made.text,
                functions=made.functions,
                base=request.base,
                default_graphs=_graphs(request.default_graphs, request.named_graphs),
                named_graphs=_graphs(request.named_graphs, request.default_graphs),
            )
        except SyntaxError as error:
            message = error.msg or str(error)
            raise QueryError(diagnose(sparql, message, offset=_offset(message, made))) from error

    def _lookup(self) -> Lookup | None:
        """Return a function that searches the word index, which it opens when it is called; None without an index."""
        if not (self._words / "meta.json").exists():
            return None

        def look_up(words: str, limit: int) -> Sequence[tuple[str, str, float]]:
            from motherlode.index.fulltext import WordSearcher

            return WordSearcher(self._words).subjects(words, limit=limit)

        return look_up

    def damage(self, error: BaseException) -> str:
        """Return the advice for the user if an error while reading results means a damaged store; otherwise ""."""
        return store_advice(self._path, str(error)) if is_damage(error) else ""

    def close(self) -> None:
        self._store.close()


def _graphs(own: tuple[str, ...] | None, other: tuple[str, ...] | None) -> tuple[str, ...] | None:
    """Return the graphs `own` of a request; empty if only `other` is given, None if neither (SPARQL Protocol 2.1.4)."""
    return () if own is None and other is not None else own


def _offset(message: str, made: RewrittenQuery) -> int | None:
    """Return the offset in the user's text at which the parser stopped; None if the message has no position."""
    head = message.removeprefix("error at ").partition(": ")[0].split(":")
    if len(head) != 2 or not all(part.isdigit() for part in head):
        return None
    return made.original_offset(offset_of(made.text, int(head[0]), int(head[1])))


def isolate_from_network() -> bool:
    """Move this process to an empty network namespace, if the system allows it. Return whether it did.

    This is a second protection besides refusing SERVICE.
    """
    try:
        unshare = ctypes.CDLL(None, use_errno=True).unshare
    except (OSError, AttributeError):  # not Linux
        return False
    return bool(unshare(_NEW_NETWORK) == 0 or (os.getuid() != 0 and unshare(_NEW_USER | _NEW_NETWORK) == 0))
