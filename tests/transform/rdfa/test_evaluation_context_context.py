"""What an element inherits, and the collections that grow while one resource is described."""

from __future__ import annotations

import msgspec
import pytest

from motherlode.transform.rdfa.evaluation_context import EvaluationContext, Incomplete, Lists

from .pages import triples


def test_a_collection_is_made_when_it_is_first_asked_for_and_then_shared() -> None:
    lists = Lists("<u:owner>")
    assert lists.items == {}
    lists.of("<u:p>").append("<u:1>")
    lists.of("<u:p>").append("<u:2>")
    lists.of("<u:q>")
    assert lists.items == {"<u:p>": ["<u:1>", "<u:2>"], "<u:q>": []}


def test_a_copy_of_a_context_shares_its_collections_and_no_others_share_their_tokens() -> None:
    one = EvaluationContext(base="u:", subject="<u:s>", object="<u:o>", lists=Lists("<u:s>"), prefixes={})
    child = msgspec.structs.replace(one, language="de")
    assert child.lists is one.lists
    assert (child.language, one.language) == ("de", "")
    other = EvaluationContext(base="u:", subject="<u:s>", object="<u:o>", lists=Lists("<u:s>"), prefixes={})
    assert other.tokens is not one.tokens


def test_a_relation_that_waits_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        Incomplete(forward="<u:p>").forward = "<u:q>"  # type: ignore[misc]


def test_relations_wait_for_a_resource_in_both_directions_and_in_a_collection() -> None:
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
