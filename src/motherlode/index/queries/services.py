"""SERVICE in a query: our own word search, and the network.

The store's engine would answer SERVICE by asking the named server. That lets a query, perhaps one that came over HTTP,
send requests from this machine to wherever it likes, past politeness and the address guard; so it is refused unless the
user allows it. One service is ours: `SERVICE ml:search { ?s ml:matches "words" ; ml:score ?score }` is answered by the
word index. The engine's Python interface takes no handlers for services, so the pattern is replaced by what it means
before the query is run: a sub-select that binds the subjects the words lead to.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pyoxigraph as ox

from motherlode.index.queries.problems import Problem, QueryError, at
from motherlode.index.queries.tokens import Kind, Token, declared_prefixes, full_iri, tokens
from motherlode.model.prefixes import PREFIXES

ML = PREFIXES["ml"]
SEARCH_SERVICES = frozenset({"urn:motherlode:search", ML + "search"})
MATCHES, SCORE, LIMIT, GRAPH, NODE = (ML + name for name in ("matches", "score", "limit", "graph", "node"))
_SHAPE = 'SERVICE ml:search { ?s ml:matches "words" }, with ml:score ?score, ml:graph ?page and ml:limit 100 if wanted'
_MOST = 10_000

Function = Callable[..., ox.Literal | None]
Lookup = Callable[[str, int], Sequence[tuple[str, str, float]]]
"""Words and a limit in; subject, graph and score out. Blank nodes begin with `_:`."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A query as the engine takes it."""

    text: str
    functions: dict[ox.NamedNode, Function]
    edits: tuple[tuple[int, int, int], ...] = ()
    """Start and end of what was replaced, and the length of what stands there now."""

    def original(self, offset: int) -> int:
        """Where in the user's text a place in this one was."""
        for start, end, length in self.edits:
            if offset < start:
                break
            if offset < start + length:
                return start
            offset -= length - (end - start)
        return offset


def prepared(sparql: str, lookup: Lookup | None, *, allow_network: bool = False) -> Prepared:
    """The query with our own services answered; QueryError where it wants what it may not have."""
    found = tokens(sparql)
    prefixes = {**PREFIXES, **declared_prefixes(found)}
    cached = _Cached(lookup)
    edits: list[tuple[int, int, str]] = []
    for position, token in enumerate(found):
        if token.is_word("SERVICE") and not (edits and token.start < edits[-1][1]):
            named = position + 1 + (position + 1 < len(found) and found[position + 1].is_word("SILENT"))
            iri = full_iri(found[named], prefixes) if named < len(found) else ""
            if iri in SEARCH_SERVICES:
                asked, end = _pattern(sparql, found, named + 1, prefixes)
                _need_index(sparql, token, lookup)
                edits.append((token.start, end, _subselect(asked, cached, len(edits))))
            elif not allow_network:
                raise QueryError(_refused(sparql, token))
        elif lookup is None and full_iri(token, prefixes) in (MATCHES, SCORE):
            _need_index(sparql, token, lookup)
    text, made = _edited(sparql, edits)
    functions: dict[ox.NamedNode, Function] = {
        ox.NamedNode(MATCHES): cached.matches,
        ox.NamedNode(SCORE): cached.score,
        ox.NamedNode(NODE): _node,
    }
    return Prepared(text, functions, made)


def _refused(sparql: str, token: Token) -> Problem:
    return at(
        sparql,
        token.start,
        "SERVICE asks another server, and that is not allowed",
        hint="a query could make this machine send requests anywhere; `motherlode query --allow-service` permits it. "
        'For words, use SERVICE ml:search { ?s ml:matches "words" }',
    )


def _need_index(sparql: str, token: Token, lookup: Lookup | None) -> None:
    if lookup is None:
        hint = "`motherlode search DIR --rebuild` makes one"
        raise QueryError(at(sparql, token.start, "this crawl has no index of words", hint=hint))


def _edited(sparql: str, edits: Sequence[tuple[int, int, str]]) -> tuple[str, tuple[tuple[int, int, int], ...]]:
    parts, made, last, shift = [], [], 0, 0
    for start, end, text in edits:
        parts += [sparql[last:start], text]
        made.append((start + shift, end + shift, len(text)))
        shift += len(text) - (end - start)
        last = end
    return "".join([*parts, sparql[last:]]), tuple((start, end, length) for start, end, length in made)


# ── the pattern ──────────────────────────────────────────────────────────────────────────────────────────


@dataclass(slots=True)
class _Asked:
    subject: str = ""
    words: str = ""
    score: str = ""
    graph: str = ""
    limit: int = _MOST


def _pattern(sparql: str, found: list[Token], position: int, prefixes: dict[str, str]) -> tuple[_Asked, int]:
    """What stands between the braces of a search, and where they end."""
    inside, end = _braces(sparql, found, position)
    asked = _Asked()
    place = 0
    while place < len(inside):
        if inside[place].text in (".", ";"):
            place += 1
            continue
        if inside[place].kind is Kind.VARIABLE:
            if asked.subject and inside[place].text != asked.subject:
                raise QueryError(at(sparql, inside[place].start, "a search has one subject", hint=_SHAPE))
            asked.subject = inside[place].text
            place += 1
        if place + 1 >= len(inside):
            raise QueryError(at(sparql, inside[-1].start, "this search is not whole", hint=_SHAPE))
        _property(sparql, asked, full_iri(inside[place], prefixes), inside[place + 1])
        place += 2
        if place < len(inside) and inside[place].kind is Kind.LANGUAGE:
            place += 1
    if not asked.subject or not asked.words:
        start = found[position].start if position < len(found) else len(sparql)
        raise QueryError(at(sparql, start, "this search has no words", hint=_SHAPE))
    return asked, end


def _braces(sparql: str, found: list[Token], position: int) -> tuple[list[Token], int]:
    if position >= len(found) or found[position].text != "{":
        start = found[position].start if position < len(found) else len(sparql)
        raise QueryError(at(sparql, start, "a search stands between { and }", hint=_SHAPE))
    for last in range(position + 1, len(found)):
        if found[last].text == "}":
            return found[position + 1 : last], found[last].end
    raise QueryError(at(sparql, found[position].start, "this { is never closed", hint="a } is missing"))


def _property(sparql: str, asked: _Asked, name: str, value: Token) -> None:
    if name == MATCHES and value.kind is Kind.STRING:
        asked.words = string_value(value.text)
    elif name == SCORE and value.kind is Kind.VARIABLE:
        asked.score = value.text
    elif name == GRAPH and value.kind is Kind.VARIABLE:
        asked.graph = value.text
    elif name == LIMIT and value.kind is Kind.NUMBER and value.text.isdigit():
        asked.limit = min(_MOST, int(value.text))
    else:
        raise QueryError(at(sparql, value.start, "this is no part of a search", hint=_SHAPE))


def string_value(spelled: str) -> str:
    """What a string of a query says."""
    quad: ox.Quad = next(iter(ox.parse(f"<urn:s> <urn:p> {spelled} .".encode(), ox.RdfFormat.TURTLE)))
    return quad.object.value if isinstance(quad.object, ox.Literal) else ""


def _subselect(asked: _Asked, cached: _Cached, number: int) -> str:
    """The search as a pattern. Blank nodes cannot be named in a query: their page's graph is looked through instead."""
    words = str(ox.Literal(asked.words))
    found = cached.found(asked.words, asked.limit)
    graph = asked.graph or f"?ml_graph_{number}"
    named = [(subject, page) for subject, page, _ in found if not subject.startswith("_:")]
    pages = dict.fromkeys(page for subject, page, _ in found if subject.startswith("_:"))
    rows = " ".join(f"(<{subject}> <{page}>)" for subject, page in named if _speakable(subject, page))
    graphs = " ".join(f"<{page}>" for page in pages if _speakable(page))
    shown = f"{asked.subject} {asked.score} {asked.graph}"
    score = f" BIND(<{SCORE}>({asked.subject}, {words}) AS {asked.score})" if asked.score else ""
    nameless = (
        f"VALUES {graph} {{ {graphs} }} GRAPH {graph} {{ {asked.subject} ?ml_p_{number} ?ml_o_{number} }} "
        f"FILTER(isBlank({asked.subject}) && <{MATCHES}>({asked.subject}, {words}))"
    )
    return (
        f"{{ SELECT DISTINCT {shown} {{ {{ VALUES ({asked.subject} {graph}) {{ {rows} }} }} "
        f"UNION {{ {nameless} }}{score} }} }}"
    )


def _node(term: object) -> ox.Literal | None:
    """`ml:node(?s)`: the label of a blank node as the store keeps it, so that one of them can be asked for again."""
    return ox.Literal(f"_:{term.value}") if isinstance(term, ox.BlankNode) else None


def _speakable(*iris: str) -> bool:
    """Crawled IRIs may be such as a query cannot spell."""
    return not any(set(iri) & set('<>"{}|^`\\ ') for iri in iris)


class _Cached:
    """The word index as SPARQL functions; each search is made once a query."""

    def __init__(self, lookup: Lookup | None) -> None:
        self._lookup = lookup
        self._found: dict[tuple[str, int], Sequence[tuple[str, str, float]]] = {}
        self._scores: dict[str, dict[str, float]] = {}

    def found(self, words: str, limit: int) -> Sequence[tuple[str, str, float]]:
        key = (words, limit)
        if key not in self._found:
            self._found[key] = self._lookup(words, limit) if self._lookup is not None else ()
            scores = self._scores.setdefault(words, {})
            for subject, _, score in self._found[key]:
                scores[subject] = max(score, scores.get(subject, 0.0))
        return self._found[key]

    def _score(self, subject: object, words: object) -> float | None:
        if not isinstance(words, ox.Literal) or not isinstance(subject, (ox.NamedNode, ox.BlankNode)):
            return None
        if words.value not in self._scores:
            self.found(words.value, _MOST)
        name = subject.value if isinstance(subject, ox.NamedNode) else f"_:{subject.value}"
        return self._scores[words.value].get(name)

    def matches(self, subject: object, words: object) -> ox.Literal:
        """`ml:matches(?s, "words")`: whether all that a page says of the subject holds all words."""
        return ox.Literal(self._score(subject, words) is not None)

    def score(self, subject: object, words: object) -> ox.Literal | None:
        """`ml:score(?s, "words")`: how well; unbound where it does not match."""
        score = self._score(subject, words)
        return None if score is None else ox.Literal(score)
