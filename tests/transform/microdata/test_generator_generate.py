"""Items, subjects and statements."""

from __future__ import annotations

import pytest

from motherlode.model.terms import RDF_TYPE
from tests.transform.microdata.pages import SCHEMA, facts, microdata


def test_an_identifier_is_the_subject() -> None:
    found = microdata(f"<div itemscope itemid='#me' itemtype={SCHEMA}Person></div>").statements
    assert [subject for subject, *_ in found] == ["<http://example.org/folder/page#me>"]


def test_an_item_without_a_type_inherits_the_vocabulary() -> None:
    assert facts(
        f"<div itemscope itemtype={SCHEMA}Person><p itemprop=knows itemscope><b itemprop=name>x</b></p></div>"
    ) == {("knows", "_"), ("name", '"x"')}


def test_reverse_properties_point_back_and_never_at_text() -> None:
    found = microdata(
        f"<div itemscope itemid=a itemtype={SCHEMA}A><a itemprop-reverse=partOf href=b>b</a>"
        "<b itemprop-reverse=name>text</b></div>"
    ).statements
    assert [s for s in found if not s[1].endswith("#type>")] == [
        ("<http://example.org/folder/b>", "<http://schema.org/partOf>", "<http://example.org/folder/a>", "")
    ]


def test_a_shared_item_is_described_once() -> None:
    found = microdata(
        "<div itemscope itemref=x></div><div itemscope itemref=x></div>"
        "<div id=x itemprop=p itemscope><b itemprop=name>n</b></div>"
    ).statements
    assert sum(1 for s in found if s[2] == '"n"') == 1
    assert len({s[2] for s in found if s[1].endswith("#p>")}) == 1


def test_invalid_iris_cost_their_own_statements() -> None:
    found = microdata(
        f"<div itemscope itemid='http://[i' itemtype='http://[t {SCHEMA}A'><a itemprop=a href='http://[bad'>x</a>"
        "<b itemprop='http://[p c'>y</b></div>"
    )
    assert [statement[1:3] for statement in found.statements] == [(RDF_TYPE, f"<{SCHEMA}A>"), (f"<{SCHEMA}c>", '"y"')]
    assert {problem.message for problem in found.problems} == {
        f"not a valid IRI: <http://[{name}>" for name in ("i", "t", "bad", "p")
    }


@pytest.mark.parametrize("written", ["//schema.org/Product", "schema.org/Product", "//www.Schema.org/Product"])
def test_type_of_a_known_vocabulary_without_its_scheme_is_repaired_with_a_problem(written: str) -> None:
    found = microdata(f"<p>\n<div itemscope itemtype='{written}'><b itemprop=name>x</b></div>")
    assert [statement[1:3] for statement in found.statements] == [
        (RDF_TYPE, f"<{SCHEMA}Product>"),
        (f"<{SCHEMA}name>", '"x"'),
    ]
    (problem,) = found.problems
    assert problem.message == f"type without a scheme, read as {SCHEMA}Product"
    assert (problem.line, problem.repaired) == (2, True)


@pytest.mark.parametrize("written", ["//example.org/Product", "Product", "/Product", "schema.org", "//schema.org/"])
def test_other_relative_types_are_refused_with_a_problem(written: str) -> None:
    found = microdata(f"<div itemscope itemtype='{written}'><b itemprop=name>x</b></div>")
    assert [statement[1] for statement in found.statements] == ["<http://example.org/folder/page#name>"]
    assert [problem.message for problem in found.problems] == [f"not a valid IRI: <{written}>"]
