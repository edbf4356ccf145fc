"""Transform results: counts of statements, and problems."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from motherlode.model import DOCUMENT_SYNTAXES, Extraction, Problem, Statement, Syntax, TransformResult
from motherlode.www.media_types import MEDIA

TERM = st.sampled_from(["<u:a>", "<u:b>", "_:c"])
STATEMENT = st.tuples(TERM, TERM, TERM, st.sampled_from(["", "<u:g>"]))


@settings(max_examples=50, deadline=None)
@given(st.lists(STATEMENT, max_size=12))
def test_repeated_statement_of_a_syntax_counts_once(statements: list[Statement]) -> None:
    facts = TransformResult(extractions=(Extraction(syntax=Syntax.RDFA, statements=tuple(statements)),))
    assert facts.counts == ({Syntax.RDFA: len(set(statements))} if statements else {})


def test_counts_are_per_syntax_and_distinguish_graphs() -> None:
    one, other = ("<u:a>", "<u:b>", "<u:c>", ""), ("<u:a>", "<u:b>", "<u:c>", "<u:g>")
    facts = TransformResult(
        extractions=(
            Extraction(syntax=Syntax.RDFA, statements=(one, one)),
            Extraction(syntax=Syntax.JSON_LD, statements=(one, other)),
            Extraction(syntax=Syntax.MICRODATA, problems=(Problem(syntax=Syntax.MICRODATA, message="x"),)),
        )
    )
    assert facts.counts == {Syntax.RDFA: 1, Syntax.JSON_LD: 2}, "no statements, no count"


def test_all_problems_returns_page_problems_then_syntax_problems() -> None:
    page, first, second = (Problem(syntax=None, message=text) for text in ("page", "first", "second"))
    facts = TransformResult(
        problems=(page,),
        extractions=(
            Extraction(syntax=Syntax.RDFA, problems=(first,)),
            Extraction(syntax=Syntax.N3, problems=(second,)),
        ),
    )
    assert facts.all_problems() == (page, first, second)
    assert TransformResult().all_problems() == ()


def test_problem_serialized_and_parsed_is_equal() -> None:
    for problem in (
        Problem(syntax=None, message="no syntax"),
        Problem(syntax=Syntax.TURTLE, message="é", line=3, column=0, repaired=True),
    ):
        assert msgspec.msgpack.decode(msgspec.msgpack.encode(problem), type=Problem) == problem


def test_document_syntaxes_belong_to_rdf_content_kinds() -> None:
    assert {entry.syntax for entry in MEDIA.values() if entry.is_rdf} >= DOCUMENT_SYNTAXES
    assert Syntax.PAGE not in DOCUMENT_SYNTAXES


def test_transform_result_is_immutable() -> None:
    with pytest.raises(AttributeError):
        TransformResult().problems = ()  # type: ignore[misc]
