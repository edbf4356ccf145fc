"""The words of a SPARQL query (SPARQL 1.1, section 19.8), so that it can be looked at without being misread.

What looks like a keyword inside of a string, an IRI or a comment is none. The tokens cover the text from end to end;
what is no token at all (a quote that is never closed) is one of kind `BROKEN`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cache

_IN_NAME = r"\w:\u0080-\U0010ffff"
"""Characters of the local part of a name, and all that are beyond ASCII: what is none, the engine refuses."""
_ESCAPED = r"%[0-9A-Fa-f]{2}|\\[_~.\-!$&'()*+,;=/?#@%]"


class Kind(Enum):
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

    kind: Kind
    text: str
    start: int

    @property
    def end(self) -> int:
        return self.start + len(self.text)

    def is_word(self, word: str) -> bool:
        return self.kind is Kind.WORD and self.text.upper() == word


_SILENT = frozenset({Kind.SPACE, Kind.COMMENT})


@cache
def _pattern() -> re.Pattern[str]:
    """Made for the first query: it takes ten milliseconds, and every reader process imports this module."""
    return re.compile("|".join(f"(?P<{kind.name}>{kind.value})" for kind in Kind), re.DOTALL)


def tokens(sparql: str) -> list[Token]:
    """The tokens that mean something.

    >>> [token.text for token in tokens('ASK { ?s foaf:name "SERVICE"@en } # SERVICE')]
    ['ASK', '{', '?s', 'foaf:name', '"SERVICE"', '@en', '}']
    """
    return [token for token in _all(sparql) if token.kind not in _SILENT]


def _all(sparql: str) -> Iterator[Token]:
    for match in _pattern().finditer(sparql):
        yield Token(Kind[match.lastgroup or "SIGN"], match[0], match.start())


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
        if word.is_word("PREFIX") and name.kind is Kind.NAME and iri.kind is Kind.IRI
    }


def full_iri(token: Token, prefixes: dict[str, str]) -> str:
    """The IRI that a token names, or ""."""
    if token.kind is Kind.IRI:
        return token.text[1:-1]
    if token.kind is not Kind.NAME:
        return ""
    prefix, _, local = token.text.partition(":")
    return prefixes[prefix] + re.sub(r"\\(.)", r"\1", local) if prefix in prefixes else ""
