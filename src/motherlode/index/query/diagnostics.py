"""Explain errors in SPARQL queries: line, column, a caret under the token at fault, and a hint.

The parser reports the furthest position that it reached, which may lie after the error by the length of a keyword. This
module moves it back to the token at fault, and recognizes common mistakes.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice, pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from motherlode.model.sparql import (
    Token,
    TokenKind,
    declared_prefixes,
    iterate_tokens,
    line_and_column,
    offset_of,
    tokens,
)
from motherlode.model.terms import PREFIXES

if TYPE_CHECKING:
    from motherlode.index.query.service_clause import RewrittenQuery

FORMS = ("SELECT", "ASK", "CONSTRUCT", "DESCRIBE")
UPDATES = frozenset({"INSERT", "DELETE", "LOAD", "CLEAR", "CREATE", "DROP", "COPY", "MOVE", "ADD", "WITH"})
_ERROR = re.compile(r"error at (\d+):(\d+): expected (?:one of )?(.*)", re.DOTALL)
_CLASS = re.compile(r"\[(?:'[^']*'|[^\]'])*\]", re.DOTALL)
_PAIRS = {"{": "}", "(": ")", "[": "]"}
_MAX_EXPECTED = 8
_LONGEST_FUNCTION = "ENCODE_FOR_URI"
"""If the parser names this function among what it expected, a function call was possible. If the query has a call
there, the arguments of the call are wrong."""
_DATA = json.loads(Path(__file__).with_name("sparql_words.json").read_text(encoding="utf-8"))
_KEYWORDS = frozenset(_DATA["keywords"].split())
"""The keywords of SPARQL 1.1, and further keywords of the engine."""
_SENTENCES: dict[str, tuple[str, str]] = {sentence: tuple(said) for sentence, said in _DATA["sentences"].items()}
"""Sentences in messages of the parser, each with our message and hint."""


@dataclass(frozen=True, slots=True)
class QueryProblem:
    """The reason why a query is rejected, and its position."""

    message: str
    line: int = 0
    """Counted from one, like `column`; 0 if the position is unknown."""
    column: int = 0
    source: str = ""
    hint: str = ""

    def __str__(self) -> str:
        where = f" at line {self.line}, column {self.column}" if self.line else ""
        text = f"the query cannot be read{where}: {self.message}"
        if self.source:
            start = max(0, self.column - 100)
            margin = f"{self.line:>4} | "
            caret = " " * (self.column - 1 - start)
            text += f"\n{margin}{self.source[start : start + 160]}\n{' ' * (len(margin) - 2)}| {caret}^"
        return text + (f"\nhint: {self.hint}" if self.hint else "")


class QueryError(ValueError):
    """A query that is invalid or not allowed."""

    def __init__(self, problem: QueryProblem) -> None:
        super().__init__(str(problem))
        self.problem = problem


def problem_at(sparql: str, offset: int, message: str, hint: str = "") -> QueryProblem:
    line, column = line_and_column(sparql, offset)
    return QueryProblem(message, line, column, sparql.split("\n")[line - 1].rstrip("\r"), hint)


def error_at(sparql: str, offset: int, message: str, hint: str = "") -> QueryError:
    """Return an error, to be raised, with a problem at an offset of the query."""
    return QueryError(problem_at(sparql, offset, message, hint))


def diagnose(sparql: str, error: str, *, rewritten: RewrittenQuery | None = None) -> QueryProblem:
    """Explain an error message of the parser. Its position is one in `rewritten`, if given, else in the query."""
    found = tokens(sparql)
    mistakes = (_no_query, _open_string, _unknown_prefix, _unknown_word, _pairs)
    problem = next(filter(None, (mistake(sparql, found) for mistake in mistakes)), None)
    match = _ERROR.match(error)
    if problem is not None or match is None:
        return problem or QueryProblem(error)
    reached = offset_of(rewritten.text if rewritten else sparql, int(match[1]), int(match[2]))
    if rewritten is not None:
        reached = rewritten.original_offset(reached)
    if (problem := _explain_sentence(sparql, found, match[3], reached)) is not None:
        return problem
    expected = _parse_expected(match[3])
    return _unexpected_token(sparql, found, _fault_offset(found, reached, expected, len(sparql)), expected)


# Mistakes that are visible in the tokens.


def _no_query(sparql: str, found: list[Token]) -> QueryProblem | None:
    if not found:
        return QueryProblem("the query is empty", hint="for example SELECT * { ?s ?p ?o } LIMIT 10")
    first = _after_prologue(iter(found))
    if first is None:
        return QueryProblem("there are only prefixes", hint="a query goes on with SELECT, ASK, CONSTRUCT or DESCRIBE")
    if first.text.upper() in UPDATES:
        return problem_at(sparql, first.start, f"{first.text.upper()} is an update", "a crawl's store can only be read")
    if first.text.upper() in FORMS:
        return None
    alike = difflib.get_close_matches(first.text.upper(), FORMS, 1, 0.6)
    hint = f"did you mean {alike[0]}?" if alike else "a query begins with SELECT, ASK, CONSTRUCT or DESCRIBE"
    return problem_at(sparql, first.start, f"{first.text!r} is not a query form", hint=hint)


def _after_prologue(found: Iterator[Token]) -> Token | None:
    for token in found:
        if token.is_word("PREFIX"):
            list(islice(found, 2))
        elif token.is_word("BASE"):
            next(found, None)
        else:
            return token
    return None


def query_form(sparql: str) -> str:
    """Return the form of a query in capitals; "" if it has none."""
    first = _after_prologue(iterate_tokens(sparql))
    return first.text.upper() if first is not None and first.text.upper() in FORMS else ""


def _unknown_prefix(sparql: str, found: list[Token]) -> QueryProblem | None:
    known = {**PREFIXES, **declared_prefixes(found)}
    for before, token in zip([None, *found], found, strict=False):
        if token.kind is not TokenKind.NAME or (before is not None and before.is_word("PREFIX")):
            continue
        prefix = token.text.partition(":")[0]
        if prefix in known:
            continue
        if before is not None and before.text == "<" and before.end == token.start:
            return problem_at(sparql, before.start, *_SENTENCES["IRI parsing failed"])
        alike = difflib.get_close_matches(prefix, known, 1, 0.5)
        guess = f"did you mean {alike[0]}:? Otherwise declare" if alike else "declare"
        hint = f"{guess} it: PREFIX {prefix}: <…>"
        return problem_at(sparql, token.start, f"the prefix {prefix}: is not known", hint)
    return None


def _unknown_word(sparql: str, found: list[Token]) -> QueryProblem | None:
    for token in found:
        if token.kind is TokenKind.WORD and token.text.upper() not in _KEYWORDS:
            alike = difflib.get_close_matches(token.text.upper(), _KEYWORDS, 1, 0.7)
            names = "names are written ?name, prefix:name or <http://…>"
            hint = f"did you mean {alike[0]}?" if alike and not token.text.islower() else names
            return problem_at(sparql, token.start, f"{token.text!r} is not a keyword of SPARQL", hint)
    return None


def _open_string(sparql: str, found: list[Token]) -> QueryProblem | None:
    for token in found:
        if token.kind is TokenKind.BROKEN:
            hint = "strings over several lines need three quotes" if "\n" in sparql[token.start :] else ""
            return problem_at(sparql, token.start, "this string is never closed", hint=hint)
    return None


def _pairs(sparql: str, found: list[Token]) -> QueryProblem | None:
    waiting: list[Token] = []
    for token in found:
        if token.kind is not TokenKind.SIGN:
            continue
        if token.text in _PAIRS:
            waiting.append(token)
        elif token.text in _PAIRS.values():
            if not waiting:
                return problem_at(sparql, token.start, f"this {token.text} closes nothing")
            partner = waiting.pop()
            if _PAIRS[partner.text] != token.text:
                line, column = line_and_column(sparql, partner.start)
                message = f"this {token.text} comes before the {partner.text} of line {line}, column {column} is closed"
                return problem_at(sparql, token.start, message, hint=f"a {_PAIRS[partner.text]} is missing before it")
    if not waiting:
        return None
    last = waiting[-1]
    return problem_at(sparql, last.start, f"this {last.text} is never closed", f"a {_PAIRS[last.text]} is missing")


# Mistakes that the parser reports as a sentence.


def _explain_sentence(sparql: str, found: list[Token], expected_text: str, reached: int) -> QueryProblem | None:
    last_start = max((token.start for token in found if token.start < reached), default=0)
    for sentence, (message, hint) in _SENTENCES.items():
        if sentence in expected_text:
            selects = (token.start for token in found if token.is_word("SELECT"))
            return problem_at(sparql, next(selects, 0) if "SELECT" in sentence else last_start, message, hint)
    for part in expected_text.split(", "):
        if re.fullmatch(r"[A-Z][a-z']+( [\w'?$]+){3,}\.?", part):
            return problem_at(sparql, last_start, part[0].lower() + part[1:])
    return None


# All other mistakes.


def _parse_expected(expected_text: str) -> list[str]:
    """Return what the parser expected, without character classes."""
    parts = re.split(r",\s+(?![^\"]*\",?)|,\s+(?=\")|(?<=\"),\s+", _CLASS.sub("", expected_text))
    return [part.strip().strip('"') for part in parts if part.strip('" \n\r\t')]


def _fault_offset(found: list[Token], reached: int, expected: list[str], end: int) -> int:
    """Return the start of the token at fault: where the parser stopped, or earlier by the length of a keyword."""
    starts = {token.start for token in found}
    words = (word for word in expected if word.replace("_", "").isalpha())
    tried = [] if reached in starts and len(expected) > 1 else sorted({len(word) for word in words})
    for length in tried:
        if reached - length in starts:
            return reached - length
    if reached in starts:
        return reached
    if reached >= end:
        return end
    return max((token.start for token in found if token.start < reached), default=0)


def _unexpected_token(sparql: str, found: list[Token], start: int, expected: list[str]) -> QueryProblem:
    token = next((token for token in found if token.start == start), None)
    likely = sorted({word for word in expected if len(word) < 20}, key=lambda word: (word.isalpha(), word))
    shown = ", ".join(likely[:_MAX_EXPECTED]) + (" …" if len(likely) > _MAX_EXPECTED else "")
    hint = f"possible here: {shown}" if shown else ""
    if token is None:
        message = "the query ends too early" if hint else "the parts of the query contradict each other"
        hint = hint or "is a variable given a value twice, by BIND, VALUES or AS?"
        return problem_at(sparql, len(sparql.rstrip()), message, hint)
    calls = (before for before, after in pairwise(found) if before.kind is TokenKind.WORD and after.text == "(")
    if token in calls and _LONGEST_FUNCTION in expected:
        message = f"the arguments of {token.text} are wrong"
        return problem_at(sparql, start, message, "are all its arguments there, with commas between them?")
    return problem_at(sparql, start, f"{token.text[:40]!r} is not possible here", hint)
