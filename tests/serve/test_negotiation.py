"""Tests of content negotiation."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from motherlode.serve.negotiation import GRAPHS, HTML, JSON, RESULTS, choose_format, find_format, parse_accept


@pytest.mark.parametrize(
    ("accept", "name"),
    [
        ("", "json"),
        ("text/*", "csv"),
        ("text/csv;q=0.2, */*;q=0.1", "csv"),
        ("application/sparql-results+xml;q=0.9, application/sparql-results+json;q=0.8", "xml"),
        ("application/sparql-results+json;q=0, */*", "xml"),
        ("APPLICATION/JSON", "json"),
        ("*/*;q=nonsense", None),
        ("image/png", None),
        ("rubbish", "json"),
    ],
)
def test_choose_format_of_results(accept: str, name: str | None) -> None:
    chosen = choose_format(accept, RESULTS)
    assert (chosen.name if chosen else None) == name


def test_choose_format_html_for_browsers_and_data_for_programs() -> None:
    browser = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8"
    assert choose_format(browser, (HTML, JSON)) is HTML
    assert choose_format("application/json", (HTML, JSON)) is JSON
    assert find_format("json", (HTML, JSON)) is JSON
    assert choose_format(browser, (*GRAPHS, HTML)) is HTML


@pytest.mark.parametrize(
    ("wanted", "result", "graph"),
    [
        ("json", "json", "jsonld"),
        ("XML", "xml", "rdfxml"),
        ("text/turtle", None, "turtle"),
        ("ttl", None, "turtle"),
        ("csv", "csv", None),
        ("nonsense", None, None),
        ("", None, None),
    ],
)
def test_find_format_by_name(wanted: str, result: str | None, graph: str | None) -> None:
    results, graphs = find_format(wanted, RESULTS), find_format(wanted, GRAPHS)
    assert ((results and results.name), (graphs and graphs.name)) == (result, graph)


@given(st.text(max_size=80))
def test_choose_format_any_header_is_accepted(accept: str) -> None:
    choose_format(accept, RESULTS)


def test_parse_accept_on_examples_gives_expected_values() -> None:
    assert parse_accept("text/csv;q=0.5, application/*, */*;q=0.1") == [
        ("text/csv", 0.5, 2),
        ("application/*", 1.0, 1),
        ("*/*", 0.1, 0),
    ]


def test_find_format_on_examples_gives_expected_values() -> None:
    assert (find_format("json", GRAPHS).name, find_format("text/csv", RESULTS).name, find_format("csv", GRAPHS)) == (
        "jsonld",
        "csv",
        None,
    )


def test_choose_format_on_examples_gives_expected_values() -> None:
    assert (choose_format("application/json, text/csv;q=0.9", RESULTS).name, choose_format("", GRAPHS).name) == (
        "json",
        "turtle",
    )
    assert choose_format("image/png", GRAPHS) is None
