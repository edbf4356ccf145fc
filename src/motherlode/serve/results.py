"""Answers of queries as pages show them: terms that can be followed, and where they come from."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from motherlode.index.queries.worker import Order
from motherlode.serve.html import Markup, element, entity, joined, nothing, shortened, table
from motherlode.serve.pool import AnswerPool

MOST_BYTES = 8_000_000
"""Of an answer that becomes a page."""

Row = dict[str, "Term"]


@dataclass(frozen=True, slots=True)
class Term:
    """A term as SPARQL results in JSON tell it."""

    kind: str
    """uri, literal or bnode"""
    value: str
    language: str = ""
    datatype: str = ""


@dataclass(frozen=True, slots=True)
class Rows:
    """The solutions of a SELECT, or a truth value."""

    names: tuple[str, ...]
    rows: tuple[Row, ...]
    truth: bool | None = None


async def select(pool: AnswerPool, sparql: str, *, seconds: float, most: int = MOST_BYTES) -> Rows:
    """Ask and read the whole answer. QueryFailure where there is none."""
    order = Order(sparql=sparql, results="application/sparql-results+json", most=most)
    async with pool.ask(order, seconds=seconds) as answer:
        return read(b"".join([piece async for piece in answer.pieces()]))


def read(content: bytes) -> Rows:
    """SPARQL results in JSON.

    >>> read(b'{"head":{"vars":["s"]},"results":{"bindings":[{"s":{"type":"uri","value":"u:a"}}]}}').rows[0]["s"].value
    'u:a'
    """
    decoded: dict[str, Any] = json.loads(content)
    if "boolean" in decoded:
        return Rows((), (), truth=bool(decoded["boolean"]))
    rows = tuple({name: _term(term) for name, term in row.items()} for row in decoded["results"]["bindings"])
    return Rows(tuple(decoded["head"]["vars"]), rows)


def _term(term: dict[str, Any]) -> Term:
    value = term["value"]
    if not isinstance(value, str):
        return Term("triple", json.dumps(value, ensure_ascii=False))
    name = f"_:{value}" if term["type"] == "bnode" else value
    return Term(term["type"], name, term.get("xml:lang", ""), term.get("datatype", ""))


def shown(term: Term | None, *, page: str = "") -> Markup:
    """A term for people: IRIs lead on, texts have their language beside them."""
    if term is None:
        return nothing
    if term.kind == "uri":
        return entity(term.value)
    if term.kind == "bnode":
        return entity(term.value, "[ ]", page=page) if page else element("span", term.value, class_="muted")
    tag = element("span", term.language, class_="tag") if term.language else nothing
    kind = term.datatype.rpartition("#")[2]
    datatype = element("span", kind, class_="tag") if kind and kind not in ("string", "langString") else nothing
    return joined(element("bdi", shortened(term.value)), tag, datatype)


def solutions(found: Rows, most: int) -> Markup:
    """The solutions as a table."""
    if found.truth is not None:
        return element("p", "yes" if found.truth else "no", class_="truth")
    if not found.rows:
        return element("p", "There is nothing that fits.", class_="muted")
    rows = ([shown(row.get(name)) for name in found.names] for row in found.rows[:most])
    return table((f"?{name}" for name in found.names), rows, class_="results")


def grouped(rows: Iterable[Row], key: str) -> dict[str, list[Row]]:
    """Rows by the value of one of their variables, in the order in which the values come."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(row[key].value if key in row else "", []).append(row)
    return groups
