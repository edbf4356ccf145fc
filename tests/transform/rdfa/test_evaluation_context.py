"""Evaluation context, list mapping and initial context."""

from __future__ import annotations

import msgspec
import pytest

from motherlode.transform.rdfa.evaluation_context import (
    PREFIXES,
    TERMS,
    XHTML_TERMS,
    EvaluationContext,
    IncompleteTriple,
    ListMapping,
)

from .pages import triples


def test_copied_context_shares_lists_and_new_context_has_its_own_tokens() -> None:
    one = EvaluationContext(base="u:", subject="<u:s>", object="<u:o>", lists=ListMapping("<u:s>"), prefixes={})
    child = msgspec.structs.replace(one, language="de")
    assert child.lists is one.lists
    assert (child.language, one.language) == ("de", "")
    other = EvaluationContext(base="u:", subject="<u:s>", object="<u:o>", lists=ListMapping("<u:s>"), prefixes={})
    assert other.tokens is not one.tokens


def test_incomplete_triple_is_frozen() -> None:
    with pytest.raises(AttributeError):
        IncompleteTriple(forward="<u:p>").forward = "<u:q>"  # type: ignore[misc]


def test_incomplete_relations_are_completed_in_both_directions_and_in_collections() -> None:
    page = """
    <div vocab="http://v.example/" about="#s">
      <p rel="forward" rev="backward"><span about="#o" property="name">O</span></p>
      <p inlist rel="member"><b about="#one"></b><b about="#two"></b></p>
    </div>"""
    found = triples(page)
    assert ("<#s>", "<http://v.example/forward>", "<#o>") in found
    assert ("<#o>", "<http://v.example/backward>", "<#s>") in found
    assert sum(predicate == "<http://v.example/member>" for _, predicate, _ in found) == 1
    assert [value for _, predicate, value in found if predicate.endswith("#first>")] == ["<#one>", "<#two>"]


def test_initial_prefixes_are_lower_case_and_map_to_namespaces() -> None:
    assert all(prefix == prefix.lower() for prefix in PREFIXES)
    assert all(iri.startswith("http") for iri in PREFIXES.values())
    assert PREFIXES["og"] == "http://ogp.me/ns#" and PREFIXES["dc"] == "http://purl.org/dc/terms/"


def test_xhtml_terms_include_those_of_rdfa_core() -> None:
    assert TERMS.keys() < XHTML_TERMS.keys() and "stylesheet" in XHTML_TERMS
