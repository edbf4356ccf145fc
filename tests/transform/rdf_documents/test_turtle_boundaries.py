from __future__ import annotations

import io

import pytest

from motherlode.model import Syntax
from motherlode.transform.rdf_documents.source import CHUNK_BYTES, Source
from motherlode.transform.rdf_documents.turtle import count_open_braces, find_boundary


def _after(text: bytes, error: int, *, named_graphs: bool = False) -> tuple[bytes, str] | None:
    source = Source(io.BytesIO(text), syntax=Syntax.TURTLE)
    found = find_boundary(source, 0, error, graph="", named_graphs=named_graphs)
    return None if found is None else (text[found.offset :], found.graph)


@pytest.mark.parametrize(
    "before",
    [
        b"a b c .",
        b"a b 1.5 .",
        b"a b c.d .",
        b'a b "x. y" .',
        b"a b 'x. y' .",
        b'a b """x.\n"y". """ .',
        b"a b '''x.\n'y'. ''' .",
        b"a b <http://x./> .",
        b"a b # c.\n c .",
        b'a b "\\". " .',
        b"a b c; # it's. \n d e .",
    ],
)
def test_the_end_of_a_statement(before: bytes) -> None:
    assert _after(before + b" d e f .", 2) == (b" d e f .", "")


def test_there_may_be_no_end() -> None:
    assert _after(b"a b c", 2) is None
    assert _after(b'a b """ open . \n', 2) is None


def test_a_long_statement_is_read_to_its_end() -> None:
    text = b"a b " + b'"x. " , ' * CHUNK_BYTES + b"c . d"
    assert _after(text, 2) == (b" d", "")


def test_a_string_that_is_only_cut_off_by_the_sample_is_not_open() -> None:
    text = b'a b """' + b"x. \n" * CHUNK_BYTES + b'""" . d'
    assert _after(text, 2) == (b" d", "")


def test_graphs() -> None:
    text = b"g { a b c . d e f . h i j } k l m . { n o p }"
    assert _after(text, 6, named_graphs=True) == (text[11:], "g { ")
    assert _after(text, 22, named_graphs=True) == (text[27:], "")
    assert _after(text, 30, named_graphs=True) == (text[35:], "")
    assert _after(b"?? { a b c . d e f } g", 0, named_graphs=True) == (b" g", "")


def test_braces_count_where_they_are_no_text() -> None:
    assert count_open_braces(b"<a> { <b> } { ") == (1, 13)
    assert count_open_braces(b"<{}> '{' \"}\" # {\n '''{'''")[0] == 0
    assert count_open_braces(b"} } {", before=1)[0] == 1, "what closes nothing counts for nothing"
