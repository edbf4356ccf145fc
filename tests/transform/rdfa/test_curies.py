"""Terms, CURIEs and IRIs."""

from __future__ import annotations

import pytest

from motherlode.model import Syntax
from motherlode.transform.bnodes import BlankNames
from motherlode.transform.rdfa.curies import Resolver
from motherlode.transform.rdfa.evaluation_context import PREFIXES, TERMS, EvaluationContext, Lists
from motherlode.transform.rdfa.processor_graph import ProcessorGraph

XHV = "http://www.w3.org/1999/xhtml/vocab#"


def context(vocabulary: str = "") -> EvaluationContext:
    prefixes = {**PREFIXES, "ex": "http://ex/", "rel": "dir/"}
    base = "http://b/a/b"
    return EvaluationContext(
        base=base, subject="", object="", lists=Lists(""), prefixes=prefixes, vocabulary=vocabulary
    )


def resolver() -> Resolver:
    return Resolver(
        url="http://d/a/b", terms=TERMS, names=BlankNames("http://b/", Syntax.RDFA), report=ProcessorGraph()
    )


@pytest.mark.parametrize(
    ("token", "expected"),
    [
        ("ex:a", "<http://ex/a>"),
        ("EX:a:b", "<http://ex/a:b>"),
        ("ex:", "<http://ex/>"),
        (":a", f"<{XHV}a>"),
        ("rel:a", "<http://d/a/dir/a>"),
        ("http://x/a", "<http://x/a>"),
        ("ex://a", "<ex://a>"),
        ("none:a", "<none:a>"),
        ("license", f"<{XHV}license>"),
        ("LICENSE", f"<{XHV}license>"),
        ("stylesheet", None),
        ("a/b", None),
        ("#a", None),
    ],
)
def test_tokens(token: str, expected: str | None) -> None:
    assert resolver().token(token, context()) == expected


def test_terms_of_a_vocabulary() -> None:
    assert resolver().token("license", context("http://v/")) == "<http://v/license>"
    assert resolver().token("a/b", context("http://v/")) == "<http://v/a/b>"
    assert resolver().token("9", context("http://v/")) is None


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("", "<http://b/a/b>"),
        (" c ", "<http://b/a/c>"),
        ("[ex:a]", "<http://ex/a>"),
        ("[none:a]", None),
        ("[]", None),
        ("[a]", None),
        ("ex:a", "<http://ex/a>"),
        ("license", "<http://b/a/license>"),
        ("mailto:a@b", "<mailto:a@b>"),
        ("a b", "<http://b/a/a%20b>"),
    ],
)
def test_resources(value: str, expected: str | None) -> None:
    assert resolver().resource(value, context()) == expected


def test_blank_nodes() -> None:
    it = resolver()
    assert it.resource("_:a", context()) == it.resource("[_:a]", context()) != it.resource("_:b", context())
    assert it.predicates("_:a ex:b", context()) == ["<http://ex/b>"]
    assert len(it.types("_:a ex:b ex:b", context())) == 2
