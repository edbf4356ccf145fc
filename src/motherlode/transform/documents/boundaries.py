"""Where statements end in Turtle and TriG, told without parsing them: for readers that must go on after a bad one."""

from __future__ import annotations

import re
from dataclasses import dataclass

from motherlode.transform.documents.source import CHUNK, Source

_LONGEST = 1 << 24
"""Bytes between an error and the end of its statement."""

_TOKEN = re.compile(
    rb'"""(?:[^"\\]|\\.|"(?!""))*"""'
    rb"|'''(?:[^'\\]|\\.|'(?!''))*'''"
    rb"|(?P<open>\"\"\"|''')"
    rb'|"(?:[^"\\\n\r]|\\.)*"'
    rb"|'(?:[^'\\\n\r]|\\.)*'"
    rb"|<[^<>\n\r]*>"  # also with characters that no IRI may have, because these are repaired
    rb"|(?P<comment>\#[^\n\r]*)"
    rb"|(?P<dot>\.(?=[\s<\"'\[(_@}#]|\Z))"
    rb"|(?P<brace>[{}])",
    re.DOTALL,
)


def open_braces(text: bytes, before: int = 0) -> tuple[int, int]:
    """How many braces are open at the end of a text, and where its last token ends.

    `before` is how many were open at its start. Those in strings, IRIs and comments do not count.

    >>> open_braces(b"{ <a> '{' { } "), open_braces(b"} }", before=1)
    ((1, 13), (0, 3))
    """
    depth, end = before, 0
    for token in _TOKEN.finditer(text):
        end = token.end()
        if token.lastgroup == "brace":
            depth = depth + 1 if token[0] == b"{" else max(0, depth - 1)
    return depth, end


@dataclass(frozen=True, slots=True, kw_only=True)
class Boundary:
    """The end of a statement."""

    offset: int
    graph: str
    """Text from a graph's name to its brace, where the boundary lies inside of one; else ""."""


def boundary_after(source: Source, start: int, error: int, *, graph: str, named_graphs: bool) -> Boundary | None:
    """The first safe place to go on after an error; `start` is the end of a statement before it.

    None where there is no such place, or where a string is open: its text must not be taken for statements.
    """
    size = error - start + CHUNK
    while True:
        text = source.get(start, size)
        found = _scan(text, error - start, graph=graph, named_graphs=named_graphs)
        is_whole = len(text) < size
        if found is not None and (is_whole or found.offset < len(text)):
            return Boundary(offset=start + found.offset, graph=found.graph)
        if is_whole or size > error - start + _LONGEST:
            return None
        size += max(CHUNK, size // 2)


def _scan(text: bytes, error: int, *, graph: str, named_graphs: bool) -> Boundary | None:
    last = Boundary(offset=0, graph=graph)
    label: list[bytes] = []
    label_start = 0
    is_known = True  # whether the graph that we are in has a name that we read
    for token in _TOKEN.finditer(text):
        kind = token.lastgroup
        if kind == "open":
            return None
        if kind == "comment":
            label.append(text[label_start : token.start()])
            label_start = token.end()
            continue
        if kind is None or (kind == "brace" and not named_graphs):
            continue
        if token[0] == b"{":
            is_known = token.start() < error
            name = b"".join([*label, text[label_start : token.start()]]).decode(errors="replace").split()
            graph = " ".join([*name, "{ "])
        elif token[0] == b"}":
            graph, is_known = "", True
        label, label_start = [], token.end()
        if token.end() > error and is_known and token[0] != b"{":
            return last if _ends_at(text, last.offset, error) else Boundary(offset=token.end(), graph=graph)
        last = Boundary(offset=token.end(), graph=graph)
    return last if _ends_at(text, last.offset, error) else None


def _ends_at(text: bytes, boundary: int, error: int) -> bool:
    """Whether a parser met the error on its way over a line break just behind the boundary: in an open string, say."""
    return 0 < boundary <= error and text[error : error + 1] in b"\r\n" and not text[boundary:error].strip()
