from __future__ import annotations

from motherlode.model import Syntax

from .test_documents import found

PREFIX = b"@prefix e: <urn:e:> .\n"


def test_what_is_rdf_is_kept_and_the_rest_is_counted() -> None:
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


def test_turtle_is_read_as_turtle() -> None:
    body = PREFIX + b'e:a e:p [ e:q ( 1 2 ) ], "x"@en ; a e:C .'
    assert len(found(body, Syntax.N3)[0]) == len(found(body, Syntax.TURTLE)[0]) == 8


def test_reading_goes_on_after_an_error_outside_of_formulas_only() -> None:
    statements, problems = found(PREFIX + b"e:a e:p % .\ne:a e:p e:after .", Syntax.N3)
    assert [s[2] for s in statements] == ["<urn:e:after>"]
    assert [(p.line, p.column) for p in problems] == [(2, 9)]
    statements, problems = found(PREFIX + b"{ e:a e:p % . e:a e:p e:inside . } => {} . e:a e:p e:lost .", Syntax.N3)
    assert not statements
    assert problems[-1].message == "an error inside a formula; the rest was left out"


def test_formulas_that_are_closed_are_no_reason_to_stop() -> None:
    body = b"""{ e:a e:p "{" } => { e:a e:p e:b } . e:a e:p e:one .
@forAll e:x , e:y .
e:a e:p e:two . e:a e:p } . { e:a e:p e:c } => {} .
e:a e:p % .
e:a e:p e:three ."""
    statements, problems = found(PREFIX + body, Syntax.N3)
    assert [s[2] for s in statements] == ["<urn:e:one>", "<urn:e:two>", "<urn:e:three>"]
    assert {p.line for p in problems if p.line} == {3, 4, 5}
    assert not any("the rest" in p.message for p in problems)


def test_a_document_of_nothing_but_errors_is_given_up() -> None:
    _, problems = found(b"% . " * 5000, Syntax.N3)
    assert len(problems) <= 101
    assert problems[-1].message == "too many problems; the rest was left out"
