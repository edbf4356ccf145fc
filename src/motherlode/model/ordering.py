"""ORDER BY, MIN and MAX that the engine answers rightly, and survives.

The engine compares what has a value (numbers, dates, durations) by value, and with everything else as text, so that its
order goes in circles: 9 < 10 < "5 EUR" < 9. Dates have circles of their own, because one with a time zone and one
without are compared as texts where they are less than 14 hours apart. Its sort takes a circle for a defect and ends the
whole process; its MIN and MAX answer with whatever came last. Prices, ratings and dates of the wild web are written in
all of these ways, so ordinary questions meet it. The standard leaves open how such terms compare (SPARQL 1.1, 15.1), so
we sort them by kind first, and compare by value only what is of one kind. Triple terms come last (SPARQL 1.2, 15.1), by
subject, predicate and object; the engine would compare the objects in circles as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import TypeVar

from motherlode.model.sparql import Kind, Token, tokens

_DIRECTIONS = frozenset({"ASC", "DESC"})
_BEHIND_THE_ORDER = frozenset({"LIMIT", "OFFSET", "VALUES", "HAVING"})
_CALLED = frozenset({Kind.WORD, Kind.NAME, Kind.IRI})
"""What may stand before the parenthesis of a call; EXISTS and NOT EXISTS before a brace."""
_TRUTHS = frozenset({"EXISTS", "NOT"})
"""Conditions that give truth values, which have an order as they are."""
_OPENING, _CLOSING = frozenset("({"), frozenset(")}")
_Answer = TypeVar("_Answer")
_Edit = tuple[int, int, str]
"""Where a text begins and ends, and what is to stand there."""

# The templates below are SPARQL, in which ~ is what the user sorts by. They name no prefix, which a query may redefine.


def _xsd(name: str) -> str:
    return f"<http://www.w3.org/2001/XMLSchema#{name}>"


_TIME, _DATETIME = _xsd("time"), _xsd("dateTime")
_DATES = f"({_DATETIME}, {_xsd('date')}, {_xsd('gYearMonth')}, {_xsd('gYear')})"
_DURATIONS = f"({_xsd('duration')}, {_xsd('dayTimeDuration')}, {_xsd('yearMonthDuration')})"
_UTC = f'"PT0S"^^{_xsd("dayTimeDuration")}'

_KIND = (
    f"IF(isTRIPLE(~), 5, IF(isNumeric(~), 4, IF(DATATYPE(~) IN {_DATES}, 3, IF(DATATYPE(~) IN {_DURATIONS}, 2, "
    f"IF(DATATYPE(~) = {_TIME}, 1, 0)))))"
)
"""Texts, times, durations, dates, numbers, triple terms. Blank nodes and IRIs have none, and so come first."""
_DATE = (
    f"ADJUST(COALESCE({_DATETIME}(~), {_DATETIME}(CONCAT(STR(~), '-01T00:00:00')), "
    f"{_DATETIME}(CONCAT(STR(~), '-01-01T00:00:00'))), {_UTC})"
)
_NUMBER = f"COALESCE({_xsd('decimal')}(~), ~)"
"""Exact where it can be: whole numbers and floating ones have circles, too, where they are large."""
_VALUE = (
    f"IF(isLiteral(~), IF(isNumeric(~), {_NUMBER}, IF(DATATYPE(~) IN {_DATES}, {_DATE}, "
    f"IF(DATATYPE(~) IN {_DURATIONS}, {_xsd('duration')}(~), IF(DATATYPE(~) = {_TIME}, ADJUST(~, {_UTC}), ~)))), "
    "IF(isTRIPLE(~), SUBJECT(~), ~))"
)
"""A term in such a form that all terms of its kind can be compared by value. Unbound where it has none, as a date that
is no date. The first value of a triple term is its subject, which is never a literal or a triple term."""
_MAX_DEPTH = 3
"""Triple terms inside of triple terms that are compared; those that differ only deeper inside are equal."""
_GIVES_TRIPLES = frozenset({"IF", "COALESCE", "SAMPLE", "MIN", "MAX", "TRIPLE", "OBJECT"})
"""Functions of SPARQL whose value may be a triple term."""

_EXTREMES = {
    "MIN": "IF(MIN(isNumeric(~)), MIN(~), MIN(IF(isNumeric(~), '\U0010ffff', ~)))",
    "MAX": f"IF(MAX(isNumeric(~)), MAX(IF(isNumeric(~), ~, '-INF'^^{_xsd('double')})), MAX(~))",
}
"""The least text, or the least number where there are only numbers; the other way round for the greatest."""


def asked_in_order(ask: Callable[[str], _Answer], sparql: str) -> _Answer:
    """What the engine answers to the query with total orders, or, where it cannot read that, to the query as it is.

    The second time is for its message, which then speaks of what the user has written.
    """
    try:
        return ask(with_total_order(sparql))
    except SyntaxError:
        return ask(sparql)


@lru_cache(maxsize=64)
def with_total_order(sparql: str) -> str:
    """The query with MIN, MAX and each condition of an ORDER BY such that any two terms have one order."""
    return _edited(_edited(sparql, _extremes), _orders)


def sort_keys(expression: str, direction: str = "ASC") -> str:
    """The conditions that stand for one: by kind, then by value, then by what is inside of a triple term."""
    templates = [_KIND, _VALUE]
    term = "~"
    for _ in range(_MAX_DEPTH if _may_be_triple(expression) else 0):
        templates.append(f"PREDICATE({term})")
        term = f"OBJECT({term})"
        templates += (_KIND.replace("~", term), _VALUE.replace("~", term))
    return " ".join(f"{direction}({template.replace('~', expression)})" for template in templates)


def _may_be_triple(expression: str) -> bool:
    """Return whether the value of an expression may be a triple term.

    >>> [_may_be_triple(text) for text in ("?x", "(IF(?x, ?y, ?z))", "(COUNT(?x))", "LCASE(?x)", "xsd:decimal(?x)")]
    [True, True, False, False, False]
    """
    first = next((token for token in tokens(expression) if token.text != "("), None)
    return first is not None and (first.kind not in _CALLED or first.text.upper() in _GIVES_TRIPLES)


def _edited(sparql: str, edits: Callable[[str, list[Token]], Iterator[_Edit]]) -> str:
    parts, last = [], 0
    for start, end, text in edits(sparql, _asked_here(tokens(sparql))):
        if start >= last:  # not inside of what stands there anew
            parts += [sparql[last:start], text]
            last = end
    return "".join([*parts, sparql[last:]])


def _asked_here(found: list[Token]) -> list[Token]:
    """Without what SERVICE asks of other servers: their engines have other troubles, and may not know ADJUST."""
    here, position = [], 0
    while position < len(found):
        behind = _end(found, position) if found[position].is_word("SERVICE") else None
        if behind is None:
            here.append(found[position])
        position = behind or position + 1
    return here


def _extremes(sparql: str, found: list[Token]) -> Iterator[_Edit]:
    for position, token in enumerate(found):
        template = _EXTREMES.get(token.text.upper()) if token.kind is Kind.WORD else None
        end = _end(found, position) if template is not None else None
        if template is None or end is None:
            continue
        first = position + 2
        first += found[first].is_word("DISTINCT")  # which changes neither
        expression = sparql[found[first].start : found[end - 2].end]
        yield token.start, found[end - 1].end, template.replace("~", f"({expression})")


def _orders(sparql: str, found: list[Token]) -> Iterator[_Edit]:
    for position, token in enumerate(found):
        if token.is_word("BY") and position and found[position - 1].is_word("ORDER"):
            yield from _conditions(sparql, found, position + 1)


def _conditions(sparql: str, found: list[Token], position: int) -> Iterator[_Edit]:
    """What we cannot read ends them: it stays as it is."""
    while position < len(found):
        first = found[position]
        direction = first.text if first.kind is Kind.WORD and first.text.upper() in _DIRECTIONS else ""
        begin = position + bool(direction)
        end = _end(found, begin)
        if end is None:
            return
        if found[begin].text.upper() not in _TRUTHS:
            expression = sparql[found[begin].start : found[end - 1].end]
            yield first.start, found[end - 1].end, sort_keys(expression, direction or "ASC")
        position = end


def _end(found: list[Token], position: int) -> int | None:
    """Behind the variable, the call or the parentheses that begin at a place; None where nothing of them does."""
    if position < len(found) and found[position].kind is Kind.VARIABLE:
        return position + 1
    while position < len(found) and found[position].kind in _CALLED:
        if found[position].text.upper() in _BEHIND_THE_ORDER:
            return None
        position += 1
    depth = 0
    for place in range(position, len(found)):
        depth += (found[place].text in _OPENING) - (found[place].text in _CLOSING)
        if depth <= 0:
            return place + 1 if place > position else None
    return None
