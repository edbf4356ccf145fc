"""Facts: how statements are counted, and that problems stand beside them."""

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
def test_a_statement_that_a_syntax_repeats_counts_once(statements: list[Statement]) -> None:
    facts = TransformResult(extractions=(Extraction(syntax=Syntax.RDFA, statements=tuple(statements)),))
    assert facts.counts == ({Syntax.RDFA: len(set(statements))} if statements else {})


def test_counts_are_kept_apart_by_syntax_and_a_graph_makes_another_statement() -> None:
    one, other = ("<u:a>", "<u:b>", "<u:c>", ""), ("<u:a>", "<u:b>", "<u:c>", "<u:g>")
    facts = TransformResult(
        extractions=(
            Extraction(syntax=Syntax.RDFA, statements=(one, one)),
            Extraction(syntax=Syntax.JSON_LD, statements=(one, other)),
            Extraction(syntax=Syntax.MICRODATA, problems=(Problem(syntax=Syntax.MICRODATA, message="x"),)),
        )
    )
    assert facts.counts == {Syntax.RDFA: 1, Syntax.JSON_LD: 2}, "no statements, no count"


def test_all_problems_are_those_of_the_page_and_then_those_of_each_syntax_in_order() -> None:
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


def test_a_problem_survives_its_way_between_processes() -> None:
    for problem in (
        Problem(syntax=None, message="no syntax"),
        Problem(syntax=Syntax.TURTLE, message="é", line=3, column=0, repaired=True),
    ):
        assert msgspec.msgpack.decode(msgspec.msgpack.encode(problem), type=Problem) == problem


def test_the_syntaxes_of_documents_are_those_of_some_content_kind() -> None:
    assert {entry.syntax for entry in MEDIA.values() if entry.is_rdf} >= DOCUMENT_SYNTAXES
    assert Syntax.PAGE not in DOCUMENT_SYNTAXES


def test_facts_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        TransformResult().problems = ()  # type: ignore[misc]
