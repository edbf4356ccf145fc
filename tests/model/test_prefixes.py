"""The prefixes that queries need not declare."""

from __future__ import annotations

import re
from pathlib import Path

import pyoxigraph as ox
import pytest

from motherlode.index.quad_store import QuadStore
from motherlode.model.terms import PREFIXES, iri


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
