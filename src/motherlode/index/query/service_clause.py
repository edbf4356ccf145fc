"""SERVICE in a query: our own word search, and the network.

The store's engine would answer SERVICE by asking the named server. That lets a query, perhaps one that came over HTTP,
send requests from this machine to wherever it likes, past politeness and the address guard; so it is refused unless the
user allows it. One service is ours: `SERVICE ml:search { ?s ml:matches "words" ; ml:score ?score }` is answered by the
word index. The engine's Python interface takes no handlers for services, so the pattern is replaced by what it means
before the query is run: a sub-select that binds the subjects the words lead to.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

import pyoxigraph as ox

from motherlode.index.query.diagnostics import QueryError, QueryProblem, problem_at
from motherlode.model.sparql import Token, TokenKind, declared_prefixes, full_iri, tokens
from motherlode.model.terms import PREFIXES

ML = PREFIXES["ml"]
SEARCH_SERVICES = frozenset({"urn:motherlode:search", ML + "search"})
MATCHES, SCORE, LIMIT, GRAPH, NODE = (ML + name for name in ("matches", "score", "limit", "graph", "node"))
_FOUND = ML + "found"
"""A function for the patterns that stand for searches: whether one of them has found a subject in a graph."""
_SEARCH_SYNTAX = (
    'SERVICE ml:search { ?s ml:matches "words" }, with ml:score ?score, ml:graph ?page and ml:limit 100 if wanted'
)
_MAX_SUBJECTS = 10_000
_WORDS_BEFORE_NAME = frozenset({"GRAPH", "FROM", "NAMED", "DESCRIBE"})
"""Words behind which a name may stand before a brace."""
_VALUES = frozenset(
    {
        TokenKind.VARIABLE,
        TokenKind.NAME,
        TokenKind.IRI,
        TokenKind.STRING,
        TokenKind.LANGUAGE,
        TokenKind.NUMBER,
        TokenKind.WORD,
    }
)
_BETWEEN = r"(?:\s|#[^\r\n]*+[\r\n])*+"
_SERVICE = re.compile(
    rf"(?=SERVICE{_BETWEEN}(?:SILENT)?{_BETWEEN}(?:<[^<>]*>|[?$]\w+|[^\s{{<>?$:]*:(?:\\.|[^\s{{#])*){_BETWEEN}\{{)",
    re.IGNORECASE,
)
"""The word with all that it needs, wherever it stands."""

Function = Callable[..., ox.Literal | None]
Lookup = Callable[[str, int], Sequence[tuple[str, str, float]]]
"""Words and a limit in; subject, graph and score out. Blank nodes begin with `_:`."""


@dataclass(frozen=True, slots=True)
class RewrittenQuery:
    """A query as the engine takes it."""

    text: str
    functions: dict[ox.NamedNode, Function]
    edits: tuple[tuple[int, int, int], ...] = ()
    """Start and end of what was replaced, and the length of what stands there now."""

    def original_offset(self, offset: int) -> int:
        """Where in the user's text a place in this one was."""
        for start, end, length in self.edits:
            if offset < start:
                break
            if offset < start + length:
                return start
            offset -= length - (end - start)
        return offset


def rewrite_services(sparql: str, lookup: Lookup | None, *, allow_network: bool = False) -> RewrittenQuery:
    """The query with our own services answered; QueryError where it wants what it may not have."""
    found = tokens(sparql)
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
                asked, end = _parse_pattern(sparql, found, named + 1, prefixes)
                _require_index(sparql, token, cached)
                edits.append((token.start, end, _subselect(asked, cached, len(edits))))
            elif not allow_network:
                raise QueryError(_service_refused(sparql, token.start))
        elif full_iri(token, prefixes) in (MATCHES, SCORE):
            _require_index(sparql, token, cached)
    text, made = _apply_edits(sparql, edits)
    functions: dict[ox.NamedNode, Function] = {
        ox.NamedNode(MATCHES): cached.matches,
        ox.NamedNode(SCORE): cached.score,
        ox.NamedNode(NODE): _node,
        ox.NamedNode(_FOUND): cached.is_found,
    }
    return RewrittenQuery(text, functions, made)


def _refuse_hidden(sparql: str, found: list[Token]) -> None:
    """Refuse SERVICE where our tokens do not show it, but the engine reads it.

    It wants no space around a keyword, so that `SERVICEx:a { … }` is one. And inside of parentheses `?a<x:b#c>` is a
    comparison and a comment to it, behind which our strings and comments may be its patterns.
    """
    for before, token, after in zip([None, *found], found, [*found[1:], None], strict=False):
        words = token.text.partition(":")[0].upper()
        if "SERVICE" not in words or token.kind not in (TokenKind.WORD, TokenKind.NAME) or token.is_word("SERVICE"):
            continue
        is_name = token.kind is TokenKind.NAME and (after is None or after.text != "{")
        if not is_name and not (before is not None and before.text.upper() in _WORDS_BEFORE_NAME):
            raise QueryError(_service_refused(sparql, token.start))
    if _is_ambiguous(found):
        shown = {token.start for token in found if token.is_word("SERVICE")}
        for match in _SERVICE.finditer(sparql):
            if match.start() not in shown:
                raise QueryError(_service_refused(sparql, match.start()))


def _is_ambiguous(found: list[Token]) -> bool:
    depth = 0
    for before, token in pairwise(found):
        depth += (before.text == "(") - (before.text == ")")
        is_behind_a_value = before.text == ")" or before.kind in _VALUES
        if depth > 0 and token.kind is TokenKind.IRI and "#" in token.text and is_behind_a_value:
            return True
    return False


def _service_refused(sparql: str, start: int) -> QueryProblem:
    return problem_at(
        sparql,
        start,
        "SERVICE asks another server, and that is not allowed",
        hint="a query could make this machine send requests anywhere; `motherlode query --allow-service` permits it. "
        'For words, use SERVICE ml:search { ?s ml:matches "words" }',
    )


def _require_index(sparql: str, token: Token, cached: _SearchFunctions) -> None:
    """Told before the query runs: what a function of it raises, the engine takes for no answer."""
    hint = "`motherlode search DIR --rebuild` makes one"
    if not cached.has_index:
        raise QueryError(problem_at(sparql, token.start, "this crawl has no index of words", hint=hint))
    try:
        cached.found("", 0)
    except (ValueError, OSError) as error:
        raise QueryError(
            problem_at(sparql, token.start, f"the index of words cannot be read: {error}", hint=hint)
        ) from error


def _apply_edits(sparql: str, edits: Sequence[tuple[int, int, str]]) -> tuple[str, tuple[tuple[int, int, int], ...]]:
    parts, made, last, shift = [], [], 0, 0
    for start, end, text in edits:
        parts += [sparql[last:start], text]
        made.append((start + shift, end + shift, len(text)))
        shift += len(text) - (end - start)
        last = end
    return "".join([*parts, sparql[last:]]), tuple((start, end, length) for start, end, length in made)


# ── the pattern ──────────────────────────────────────────────────────────────────────────────────────────


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
    """What stands between the braces of a search, and where they end."""
    inside, end = _tokens_in_braces(sparql, found, position)
    asked = _SearchPattern()
    place = 0
    while place < len(inside):
        if inside[place].text in (".", ";"):
            place += 1
            continue
        if inside[place].kind is TokenKind.VARIABLE:
            if asked.subject and inside[place].text != asked.subject:
                raise QueryError(
                    problem_at(sparql, inside[place].start, "a search has one subject", hint=_SEARCH_SYNTAX)
                )
            asked.subject = inside[place].text
            place += 1
        if place + 1 >= len(inside):
            raise QueryError(problem_at(sparql, inside[-1].start, "this search is not whole", hint=_SEARCH_SYNTAX))
        _set_property(sparql, asked, full_iri(inside[place], prefixes), inside[place + 1])
        place += 2
        if place < len(inside) and inside[place].kind is TokenKind.LANGUAGE:
            place += 1
    if not asked.subject or not asked.words:
        start = found[position].start if position < len(found) else len(sparql)
        raise QueryError(problem_at(sparql, start, "this search has no words", hint=_SEARCH_SYNTAX))
    return asked, end


def _tokens_in_braces(sparql: str, found: list[Token], position: int) -> tuple[list[Token], int]:
    if position >= len(found) or found[position].text != "{":
        start = found[position].start if position < len(found) else len(sparql)
        raise QueryError(problem_at(sparql, start, "a search stands between { and }", hint=_SEARCH_SYNTAX))
    for last in range(position + 1, len(found)):
        if found[last].text == "}":
            return found[position + 1 : last], found[last].end
    raise QueryError(problem_at(sparql, found[position].start, "this { is never closed", hint="a } is missing"))


def _set_property(sparql: str, asked: _SearchPattern, name: str, value: Token) -> None:
    if name == MATCHES and value.kind is TokenKind.STRING:
        try:
            asked.words = string_value(value.text)
        except SyntaxError as error:
            raise QueryError(problem_at(sparql, value.start, "this string has an escape that is none")) from error
    elif name == SCORE and value.kind is TokenKind.VARIABLE:
        asked.score = value.text
    elif name == GRAPH and value.kind is TokenKind.VARIABLE:
        asked.graph = value.text
    elif name == LIMIT and value.kind is TokenKind.NUMBER and value.text.isdigit():
        asked.limit = min(_MAX_SUBJECTS, int(value.text))
    else:
        raise QueryError(problem_at(sparql, value.start, "this is no part of a search", hint=_SEARCH_SYNTAX))


def string_value(spelled: str) -> str:
    """What a string of a query says."""
    quad: ox.Quad = next(iter(ox.parse(f"<urn:s> <urn:p> {spelled} .".encode(), ox.RdfFormat.TURTLE)))
    return quad.object.value if isinstance(quad.object, ox.Literal) else ""


def _subselect(asked: _SearchPattern, cached: _SearchFunctions, number: int) -> str:
    """The search as a pattern. What a query cannot name, blank nodes and IRIs of the wild web, is looked for instead.

    The graphs that hold such subjects are gone through, and those are taken that the search has found there.
    """
    words = str(ox.Literal(asked.words))
    found = cached.found(asked.words, asked.limit)
    graph = asked.graph or f"?ml_graph_{number}"
    within = [(subject, page) for subject, page, _ in found if _is_valid_iri(page)]
    rows = " ".join(f"(<{subject}> <{page}>)" for subject, page in within if _is_valid_iri(subject))
    graphs = " ".join(dict.fromkeys(f"<{page}>" for subject, page in within if not _is_valid_iri(subject)))
    shown = f"{asked.subject} {asked.score} {asked.graph}"
    score = f" BIND(<{SCORE}>({asked.subject}, {words}, {asked.limit}) AS {asked.score})" if asked.score else ""
    looked_for = (
        f"VALUES {graph} {{ {graphs} }} GRAPH {graph} {{ {asked.subject} ?ml_p_{number} ?ml_o_{number} }} "
        f"FILTER(<{_FOUND}>({asked.subject}, {graph}, {words}, {asked.limit}))"
    )
    return (
        f"{{ SELECT DISTINCT {shown} {{ {{ VALUES ({asked.subject} {graph}) {{ {rows} }} }} "
        f"UNION {{ {looked_for} }}{score} }} }}"
    )


def _node(term: object) -> ox.Literal | None:
    """`ml:node(?s)`: the label of a blank node as the store keeps it, so that one of them can be asked for again."""
    return ox.Literal(f"_:{term.value}") if isinstance(term, ox.BlankNode) else None


def _is_valid_iri(name: str) -> bool:
    """Blank nodes are not, and crawled IRIs may be such as a query cannot spell."""
    try:
        ox.NamedNode(name)
    except ValueError:
        return False
    return not name.startswith("_:")


def _name(subject: object) -> str:
    """A subject as the word index names it; "" for what is none."""
    if isinstance(subject, ox.BlankNode):
        return f"_:{subject.value}"
    return subject.value if isinstance(subject, ox.NamedNode) else ""


def _text(words: object) -> str:
    return words.value if isinstance(words, ox.Literal) else ""


def _number(limit: object) -> int:
    return int(limit.value) if isinstance(limit, ox.Literal) and limit.value.isdigit() else _MAX_SUBJECTS


class _SearchFunctions:
    """The word index as SPARQL functions; each search is made once a query."""

    def __init__(self, lookup: Lookup | None) -> None:
        self._lookup = lookup
        self.found = cache(self._search)
        self._subjects_in_graphs = cache(self._find_subjects)
        self._scores = cache(self._find_scores)

    @property
    def has_index(self) -> bool:
        return self._lookup is not None

    def _search(self, words: str, limit: int) -> Sequence[tuple[str, str, float]]:
        return self._lookup(words, limit) if self._lookup is not None else ()

    def _find_subjects(self, words: str, limit: int) -> frozenset[tuple[str, str]]:
        """Subjects with the graphs that they were found in."""
        return frozenset((subject, graph) for subject, graph, _ in self.found(words, limit))

    def _find_scores(self, words: str, limit: int) -> dict[str, float]:
        """The best score of each subject; the list begins with the best."""
        return {subject: score for subject, _, score in reversed(self.found(words, limit))}

    def is_found(self, subject: object, graph: object, words: object, limit: object) -> ox.Literal:
        """Whether a search with that limit gave the subject in that graph."""
        place = (_name(subject), _name(graph))
        return ox.Literal(place in self._subjects_in_graphs(_text(words), _number(limit)))

    def _score(self, subject: object, words: object, limit: int = _MAX_SUBJECTS) -> float | None:
        return self._scores(_text(words), limit).get(_name(subject))

    def matches(self, subject: object, words: object) -> ox.Literal:
        """`ml:matches(?s, "words")`: whether all that a page says of the subject holds all words."""
        return ox.Literal(self._score(subject, words) is not None)

    def score(self, subject: object, words: object, limit: object = None) -> ox.Literal | None:
        """`ml:score(?s, "words")`: how well; unbound where it does not match."""
        score = self._score(subject, words, _number(limit))
        return None if score is None else ox.Literal(score)
