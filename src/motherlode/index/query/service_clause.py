"""SERVICE clauses: refuse requests to other servers, and rewrite our own word search.

By SERVICE, a query could send requests to any address, without politeness and address guard. So it is refused unless
the user allows it. Our own service, `SERVICE ml:search { ?s ml:matches "words" ; ml:score ?score }`, is replaced by a
sub-select of the subjects that the search has found, because the engine has no handlers for services.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

import pyoxigraph as ox

from motherlode.index.query.diagnostics import QueryError, error_at
from motherlode.model.sparql import Token, TokenKind, declared_prefixes, full_iri, tokens
from motherlode.model.terms import PREFIXES

ML = PREFIXES["ml"]
SEARCH_SERVICES = frozenset({"urn:motherlode:search", ML + "search"})
MATCHES, SCORE, LIMIT, GRAPH, NODE = (ML + name for name in ("matches", "score", "limit", "graph", "node"))
_FOUND = ML + "found"
"""A function that rewritten queries call: whether a search has found a subject in a graph."""
_SEARCH_SYNTAX = (
    'SERVICE ml:search { ?s ml:matches "words" }, with ml:score ?score, ml:graph ?page and ml:limit 100 if wanted'
)
_WORDS_OF_SEARCHES = ("SERVICE", "MATCHES", "SCORE")
"""A query without any of these, in capitals, has no SERVICE clause and no call of the word search."""
_MAX_SUBJECTS = 10_000
_WORDS_BEFORE_NAME = frozenset({"GRAPH", "FROM", "NAMED", "DESCRIBE"})
"""Keywords that may be followed by a name and an opening brace."""
_VALUES = frozenset(TokenKind) - {TokenKind.BLANK, TokenKind.BROKEN, TokenKind.SIGN}
"""Kinds of tokens that can be the left side of a comparison."""
_BETWEEN = r"(?:\s|#[^\r\n]*+[\r\n])*+"
_SERVICE = re.compile(
    rf"(?=SERVICE{_BETWEEN}(?:SILENT)?{_BETWEEN}(?:<[^<>]*>|[?$]\w+|[^\s{{<>?$:]*:(?:\\.|[^\s{{#])*){_BETWEEN}\{{)",
    re.IGNORECASE,
)

Function = Callable[..., ox.Literal | None]
Lookup = Callable[[str, int], Sequence[tuple[str, str, float]]]
"""Takes words and a limit; returns subject, graph and score of each result. Blank nodes begin with `_:`."""


@dataclass(frozen=True, slots=True)
class RewrittenQuery:
    """A query without SERVICE clauses for the word search, and the functions that it calls."""

    text: str
    functions: dict[ox.NamedNode, Function]
    edits: tuple[tuple[int, int, int], ...] = ()
    """Start and end of each replaced part, and the length of its replacement."""

    def original_offset(self, offset: int) -> int:
        """Return the offset in the user's text of an offset in this text."""
        for start, end, length in self.edits:
            if offset < start:
                break
            if offset < start + length:
                return start
            offset -= length - (end - start)
        return offset


def rewrite_services(sparql: str, lookup: Lookup | None, *, allow_network: bool = False) -> RewrittenQuery:
    """Replace the word searches of a query. QueryError if a search is malformed or another service is not allowed."""
    words = sparql.upper()
    found = tokens(sparql) if any(word in words for word in _WORDS_OF_SEARCHES) else []
    prefixes = {**PREFIXES, **declared_prefixes(found)}
    cached = _SearchFunctions(lookup)
    edits: list[tuple[int, int, str]] = []
    if not allow_network:
        _refuse_hidden(sparql, found)
    for position, token in enumerate(found):
        if token.is_word("SERVICE") and not (edits and token.start < edits[-1][1]):
            named = position + 1 + (position + 1 < len(found) and found[position + 1].is_word("SILENT"))
            iri = full_iri(found[named], prefixes) if named < len(found) else ""
            if iri in SEARCH_SERVICES:
                pattern, end = _parse_pattern(sparql, found, named + 1, prefixes)
                _require_index(sparql, token, cached)
                edits.append((token.start, end, _subselect(pattern, cached, len(edits))))
            elif not allow_network:
                raise _service_refused(sparql, token.start)
        elif full_iri(token, prefixes) in (MATCHES, SCORE):
            _require_index(sparql, token, cached)
    text, made = _apply_edits(sparql, edits)
    functions: dict[str, Function] = {
        MATCHES: cached.matches,
        SCORE: cached.score,
        NODE: _node,
        _FOUND: cached.is_found,
    }
    return RewrittenQuery(text, {ox.NamedNode(name): function for name, function in functions.items()}, made)


def _refuse_hidden(sparql: str, found: list[Token]) -> None:
    """Refuse SERVICE where only the engine sees it, as in `SERVICEx:a` or after `?a<x:b#c>` in parentheses."""
    for before, token, after in zip([None, *found], found, [*found[1:], None], strict=False):
        words = token.text.partition(":")[0].upper()
        if "SERVICE" not in words or token.kind not in (TokenKind.WORD, TokenKind.NAME) or token.is_word("SERVICE"):
            continue
        is_name = token.kind is TokenKind.NAME and (after is None or after.text != "{")
        if not is_name and not (before is not None and before.text.upper() in _WORDS_BEFORE_NAME):
            raise _service_refused(sparql, token.start)
    if _is_ambiguous(found):
        shown = {token.start for token in found if token.is_word("SERVICE")}
        for match in _SERVICE.finditer(sparql):
            if match.start() not in shown:
                raise _service_refused(sparql, match.start())


def _is_ambiguous(found: list[Token]) -> bool:
    depth = 0
    for before, token in pairwise(found):
        depth += (before.text == "(") - (before.text == ")")
        is_behind_a_value = before.text == ")" or before.kind in _VALUES
        if depth > 0 and token.kind is TokenKind.IRI and "#" in token.text and is_behind_a_value:
            return True
    return False


def _service_refused(sparql: str, start: int) -> QueryError:
    hint = (
        "a query could make this machine send requests anywhere; `motherlode query --allow-service` permits it. "
        'For words, use SERVICE ml:search { ?s ml:matches "words" }'
    )
    return error_at(sparql, start, "SERVICE sends requests to another server, which is not allowed", hint)


def _require_index(sparql: str, token: Token, cached: _SearchFunctions) -> None:
    """Raise QueryError if the crawl has no readable word index.

    It is checked before the query runs, because an exception inside a SPARQL function only makes its result unbound.
    """
    hint = "`motherlode search DIR --rebuild` makes one"
    if not cached.has_index:
        raise error_at(sparql, token.start, "this crawl has no word index", hint=hint)
    try:
        cached.found("", 0)
    except (ValueError, OSError) as error:
        raise error_at(sparql, token.start, f"the word index cannot be read: {error}", hint) from error


def _apply_edits(sparql: str, edits: Sequence[tuple[int, int, str]]) -> tuple[str, tuple[tuple[int, int, int], ...]]:
    parts, made, last, shift = [], [], 0, 0
    for start, end, text in edits:
        parts += [sparql[last:start], text]
        made.append((start + shift, end + shift, len(text)))
        shift += len(text) - (end - start)
        last = end
    return "".join([*parts, sparql[last:]]), tuple(made)


# The pattern of a word search.


@dataclass(slots=True)
class _SearchPattern:
    subject: str = ""
    words: str = ""
    score: str = ""
    graph: str = ""
    limit: int = _MAX_SUBJECTS


def _parse_pattern(
    sparql: str, found: list[Token], position: int, prefixes: dict[str, str]
) -> tuple[_SearchPattern, int]:
    inside, end = _tokens_in_braces(sparql, found, position)
    pattern = _SearchPattern()
    index = 0
    while index < len(inside):
        if inside[index].text in (".", ";"):
            index += 1
            continue
        if inside[index].kind is TokenKind.VARIABLE:
            if pattern.subject and inside[index].text != pattern.subject:
                raise error_at(sparql, inside[index].start, "a search has one subject", _SEARCH_SYNTAX)
            pattern.subject = inside[index].text
            index += 1
        if index + 1 >= len(inside):
            raise error_at(sparql, inside[-1].start, "this search is incomplete", hint=_SEARCH_SYNTAX)
        _set_property(sparql, pattern, full_iri(inside[index], prefixes), inside[index + 1])
        index += 2
        if index < len(inside) and inside[index].kind is TokenKind.LANGUAGE:
            index += 1
    if not pattern.subject or not pattern.words:
        raise error_at(sparql, found[position].start, "this search has no words", hint=_SEARCH_SYNTAX)
    return pattern, end


def _tokens_in_braces(sparql: str, found: list[Token], position: int) -> tuple[list[Token], int]:
    if position >= len(found) or found[position].text != "{":
        start = found[position].start if position < len(found) else len(sparql)
        raise error_at(sparql, start, "a search must be enclosed in { and }", hint=_SEARCH_SYNTAX)
    for last in range(position + 1, len(found)):
        if found[last].text == "}":
            return found[position + 1 : last], found[last].end
    raise error_at(sparql, found[position].start, "this { is never closed", hint="a } is missing")


def _set_property(sparql: str, pattern: _SearchPattern, name: str, value: Token) -> None:
    if name == MATCHES and value.kind is TokenKind.STRING:
        try:
            quad: ox.Quad = next(iter(ox.parse(f"<urn:s> <urn:p> {value.text} .".encode(), ox.RdfFormat.TURTLE)))
        except SyntaxError as error:
            raise error_at(sparql, value.start, "this string has an invalid escape") from error
        pattern.words = quad.object.value if isinstance(quad.object, ox.Literal) else ""
    elif name == SCORE and value.kind is TokenKind.VARIABLE:
        pattern.score = value.text
    elif name == GRAPH and value.kind is TokenKind.VARIABLE:
        pattern.graph = value.text
    elif name == LIMIT and value.kind is TokenKind.NUMBER and value.text.isdigit():
        pattern.limit = min(_MAX_SUBJECTS, int(value.text))
    else:
        raise error_at(sparql, value.start, "this is not part of a search", hint=_SEARCH_SYNTAX)


def _subselect(pattern: _SearchPattern, cached: _SearchFunctions, number: int) -> str:
    """Return the sub-select for a search. Blank nodes and invalid IRIs are found by a scan of their graphs."""
    words = str(ox.Literal(pattern.words))
    found = cached.found(pattern.words, pattern.limit)
    graph = pattern.graph or f"?ml_graph_{number}"
    within = [(subject, page) for subject, page, _ in found if _is_valid_iri(page)]
    rows = " ".join(f"(<{subject}> <{page}>)" for subject, page in within if _is_valid_iri(subject))
    graphs = " ".join(dict.fromkeys(f"<{page}>" for subject, page in within if not _is_valid_iri(subject)))
    shown = f"{pattern.subject} {pattern.score} {pattern.graph}"
    score = f" BIND(<{SCORE}>({pattern.subject}, {words}, {pattern.limit}) AS {pattern.score})" if pattern.score else ""
    looked_for = (
        f"VALUES {graph} {{ {graphs} }} GRAPH {graph} {{ {pattern.subject} ?ml_p_{number} ?ml_o_{number} }} "
        f"FILTER(<{_FOUND}>({pattern.subject}, {graph}, {words}, {pattern.limit}))"
    )
    return (
        f"{{ SELECT DISTINCT {shown} {{ {{ VALUES ({pattern.subject} {graph}) {{ {rows} }} }} "
        f"UNION {{ {looked_for} }}{score} }} }}"
    )


def _node(term: object) -> ox.Literal | None:
    """The function `ml:node(?s)`: the label of a blank node in the store, by which a later query can identify it."""
    return ox.Literal(f"_:{term.value}") if isinstance(term, ox.BlankNode) else None


def _is_valid_iri(name: str) -> bool:
    """Return whether a query can contain the name as an IRI. Blank nodes and some crawled IRIs are not valid."""
    try:
        ox.NamedNode(name)
    except ValueError:
        return False
    return not name.startswith("_:")


def _name(subject: object) -> str:
    """Return the string by which the word index identifies a subject; "" for a literal."""
    if isinstance(subject, ox.BlankNode):
        return f"_:{subject.value}"
    return subject.value if isinstance(subject, ox.NamedNode) else ""


def _text(words: object) -> str:
    return words.value if isinstance(words, ox.Literal) else ""


def _number(limit: object) -> int:
    return int(limit.value) if isinstance(limit, ox.Literal) and limit.value.isdigit() else _MAX_SUBJECTS


class _SearchFunctions:
    """The SPARQL functions of the word index. Each search is executed once per query."""

    def __init__(self, lookup: Lookup | None) -> None:
        self.has_index = lookup is not None
        self.found = cache(lookup or (lambda words, limit: ()))
        self._subjects_in_graphs = cache(self._find_subjects)
        self._scores = cache(self._find_scores)

    def _find_subjects(self, words: str, limit: int) -> frozenset[tuple[str, str]]:
        return frozenset((subject, graph) for subject, graph, _ in self.found(words, limit))

    def _find_scores(self, words: str, limit: int) -> dict[str, float]:
        """Return the best score of each subject. The results of a search are sorted by score."""
        return {subject: score for subject, _, score in reversed(self.found(words, limit))}

    def is_found(self, subject: object, graph: object, words: object, limit: object) -> ox.Literal:
        found = (_name(subject), _name(graph))
        return ox.Literal(found in self._subjects_in_graphs(_text(words), _number(limit)))

    def matches(self, subject: object, words: object) -> ox.Literal:
        """The function `ml:matches(?s, "words")`: whether the subject's literals on one page have all words."""
        return ox.Literal(self.score(subject, words) is not None)

    def score(self, subject: object, words: object, limit: object = None) -> ox.Literal | None:
        """The function `ml:score(?s, "words")`: the score of the match; unbound without a match."""
        score = self._scores(_text(words), _number(limit)).get(_name(subject))
        return None if score is None else ox.Literal(score)
