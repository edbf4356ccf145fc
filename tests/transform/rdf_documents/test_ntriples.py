"""N-Triples and N-Quads."""

from __future__ import annotations

import pytest

from motherlode.model import Syntax
from motherlode.transform.rdf_documents import ntriples

from .test_documents import found

GOOD = b"<urn:a> <urn:p> <urn:o> .\n"


@pytest.mark.parametrize("syntax", [Syntax.N_TRIPLES, Syntax.N_QUADS])
@pytest.mark.parametrize(
    ("bad", "column"),
    [
        (b'<urn:a> <urn:p> "open .\n', 17),
        (b"<urn:a> <urn:p> <urn:o>\n", None),
        (b"<urn:a> <urn:p> <open .\n", 17),
        (b"gibberish\n", 1),
        (b"<urn:a> <urn:p> .\n", 17),
        (b"<urn:a> <urn:p> <relative/../x y> .\n", 17),
        (b"\x00\x00\n", 1),
    ],
)
def test_read_lines_bad_line_loses_only_itself(syntax: Syntax, bad: bytes, column: int | None) -> None:
    statements, problems = found(GOOD + bad + GOOD * 2, syntax)
    assert len(statements) == 3
    assert [problem.line for problem in problems] == [2]
    assert column is None or problems[0].column == column


@pytest.mark.parametrize(("syntax", "graph"), [(Syntax.N_TRIPLES, ""), (Syntax.N_QUADS, "<urn:g>")])
@pytest.mark.parametrize(
    ("term", "kept"),
    [("<http://example.org/50%>", "<http://example.org/50%25>"), ('"x"@toolonglanguage', '"x"')],
)
def test_read_lines_repairable_term_is_reported_and_statement_kept(
    syntax: Syntax, graph: str, term: str, kept: str
) -> None:
    wild = f"_:b <urn:p> {term} {graph} .\n".encode()
    statements, problems = found(b"_:b <urn:p> <urn:o> .\n" + wild + GOOD, syntax)
    assert [problem.line for problem in problems] == [2]
    assert statements[1] == (statements[0][0], "<urn:p>", kept, graph)
    assert len(statements) == 3


def test_read_lines_accepts_all_line_ends() -> None:
    statements, problems = found(
        b"<urn:a> <urn:p> 1 .\r\n\r\n" + GOOD.replace(b"\n", b"\r") + GOOD.strip(), Syntax.N_TRIPLES
    )
    assert len(statements) == 2
    assert [problem.line for problem in problems] == [1]


def test_read_lines_block_boundaries_do_not_split_lines() -> None:
    body = b"".join(b'<urn:a%d> <urn:p> "%s" .\n' % (number, b"x" * (number % 300)) for number in range(5000))
    statements, problems = found(body, Syntax.N_TRIPLES)
    assert len(statements) == 5000
    assert not problems


def test_read_lines_too_long_line_is_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ntriples, "_MAX_LINE_BYTES", 1 << 20)
    long = b'<urn:a> <urn:p> "' + b"x" * 500_000 + b'" .\n'
    too_long = b'<urn:a> <urn:p> "' + b"x" * 2_000_000 + b'" .\n'
    statements, problems = found(GOOD + long + too_long + GOOD, Syntax.N_TRIPLES)
    assert [len(statement[2]) for statement in statements] == [7, 500_002, 7]
    assert [(problem.line, "longer" in problem.message) for problem in problems] == [(3, True)]


def test_read_lines_line_numbers_are_right_in_later_blocks() -> None:
    _, problems = found(GOOD * 10_000 + b"bad\n" + GOOD, Syntax.N_TRIPLES)
    assert [problem.line for problem in problems] == [10_001]
