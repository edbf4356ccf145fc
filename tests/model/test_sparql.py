"""Tokens of SPARQL queries."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from motherlode.model.sparql import TokenKind, declared_prefixes, full_iri, tokens


def words(sparql: str) -> list[str]:
    return [token.text for token in tokens(sparql) if token.kind is TokenKind.WORD]


def test_keywords_in_strings_iris_and_comments_are_ignored() -> None:
    sparql = """
    SELECT * { # SERVICE <a>
      ?SERVICE <http://SERVICE/#SERVICE> "SERVICE \\" SERVICE", 'SERVICE', \"\"\"a " SERVICE ""\n\"\"\", '''SERVICE''' ;
      SERVICE:SERVICE _:SERVICE . FILTER(?a<?b && ?c > ?d)
    }
    """
    assert words(sparql) == ["SELECT", "FILTER"]


def test_iri_is_distinguished_from_less_than() -> None:
    assert [token.text for token in tokens("?a < ?b <http://x/> <=")] == ["?a", "<", "?b", "<http://x/>", "<="]


def test_declared_prefixes_expand_prefixed_names() -> None:
    found = tokens("PREFIX : <http://d/> prefix e.x: <http://e/> ASK { :a e.x:b\\,c ?x }")
    prefixes = declared_prefixes(found)
    assert prefixes == {"": "http://d/", "e.x": "http://e/"}
    assert [iri for token in found[6:] if (iri := full_iri(token, prefixes))] == ["http://d/a", "http://e/b,c"]


def test_unclosed_string_is_a_broken_token() -> None:
    assert TokenKind.BROKEN in {token.kind for token in tokens('ASK { ?s ?p "open }')}


@given(st.text(alphabet="abSERVICE\"'\\<>#?:{}()., \n", max_size=60))
def test_tokens_never_overlap(sparql: str) -> None:
    found = tokens(sparql)
    assert all(before.end <= after.start for before, after in pairwise(found))
    assert all(sparql[token.start : token.end] == token.text for token in found)
