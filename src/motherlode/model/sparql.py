"""The words of a SPARQL query (SPARQL 1.1, section 19.8), so that it can be looked at without being misread.

What looks like a keyword inside of a string, an IRI or a comment is none. The tokens cover the text from end to end;
what is no token at all (a quote that is never closed) is one of kind `BROKEN`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cache, lru_cache
from typing import TypeVar

_IN_NAME = r"\w:\u0080-\U0010ffff"
"""Characters of the local part of a name, and all that are beyond ASCII: what is none, the engine refuses."""
_ESCAPED = r"%[0-9A-Fa-f]{2}|\\[_~.\-!$&'()*+,;=/?#@%]"


class TokenKind(Enum):
    """The kinds of tokens; the patterns stand in the order in which they are tried."""

    SPACE = r"\s+"
    COMMENT = r"\#[^\r\n]*"
    IRI = r"""<(?:[^<>"{}|^`\\\x00-\x20]|\\u[0-9A-Fa-f]{4}|\\U[0-9A-Fa-f]{8})*>"""
    STRING = (
        r'"""(?:[^"\\]|\\.|"(?!""))*"""'
        r"|'''(?:[^'\\]|\\.|'(?!''))*'''"
        r'|"(?:[^"\\\r\n]|\\.)*"'
        r"|'(?:[^'\\\r\n]|\\.)*'"
    )
    VARIABLE = r"[?$]\w+"
    BLANK = r"_:[\w][\w.\-]*"
    NAME = (
        r"(?:[^\W\d_](?:[\w.\-]*[\w\-])?)?:"
        rf"(?:(?:[{_IN_NAME}]|{_ESCAPED})(?:(?:[{_IN_NAME}.\-]|{_ESCAPED})*(?:[{_IN_NAME}\-]|{_ESCAPED}))?)?"
    )
    LANGUAGE = r"@[A-Za-z]+(?:-[A-Za-z0-9]+)*"
    WORD = r"[A-Za-z]\w*"
    NUMBER = r"\d+(?:\.\d+)?(?:[eE][+\-]?\d+)?|\.\d+(?:[eE][+\-]?\d+)?"
    BROKEN = r"[\"']"
    SIGN = r"\^\^|&&|\|\||[<>!]=|."


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of a query, and where it begins."""

    kind: TokenKind
    text: str
    start: int

    @property
    def end(self) -> int:
        return self.start + len(self.text)

    def is_word(self, word: str) -> bool:
        return self.kind is TokenKind.WORD and self.text.upper() == word


_SILENT = frozenset({TokenKind.SPACE, TokenKind.COMMENT})


@cache
def _pattern() -> re.Pattern[str]:
    """Made for the first query: it takes ten milliseconds, and every reader process imports this module."""
    return re.compile("|".join(f"(?P<{kind.name}>{kind.value})" for kind in TokenKind), re.DOTALL)


def tokens(sparql: str) -> list[Token]:
    """The tokens that mean something.

    >>> [token.text for token in tokens('ASK { ?s foaf:name "SERVICE"@en } # SERVICE')]
    ['ASK', '{', '?s', 'foaf:name', '"SERVICE"', '@en', '}']
    """
    return [token for token in _all(sparql) if token.kind not in _SILENT]


def _all(sparql: str) -> Iterator[Token]:
    for match in _pattern().finditer(sparql):
        yield Token(TokenKind[match.lastgroup or "SIGN"], match[0], match.start())


def place(sparql: str, offset: int) -> tuple[int, int]:
    """Line and column, both from one, of a place in a text.

    >>> place("ASK {\\n  ?s", 8)
    (2, 3)
    """
    before = sparql[:offset]
    return before.count("\n") + 1, offset - (before.rfind("\n") + 1) + 1


def offset_of(sparql: str, line: int, column: int) -> int:
    """The place that a line and a column name.

    >>> offset_of("ASK {\\n  ?s", 2, 3)
    8
    """
    lines = sparql.split("\n")
    return min(len(sparql), sum(len(text) + 1 for text in lines[: line - 1]) + column - 1)


def declared_prefixes(found: list[Token]) -> dict[str, str]:
    """The prefixes that a query declares itself."""
    return {
        name.text.removesuffix(":"): iri.text[1:-1]
        for word, name, iri in zip(found, found[1:], found[2:], strict=False)
        if word.is_word("PREFIX") and name.kind is TokenKind.NAME and iri.kind is TokenKind.IRI
    }


def full_iri(token: Token, prefixes: dict[str, str]) -> str:
    """The IRI that a token names, or ""."""
    if token.kind is TokenKind.IRI:
        return token.text[1:-1]
    if token.kind is not TokenKind.NAME:
        return ""
    prefix, _, local = token.text.partition(":")
    return prefixes[prefix] + re.sub(r"\\(.)", r"\1", local) if prefix in prefixes else ""


# ── ORDER BY, MIN and MAX that the engine answers rightly, and survives.

_DIRECTIONS = frozenset({"ASC", "DESC"})
_BEHIND_THE_ORDER = frozenset({"LIMIT", "OFFSET", "VALUES", "HAVING"})
_CALLED = frozenset({TokenKind.WORD, TokenKind.NAME, TokenKind.IRI})
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


def query_in_order(ask: Callable[[str], _Answer], sparql: str) -> _Answer:
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
        template = _EXTREMES.get(token.text.upper()) if token.kind is TokenKind.WORD else None
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
        direction = first.text if first.kind is TokenKind.WORD and first.text.upper() in _DIRECTIONS else ""
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
    if position < len(found) and found[position].kind is TokenKind.VARIABLE:
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
