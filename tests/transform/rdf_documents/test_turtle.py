from __future__ import annotations

import io

import pytest

from motherlode.model import Syntax
from motherlode.transform.rdf_documents import source, turtle
from motherlode.transform.rdf_documents.source import CHUNK_BYTES, Source
from motherlode.transform.rdf_documents.turtle import count_open_braces, find_boundary

from .test_documents import found

PREFIX = b"@prefix e: <urn:e:> .\n"


def objects(body: bytes, syntax: Syntax = Syntax.TURTLE) -> tuple[list[str], list[tuple[int | None, int | None]]]:
    statements, problems = found(PREFIX + body, syntax)
    return [s[2].removeprefix("<urn:e:").removesuffix(">") for s in statements], [(p.line, p.column) for p in problems]


@pytest.mark.parametrize(
    ("bad", "position"),
    [
        (b"e:a e:p x:undeclared .\n", (3, 9)),
        (b"e:a e:p $ .\n", (3, 9)),
        (b"e:a e:p [ e:q 1 .\n", (3, 17)),
        (b"e:a e:p ( 1 2 .\n", (3, 15)),
        (b'e:a e:p "open .\n', (3, 9)),
        (b'e:a e:p "bad \\q escape. " .\n', (3, 14)),
        (b'e:a e:p """bad \\q.\ne:a e:p e:inside .\n""" .\n', (3, 16)),
        (b"e:a e:p <open .\n", (3, 9)),
        (b"e:a .\n", (3, 5)),
        (b"@prefix x <urn:x:> .\n", None),
    ],
)
@pytest.mark.parametrize("syntax", [Syntax.TURTLE, Syntax.TRIG])
def test_turtle_continues_after_bad_statement(bad: bytes, position: tuple[int, int] | None, syntax: Syntax) -> None:
    kept, positions = objects(b"e:a e:p e:before .\n" + bad + b"e:a e:p e:after .\ne:a e:p e:last .", syntax)
    assert "inside" not in kept
    assert [one for one in kept if not one.startswith(('"', "_:"))] == ["before", "after", "last"]
    assert len(positions) == 1
    assert position is None or positions == [position]


def test_turtle_unclosed_string_is_not_read_as_statements() -> None:
    kept, positions = objects(b'e:a e:p e:before .\ne:a e:p """open .\ne:a e:p e:inside .\n')
    assert kept == ["before"]
    assert positions == [(3, 9)]


def test_turtle_statement_with_unrepairable_iri_loses_only_its_triple() -> None:
    statements, problems = found(
        PREFIX + b"e:a e:p e:x, <http://[1>, [ e:q <http://[2>, [], e:y ] ; e:r e:z, <urn:%zz> .\ne:b e:p e:c .",
        Syntax.TURTLE,
    )
    nodes = {term for statement in statements for term in statement if term.startswith("_:")}
    assert len(nodes) == 2
    assert [s[2] for s in statements if s[2] not in nodes] == [
        "<urn:e:x>",
        "<urn:e:y>",
        "<urn:e:z>",
        "<urn:%25zz>",
        "<urn:e:c>",
    ]
    assert [(problem.line, problem.repaired) for problem in problems] == [(2, False), (2, True), (2, False)]
    assert "http://[2" in problems[0].message


def test_turtle_prefix_and_base_are_repaired() -> None:
    body = b"@base <http://b.example/a b/> . @prefix x: <urn:x y:> .\n<c> x:p x:o . <d> x:p x:o ."
    statements, problems = found(body, Syntax.TURTLE)
    assert [s[:3] for s in statements] == [
        (f"<http://b.example/a%20b/{name}>", "<urn:x%20y:p>", "<urn:x%20y:o>") for name in "cd"
    ]
    assert problems
    assert all(problem.repaired for problem in problems)


def test_turtle_many_repaired_iris_do_not_end_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turtle, "_MAX_PROBLEMS", 20)
    body = b"".join(b"<urn:%d> <urn:p> <urn:{o}> .\n" % number for number in range(200))
    statements, problems = found(body, Syntax.TURTLE)
    assert len(statements) == 200
    assert [(problem.line, problem.repaired) for problem in problems] == [(1, True)]


def test_turtle_blank_nodes_are_the_same_before_and_after_an_error() -> None:
    statements, _ = found(PREFIX + b"[] e:p [ e:q 1 ; e:q <http://[> ; e:q 2 ] ; e:r 3 .", Syntax.TURTLE)
    subjects = [statement[0] for statement in statements]
    assert subjects[0] == subjects[1] != subjects[2] == subjects[3]
    assert statements[2][2] == subjects[0]


def test_turtle_prefixes_and_base_stay_in_force_after_an_error() -> None:
    body = (
        b"@base <http://b.example/> . @prefix x: <urn:x\\u0020y> . <a> e:p ?? .\n"
        b"<b> e:p <c> . @prefix e: <urn:f:> . ?? .\n<b> e:p 1 ."
    )
    statements, problems = found(PREFIX + body, Syntax.TURTLE)
    assert [s[:2] for s in statements] == [("<http://b.example/b>", "<urn:e:p>"), ("<http://b.example/b>", "<urn:f:p>")]
    assert [problem.line for problem in problems] == [2, 2, 3]


def test_trig_graph_stays_in_force_after_an_error() -> None:
    body = (
        b"e:g # { not yet\n { e:a e:p ?? . e:a e:p e:one .\n e:a e:p e:two } e:a e:p e:none .\n"
        b"GRAPH <http://[h> { e:a e:p e:lost . e:a e:p e:lost }\n"
        b"{ e:a e:p ??; e:q e:lost . e:a e:p e:default }\n"
        b"GRAPH e:i { e:a e:p e:three . ?? } e:j { e:a e:p e:four }"
    )
    statements, problems = found(PREFIX + body, Syntax.TRIG)
    assert [(s[2], s[3]) for s in statements] == [
        ("<urn:e:one>", "<urn:e:g>"),
        ("<urn:e:two>", "<urn:e:g>"),
        ("<urn:e:none>", ""),
        ("<urn:e:default>", ""),
        ("<urn:e:three>", "<urn:e:i>"),
        ("<urn:e:four>", "<urn:e:j>"),
    ]
    assert problems[0].line == 3


def test_turtle_document_with_only_errors_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turtle, "_MAX_PROBLEMS", 20)
    _, problems = found(b"?? .\n" * 1000, Syntax.TURTLE)
    assert len(problems) == 21
    assert "left out" in problems[-1].message


def test_turtle_error_outside_window_loses_its_statement(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "WINDOW_BYTES", 1 << 17)
    far = PREFIX + b"e:a e:p e:b .\n" * 50_000
    statements, problems = found(far + b"e:a e:p ?? .\n" + b"e:a e:p e:b .\n" * 3, Syntax.TURTLE)
    assert len(statements) == 50_003
    assert [problem.line for problem in problems] == [50_002]


def test_turtle_error_outside_window_inside_string_or_graph_ends_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "WINDOW_BYTES", 1 << 17)
    far = PREFIX + b"e:a e:p e:b .\n" * 50_000
    for bad, syntax in ((b'e:a e:p """\\q .\n""" .', Syntax.TURTLE), (b"?? .", Syntax.TRIG)):
        statements, problems = found(far + bad + b"e:a e:p e:b .\n" * 3, syntax)
        assert len(statements) == 50_000
        assert [problem.line for problem in problems] == [50_002, 50_002]
        assert "left out" in problems[1].message


# Ends of statements


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
def test_find_boundary_finds_end_of_statement(before: bytes) -> None:
    assert _after(before + b" d e f .", 2) == (b" d e f .", "")


def test_find_boundary_without_end_returns_none() -> None:
    assert _after(b"a b c", 2) is None
    assert _after(b'a b """ open . \n', 2) is None


def test_find_boundary_long_statement_is_read_to_its_end() -> None:
    text = b"a b " + b'"x. " , ' * CHUNK_BYTES + b"c . d"
    assert _after(text, 2) == (b" d", "")


def test_find_boundary_string_cut_by_chunk_is_not_open() -> None:
    text = b'a b """' + b"x. \n" * CHUNK_BYTES + b'""" . d'
    assert _after(text, 2) == (b" d", "")


def test_find_boundary_inside_graph_returns_its_name() -> None:
    text = b"g { a b c . d e f . h i j } k l m . { n o p }"
    assert _after(text, 6, named_graphs=True) == (text[11:], "g { ")
    assert _after(text, 22, named_graphs=True) == (text[27:], "")
    assert _after(text, 30, named_graphs=True) == (text[35:], "")
    assert _after(b"?? { a b c . d e f } g", 0, named_graphs=True) == (b" g", "")


def test_count_open_braces_ignores_strings_iris_and_comments() -> None:
    assert count_open_braces(b"<a> { <b> } { ") == (1, 13)
    assert count_open_braces(b"<{}> '{' \"}\" # {\n '''{'''")[0] == 0
    assert count_open_braces(b"} } {", before=1)[0] == 1, "what closes nothing counts for nothing"


# Notation3


def test_n3_rdf_is_kept_and_other_statements_are_counted() -> None:
    body = (
        b"e:a e:p e:one . { ?x a e:A } => { ?x a e:B } . e:a e:p { e:f e:f e:f } . e:a = e:two . ?x e:p 1 . e:a e:p 3 ."
    )
    statements, problems = found(PREFIX + body, Syntax.N3)
    assert [s[2] for s in statements] == [
        "<urn:e:one>",
        "<urn:e:two>",
        '"3"^^<http://www.w3.org/2001/XMLSchema#integer>',
    ]
    assert len(problems) == 1
    assert "formulas or variables" in problems[0].message


def test_n3_turtle_document_is_read_completely() -> None:
    body = PREFIX + b'e:a e:p [ e:q ( 1 2 ) ], "x"@en ; a e:C .'
    assert len(found(body, Syntax.N3)[0]) == len(found(body, Syntax.TURTLE)[0]) == 8


def test_n3_continues_only_after_errors_outside_formulas() -> None:
    statements, problems = found(PREFIX + b"e:a e:p % .\ne:a e:p e:after .", Syntax.N3)
    assert [s[2] for s in statements] == ["<urn:e:after>"]
    assert [(p.line, p.column) for p in problems] == [(2, 9)]
    statements, problems = found(PREFIX + b"{ e:a e:p % . e:a e:p e:inside . } => {} . e:a e:p e:lost .", Syntax.N3)
    assert not statements
    assert problems[-1].message == "an error inside a formula; the rest was left out"


def test_n3_error_after_closed_formulas_does_not_end_reading() -> None:
    body = b"""{ e:a e:p "{" } => { e:a e:p e:b } . e:a e:p e:one .
@forAll e:x , e:y .
e:a e:p e:two . e:a e:p } . { e:a e:p e:c } => {} .
e:a e:p % .
e:a e:p e:three ."""
    statements, problems = found(PREFIX + body, Syntax.N3)
    assert [s[2] for s in statements] == ["<urn:e:one>", "<urn:e:two>", "<urn:e:three>"]
    assert {p.line for p in problems if p.line} == {3, 4, 5}
    assert not any("the rest" in p.message for p in problems)


def test_n3_document_with_only_errors_is_given_up() -> None:
    _, problems = found(b"% . " * 5000, Syntax.N3)
    assert len(problems) <= 101
    assert problems[-1].message == "too many problems; the rest was left out"


def test_count_open_braces_gives_expected_results_for_short_texts() -> None:
    assert (count_open_braces(b"{ <a> '{' { } "), count_open_braces(b"} }", before=1)) == ((1, 13), (0, 3))


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
    [
        ("<http://example.org/50%>", "<http://example.org/50%25>"),
        ('"x"@toolonglanguage', '"x"'),
        ('"x"@en_US', '"x"@en-us'),
        ('""@de_DE', '""@de-de'),
    ],
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
    monkeypatch.setattr(turtle, "_MAX_LINE_BYTES", 1 << 20)
    long = b'<urn:a> <urn:p> "' + b"x" * 500_000 + b'" .\n'
    too_long = b'<urn:a> <urn:p> "' + b"x" * 2_000_000 + b'" .\n'
    statements, problems = found(GOOD + long + too_long + GOOD, Syntax.N_TRIPLES)
    assert [len(statement[2]) for statement in statements] == [7, 500_002, 7]
    assert [(problem.line, "longer" in problem.message) for problem in problems] == [(3, True)]


def test_read_lines_line_numbers_are_right_in_later_blocks() -> None:
    _, problems = found(GOOD * 10_000 + b"bad\n" + GOOD, Syntax.N_TRIPLES)
    assert [problem.line for problem in problems] == [10_001]


@pytest.mark.parametrize("syntax", [Syntax.N_TRIPLES, Syntax.N_QUADS])
def test_version_directives_of_lines_are_read(syntax: Syntax) -> None:
    body = b'VERSION "1.2"\n' + GOOD + b'  VERSION\t"1.2-basic" # c\r\n' + GOOD
    statements, problems = found(body, syntax)
    assert (len(statements), problems) == (2, [])


@pytest.mark.parametrize("line", [b"VERSION 1.2", b"VERSION <urn:v>", b'version "1.2"', b'VERSION "1.2" .'])
def test_invalid_version_directive_of_lines_is_reported(line: bytes) -> None:
    statements, problems = found(line + b"\n" + GOOD, Syntax.N_TRIPLES)
    assert len(statements) == 1
    assert [(problem.line, problem.repaired) for problem in problems] == [(1, False)]


@pytest.mark.parametrize("syntax", [Syntax.TURTLE, Syntax.TRIG, Syntax.N_TRIPLES, Syntax.N_QUADS])
def test_escaped_surrogate_pair_is_repaired(syntax: Syntax) -> None:
    body = '<urn:é> <urn:p> "é \\uD83C\\udca1" .\n'.encode() + GOOD
    statements, problems = found(body, syntax)
    assert [s[2] for s in statements] == ['"é \U0001f0a1"', "<urn:o>"]
    assert [(problem.line, problem.repaired) for problem in problems] == [(1, True)]


@pytest.mark.parametrize("syntax", [Syntax.TURTLE, Syntax.N_TRIPLES])
@pytest.mark.parametrize("escape", [rb"\uD83C", rb"\uDCA1\uD83C", rb"\uD83C\uD83C", rb"\uD83C\uDCA1\uD83C"])
def test_escaped_lone_surrogate_is_reported(syntax: Syntax, escape: bytes) -> None:
    statements, problems = found(b'<urn:a> <urn:p> "' + escape + b'" .\n' + GOOD, syntax)
    assert [s[2] for s in statements] == ["<urn:o>"]
    assert [(problem.line, problem.repaired) for problem in problems] == [(1, False)]


def test_invalid_line_that_gives_a_statement_is_repaired() -> None:
    body = b'<urn:a> <urn:p> "x"^^<http://www.w3.org/1999/02/22-rdf-syntax-ns#langString> .\n'
    statements, problems = found(body, Syntax.N_TRIPLES)
    assert ([s[2] for s in statements], [problem.repaired for problem in problems]) == (['"x"'], [True])
