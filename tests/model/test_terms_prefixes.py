"""Prefixes that may be used without declaring them: each one IRI, and queries know them all."""

from __future__ import annotations

import re
from pathlib import Path

import pyoxigraph as ox
import pytest

from motherlode.index import QuadStore
from motherlode.model.terms import PREFIXES, iri


@pytest.mark.parametrize("prefix", PREFIXES)
def test_each_is_a_name_for_an_iri_to_which_something_can_be_added(prefix: str) -> None:
    assert re.fullmatch("[a-z]+", prefix)
    assert iri(PREFIXES[prefix]) is not None
    assert PREFIXES[prefix][-1] in "/#:"


def test_no_two_mean_the_same() -> None:
    assert len(set(PREFIXES.values())) == len(PREFIXES)


def test_a_query_may_use_every_one(tmp_path: Path) -> None:
    pairs = " ".join(f"{prefix}:x" for prefix in PREFIXES)
    found = QuadStore(tmp_path / "store").query(f"SELECT ?x {{ VALUES ?x {{ {pairs} }} }}")
    assert isinstance(found, ox.QuerySolutions)
    assert {row["x"].value for row in found} == {f"{start}x" for start in PREFIXES.values()}
