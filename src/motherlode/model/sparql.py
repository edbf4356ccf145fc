"""Split SPARQL queries into tokens (SPARQL 1.1, section 19.8), and give ORDER BY, MIN and MAX a total order.

Text inside of a string, an IRI or a comment is never taken for a keyword. The tokens cover the whole text; a quote
that is never closed is a token of kind `BROKEN`.

Oxigraph compares some terms in circles (a < b < c < a), and its sort then fails. `with_total_order` rewrites a query
such that any two terms have one order.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from enum import Enum
from functools import cache, lru_cache
from typing import NamedTuple, TypeVar

_IN_NAME = r"\w:\u0080-\U0010ffff"
"""Characters of the local part of a name. All of non-ASCII is included; the engine refuses invalid characters."""
_ESCAPED = r"%[0-9A-Fa-f]{2}|\\[_~.\-!$&'()*+,;=/?#@%]"


class TokenKind(Enum):
    """The kinds of tokens with their patterns, in the order in which they are tried."""

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


class Token(NamedTuple):
    """A token of a query with its offset."""

    kind: TokenKind
    text: str
    start: int

    @property
    def end(self) -> int:
        return self.start + len(self.text)

    def is_word(self, word: str) -> bool:
        """Return whether the token is this keyword, given in upper case."""
        return self.kind is TokenKind.WORD and self.text.upper() == word


_KINDS = dict(TokenKind.__members__)
_IGNORED = frozenset({TokenKind.SPACE.name, TokenKind.COMMENT.name})


@cache
def _pattern() -> re.Pattern[str]:
    """Compile the pattern on first use, because it takes 10 ms and every worker process imports this module."""
    return re.compile("|".join(f"(?P<{kind.name}>{kind.value})" for kind in TokenKind), re.DOTALL)


def tokens(sparql: str) -> list[Token]:
    """Return the tokens of a query without white space and comments.

    >>> [token.text for token in tokens('ASK { ?s foaf:name "SERVICE"@en } # SERVICE')]
    ['ASK', '{', '?s', 'foaf:name', '"SERVICE"', '@en', '}']
    """
    return list(iterate_tokens(sparql))


def iterate_tokens(sparql: str) -> Iterator[Token]:
    """Yield the tokens of `tokens` one by one, so that the rest of a long query need not be read."""
    for match in _pattern().finditer(sparql):
        name = match.lastgroup or TokenKind.SIGN.name
        if name not in _IGNORED:
            yield Token(_KINDS[name], match[0], match.start())


def line_and_column(sparql: str, offset: int) -> tuple[int, int]:
    """Return the one-based line and column of an offset.

    >>> line_and_column("ASK {\\n  ?s", 8)
    (2, 3)
    """
    before = sparql[:offset]
    return before.count("\n") + 1, offset - (before.rfind("\n") + 1) + 1


def offset_of(sparql: str, line: int, column: int) -> int:
    """Return the offset of a one-based line and column.

    >>> offset_of("ASK {\\n  ?s", 2, 3)
    8
    """
    lines = sparql.split("\n")
    return min(len(sparql), sum(len(text) + 1 for text in lines[: line - 1]) + column - 1)


def declared_prefixes(found: list[Token]) -> dict[str, str]:
    """Return the prefixes that a query declares."""
    return {
        name.text.removesuffix(":"): iri.text[1:-1]
        for word, name, iri in zip(found, found[1:], found[2:], strict=False)
        if word.is_word("PREFIX") and name.kind is TokenKind.NAME and iri.kind is TokenKind.IRI
    }


def full_iri(token: Token, prefixes: dict[str, str]) -> str:
    """Return the IRI of an IRI token or a prefixed name, or "" if the token is neither."""
    if token.kind is TokenKind.IRI:
        return token.text[1:-1]
    if token.kind is not TokenKind.NAME:
        return ""
    prefix, _, local = token.text.partition(":")
    return prefixes[prefix] + re.sub(r"\\(.)", r"\1", local) if prefix in prefixes else ""


# ── Total order for ORDER BY, MIN and MAX ────────────────────────────────────────────────────────────

_DIRECTIONS = frozenset({"ASC", "DESC"})
_AFTER_ORDER_BY = frozenset({"LIMIT", "OFFSET", "VALUES", "HAVING"})
_CALL_KINDS = frozenset({TokenKind.WORD, TokenKind.NAME, TokenKind.IRI})
"""Kinds of tokens that may precede the parenthesis of a call, or the brace of EXISTS and NOT EXISTS."""
_BOOLEAN_KEYWORDS = frozenset({"EXISTS", "NOT"})
"""Keywords of conditions with boolean values. They need no rewriting."""
_OPENING, _CLOSING = frozenset("({"), frozenset(")}")
_Result = TypeVar("_Result")
_Edit = tuple[int, int, str]
"""Start offset, end offset and replacement."""

# The templates below are SPARQL, in which ~ stands for the sort expression. They use full IRIs, because a query may
# redefine any prefix.


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
"""Order of kinds: text, times, durations, dates, numbers, triple terms. Blank nodes and IRIs have no datatype, so the
expression is unbound for them and they come first."""
_DATE = (
    f"ADJUST(COALESCE({_DATETIME}(~), {_DATETIME}(CONCAT(STR(~), '-01T00:00:00')), "
    f"{_DATETIME}(CONCAT(STR(~), '-01-01T00:00:00'))), {_UTC})"
)
_NUMBER = f"COALESCE({_xsd('decimal')}(~), ~)"
"""Decimal if possible, because comparisons of large integers with floating-point numbers are circular, too."""
_VALUE = (
    f"IF(isLiteral(~), IF(isNumeric(~), {_NUMBER}, IF(DATATYPE(~) IN {_DATES}, {_DATE}, "
    f"IF(DATATYPE(~) IN {_DURATIONS}, {_xsd('duration')}(~), IF(DATATYPE(~) = {_TIME}, ADJUST(~, {_UTC}), ~)))), "
    "IF(isTRIPLE(~), SUBJECT(~), ~))"
)
"""The term converted such that all terms of its kind are comparable by value. Unbound if the conversion fails, as for
an invalid date. For a triple term it is the subject, which is never a literal or a triple term."""
_MAX_DEPTH = 3
"""Nesting depth to which triple terms are compared. Terms that differ only below it count as equal."""
_GIVES_TRIPLES = frozenset({"IF", "COALESCE", "SAMPLE", "MIN", "MAX", "TRIPLE", "OBJECT"})
"""Functions of SPARQL whose value may be a triple term."""

_EXTREMES = {
    "MIN": "IF(MIN(isNumeric(~)), MIN(~), MIN(IF(isNumeric(~), '\U0010ffff', ~)))",
    "MAX": f"IF(MAX(isNumeric(~)), MAX(IF(isNumeric(~), ~, '-INF'^^{_xsd('double')})), MAX(~))",
}
"""MIN returns the least text, or the least number if all values are numbers. MAX returns the greatest number, or the
greatest text if there is no number."""


def query_in_order(ask: Callable[[str], _Result], sparql: str) -> _Result:
    """Evaluate the query with a total order. If the engine reports a syntax error, evaluate the original query.

    The second call is for the error message, which then refers to the text that the user wrote.
    """
    try:
        return ask(with_total_order(sparql))
    except SyntaxError:
        return ask(sparql)


@lru_cache(maxsize=64)
def with_total_order(sparql: str) -> str:
    """Rewrite MIN, MAX and each ORDER BY condition of a query such that any two terms have one order."""
    words = sparql.upper()
    if not any(word in words for word in ("ORDER", *_EXTREMES)):
        return sparql
    return _apply_edits(_apply_edits(sparql, _edit_extremes), _edit_orders)


def sort_keys(expression: str, direction: str = "ASC") -> str:
    """Return the conditions that replace one condition of ORDER BY.

    They compare the kinds of two terms first, then their values, then the parts of triple terms.
    """
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
    return first is not None and (first.kind not in _CALL_KINDS or first.text.upper() in _GIVES_TRIPLES)


def _apply_edits(sparql: str, edits: Callable[[str, list[Token]], Iterator[_Edit]]) -> str:
    parts, last = [], 0
    for start, end, text in edits(sparql, _outside_service(tokens(sparql))):
        if start >= last:  # not inside of the previous replacement
            parts += [sparql[last:start], text]
            last = end
    return "".join([*parts, sparql[last:]])


def _outside_service(found: list[Token]) -> list[Token]:
    """Return the tokens outside of SERVICE clauses.

    Other servers execute these clauses, and they may not know the function ADJUST, which the edits insert.
    """
    here, position = [], 0
    while position < len(found):
        behind = _expression_end(found, position) if found[position].is_word("SERVICE") else None
        if behind is None:
            here.append(found[position])
        position = behind or position + 1
    return here


def _edit_extremes(sparql: str, found: list[Token]) -> Iterator[_Edit]:
    for position, token in enumerate(found):
        template = _EXTREMES.get(token.text.upper()) if token.kind is TokenKind.WORD else None
        end = _expression_end(found, position) if template is not None else None
        if template is None or end is None:
            continue
        first = position + 2
        first += found[first].is_word("DISTINCT")  # DISTINCT changes neither MIN nor MAX
        expression = sparql[found[first].start : found[end - 2].end]
        yield token.start, found[end - 1].end, template.replace("~", f"({expression})")


def _edit_orders(sparql: str, found: list[Token]) -> Iterator[_Edit]:
    for position, token in enumerate(found):
        if token.is_word("BY") and position and found[position - 1].is_word("ORDER"):
            yield from _edit_conditions(sparql, found, position + 1)


def _edit_conditions(sparql: str, found: list[Token], position: int) -> Iterator[_Edit]:
    """Yield the edits of the conditions of one ORDER BY. Stop at the first token that begins no condition."""
    while position < len(found):
        first = found[position]
        direction = first.text if first.kind is TokenKind.WORD and first.text.upper() in _DIRECTIONS else ""
        begin = position + bool(direction)
        end = _expression_end(found, begin)
        if end is None:
            return
        if found[begin].text.upper() not in _BOOLEAN_KEYWORDS:
            expression = sparql[found[begin].start : found[end - 1].end]
            yield first.start, found[end - 1].end, sort_keys(expression, direction or "ASC")
        position = end


def _expression_end(found: list[Token], position: int) -> int | None:
    """Return the index after the variable, call or parentheses that begin at `position`; None if there are none."""
    if position < len(found) and found[position].kind is TokenKind.VARIABLE:
        return position + 1
    while position < len(found) and found[position].kind in _CALL_KINDS:
        if found[position].text.upper() in _AFTER_ORDER_BY:
            return None
        position += 1
    depth = 0
    for index in range(position, len(found)):
        depth += (found[index].text in _OPENING) - (found[index].text in _CLOSING)
        if depth <= 0:
            return index + 1 if index > position else None
    return None


def select_variables(sparql: str, names: Sequence[str]) -> str:
    """Return a query with `SELECT ?a ?b` instead of `SELECT *`; unchanged if its outermost SELECT names its variables.

    >>> select_variables("SELECT DISTINCT * { ?s ?p ?o }", ["s", "p", "o"])
    'SELECT DISTINCT ?s ?p ?o { ?s ?p ?o }'
    """
    found = tokens(sparql)
    for index, token in enumerate(found):
        if not token.is_word("SELECT"):
            continue
        rest = found[index + 1 : index + 3]
        star = next((one for one in rest if not (one.is_word("DISTINCT") or one.is_word("REDUCED"))), None)
        if star is None or star.text != "*" or not names:
            break
        variables = " ".join(f"?{name}" for name in names)
        before = sparql[: star.start]
        return f"{before}{'' if before[-1:].isspace() else ' '}{variables} {sparql[star.end :].lstrip(' ')}"
    return sparql


_SELECT_ALL = re.compile(r"select\s*(?:(?:distinct|reduced)\s*)?[*]", re.IGNORECASE)


def order_variables(names: list[str], sparql: str) -> list[str]:
    """Return the variables of `SELECT *` in the order of the query. The engine sorts them by name."""
    if not _SELECT_ALL.search(sparql) or select_variables(sparql, names) == sparql:
        return names
    matches = {name: re.search(rf"[?$]{re.escape(name)}\b", sparql) for name in names}
    return sorted(names, key=lambda name: match.start() if (match := matches[name]) else len(sparql))
