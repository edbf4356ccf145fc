"""Positions of problems in the page."""

from __future__ import annotations

import pytest

from motherlode.model import Syntax
from motherlode.transform.source_locations import IriProblems, _find_position, locate_problems
from motherlode.www.iri import check
from tests.transform.microdata.pages import microdata
from tests.transform.microformats.pages import extracted
from tests.transform.rdfa.pages import rdfa
from tests.www.pages import document


@pytest.mark.parametrize(
    ("markup", "reference", "position"),
    [
        ("<p>Thing\n<b itemtype=Thing>", "Thing", (2, 13)),
        ("<a\n href='//[bad?a=1&amp;b=2'>", "http://[bad?a=1&b=2", (2, 8)),
        ('<a href="http://[a b">', "http://[a%20b", (1, 10)),
        ("text http://[bad", "http://[bad", (1, 6)),
        ("<a href=x>", "http://[bad", (None, None)),
        ("<a href=x>", "", (None, None)),
    ],
)
def test_locate_problems_finds_reference_as_written(markup: str, reference: str, position: tuple[int, int]) -> None:
    (found,) = locate_problems(document(markup), Syntax.RDFA, [("message", reference)])
    assert (found.message, found.line, found.column) == ("message", *position)


def test_locate_problems_limits_number_of_searches() -> None:
    found = locate_problems(document("<a href=x>"), Syntax.RDFA, [(str(number), "x") for number in range(50)])
    assert len(found) == 50
    assert found[0].line == 1
    assert found[-1].line is None


BAD = "http://[bad"


def test_extractors_of_html_locate_invalid_references() -> None:
    in_rdfa = rdfa(f"<p>\n<a rel=dc:source href='{BAD}'>x</a>").problems
    in_microdata = microdata(f"<p itemscope>\n<a itemprop=url href='{BAD}'>x</a></p>").problems
    in_microformats = extracted(f"<p class=h-card>\n<a class=u-url href='{BAD}'>x</a></p>").problems
    assert [(it.line, it.column) for it in (*in_rdfa, *in_microdata, *in_microformats)] == [(2, 24), (2, 23), (2, 22)]


def test_microdata_invalid_type_is_a_located_problem() -> None:
    (found,) = microdata("<p itemscope itemtype='//example.org/Thing'><b itemprop=name>x</b></p>").problems
    assert (found.message, found.line, found.column) == ("not a valid IRI: <//example.org/Thing>", 1, 24)


def test_find_position_on_examples_gives_expected_values() -> None:
    assert (_find_position('<p>a b\n<a href="//[a b">', "http://[a%20b"), _find_position("<p itemtype=a>", "b")) == (
        (2, 10),
        (None, None),
    )


def test_iri_problems_report_invalid_and_repaired_iris_with_the_text_of_the_page() -> None:
    found = IriProblems()
    assert found.record(check("http://a.example/ok")) == "<http://a.example/ok>"
    assert found.record(check("http://[bad"), "//[bad") is None
    assert found.record(check("http://a.example/a b")) == "<http://a.example/a%20b>"
    assert "<http://a.example/a%20b>" in found
    assert "<http://[bad>" in found
    assert "<http://a.example/ok>" not in found
    page = document("<a href='//[bad'>\n<a href='http://a.example/a b'>")
    located = [(one.message, one.line, one.repaired) for one in found.locate(page, Syntax.RDFA)]
    assert located == [
        ("not a valid IRI: <http://[bad>", 1, False),
        ("not a valid IRI, read as <http://a.example/a%20b>", 2, True),
    ]


def test_iri_problems_many_iris_are_kept_and_a_hundred_of_each_kind_reported() -> None:
    found = IriProblems()
    for number in range(300):
        found.record(check(f"http://[{number}"))
        found.record(check(f"http://a.example/a {number}"))
    assert len(found.invalid) == 300, "their statements are removed"
    assert [one.repaired for one in found.locate(document(""), Syntax.RDFA)] == [False] * 100 + [True] * 100
