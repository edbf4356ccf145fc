"""The prefixes that queries need not declare."""

from __future__ import annotations

import re
from pathlib import Path

import pyoxigraph as ox
import pytest

from motherlode.index.quad_store import QuadStore
from motherlode.model.terms import PREFIXES, expand_prefix, iri


@pytest.mark.parametrize("prefix", PREFIXES)
def test_prefix_is_a_valid_name_of_a_namespace_iri(prefix: str) -> None:
    assert re.fullmatch("[a-z]+", prefix)
    assert iri(PREFIXES[prefix]) is not None
    assert PREFIXES[prefix][-1] in "/#:"


def test_prefixes_have_distinct_iris() -> None:
    assert len(set(PREFIXES.values())) == len(PREFIXES)


def test_query_may_use_every_prefix_undeclared(tmp_path: Path) -> None:
    pairs = " ".join(f"{prefix}:x" for prefix in PREFIXES)
    found = QuadStore(tmp_path / "store").query(f"SELECT ?x {{ VALUES ?x {{ {pairs} }} }}")
    assert isinstance(found, ox.QuerySolutions)
    assert {row["x"].value for row in found} == {f"{start}x" for start in PREFIXES.values()}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("schema:Recipe", "http://schema.org/Recipe"),
        ("schema:", "http://schema.org/"),
        ("http://a.example/", "http://a.example/"),
        ("schema://x", "schema://x"),
        ("URN:isbn:1", "URN:isbn:1"),
        ("word", "word"),
        ("nosuch:thing", None),
        ("", ""),
    ],
)
def test_expand_prefix_expands_known_prefixes_only(name: str, expected: str | None) -> None:
    assert expand_prefix(name) == expected


def test_expand_prefix_uses_the_given_prefixes() -> None:
    assert expand_prefix("a:b", {"a": "http://a.example/"}) == "http://a.example/b"
    assert expand_prefix("schema:name", {}) is None
