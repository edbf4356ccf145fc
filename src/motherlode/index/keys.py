"""Which syntax of a page says which of its statements, at the cost of one quad a syntax.

A statement is stored once in its page's graph, however many syntaxes say it: ordinary queries must not count it twice,
and a second graph a syntax would be found by every `GRAPH ?page`. So the provenance holds, for a page that speaks in
more than one syntax, one literal for each of them: its name, and the keys of the statements that it gave.

    <page> ml:says "jsonld 0f3a9c1e72 77b1…" , "rdfa 77b1…" .

The key of a statement is the beginning of the MD5 of its N-Triples spelling. In a query `ml:key(?s, ?p, ?o)` gives it:

    GRAPH ?page { ?s ?p ?o }
    GRAPH <urn:motherlode:provenance> { ?page ml:says ?said }
    FILTER(CONTAINS(?said, ml:key(?s, ?p, ?o)))

A key per statement as a quad of its own would cost as much as the statement; so it costs eleven bytes.
"""

from __future__ import annotations

import hashlib
import re
from functools import lru_cache

import pyoxigraph as ox

from motherlode.model import Facts
from motherlode.model.prefixes import PREFIXES

KEY = ox.NamedNode(PREFIXES["ml"] + "key")
_DIGITS = 10
"""Forty bits: of a page with ten thousand statements, two share a key once in twenty thousand pages."""
_AT_ONCE = 2_000
"""Keys in one literal: a page may say a million things, and a literal is read whole."""

_PLAIN = r"[^\x00-\x1f\x7f\\\ufffe\uffff]*"
_AS_IT_IS = re.compile(rf'"{_PLAIN}(?:\\[nr"\\]{_PLAIN})*"(?:@[a-z0-9-]+)?')
"""Strings that need no second look; it costs ten times as much."""

Term = ox.NamedNode | ox.BlankNode | ox.Literal | ox.Triple


def key(subject: Term, predicate: Term, object_: Term) -> str:
    """The key of a statement as the store gives it back.

    >>> key(ox.NamedNode("http://a.example/"), ox.NamedNode("http://b.example/"), ox.Literal("x"))
    '81f5188734'
    """
    return _digest(f"{subject} {predicate} {spelled(object_)}")


def spelled(term: Term) -> str:
    """A term in N-Triples; of a triple that is one itself (RDF 1.2) the library leaves out the brackets."""
    return f"<<( {term} )>>" if isinstance(term, ox.Triple) else str(term)


def _digest(statement: str) -> str:
    return hashlib.md5(statement.encode("utf-8", "replace"), usedforsecurity=False).hexdigest()[:_DIGITS]


def key_function(subject: Term, predicate: Term, object_: Term) -> ox.Literal:
    """`ml:key` as SPARQL calls it."""
    return ox.Literal(key(subject, predicate, object_))


def syntax_keys(facts: Facts) -> tuple[str, ...]:
    """What `ml:says` holds of a page; nothing where at most one syntax speaks, for then `ml:syntax` tells."""
    speaking = [extraction for extraction in facts.extractions if extraction.statements]
    if len({extraction.syntax for extraction in speaking}) < 2:
        return ()
    keys: dict[str, dict[str, None]] = {}
    for extraction in speaking:
        own = keys.setdefault(extraction.syntax.value, {})
        for subject, predicate, object_, _ in extraction.statements:
            if subject.startswith("<<"):
                subject = _stored(subject)
            own[_digest(f"{subject} {predicate} {_stored(object_)}")] = None
    return tuple(f"{name} {' '.join(part)}" for name, own in keys.items() for part in _parts(list(own)))


def _parts(keys: list[str]) -> list[list[str]]:
    return [keys[start : start + _AT_ONCE] for start in range(0, len(keys), _AT_ONCE)]


def _stored(term: str) -> str:
    """A term as the store will spell it: numbers and dates in their canonical form, escapes as it writes them."""
    if term[0] != '"':
        return _through_a_store(term) if term.startswith("<<") else term
    if term[-1] == '"' and term.isascii() and term.isprintable() and "\\" not in term:
        return term  # as most are, and an expression would take its time for each character
    return term if _AS_IT_IS.fullmatch(term) else _through_a_store(term)


@lru_cache(maxsize=4096)
def _through_a_store(term: str) -> str:
    store = ox.Store()
    try:
        line = f"<urn:s> <urn:p> {term} .".encode("utf-8", "replace")
        store.extend(ox.parse(line, ox.RdfFormat.N_QUADS, lenient=True))
    except SyntaxError:
        return term  # the writer leaves it out, and counts it
    return next((spelled(quad.object) for quad in store), term)
