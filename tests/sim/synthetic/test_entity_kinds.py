from __future__ import annotations

import pytest

from motherlode.sim.synthetic.entity_kinds import KINDS, EntityField, EntityKind, EntityKindFacts


def test_kinds_table_covers_every_kind() -> None:
    assert set(KINDS) == set(EntityKind)


def test_kinds_have_distinct_paths() -> None:
    paths = [path for facts in KINDS.values() for path in facts.paths]
    assert len(paths) == len(set(paths))


def test_kinds_have_at_most_one_property_of_varying_length() -> None:
    several = tuple(EntityField(name=name, pool=("a", "b", "c"), least=1, most=2) for name in ("one", "two"))
    with pytest.raises(ValueError, match="more than one"):
        EntityKindFacts(type="T", titles=KINDS[EntityKind.BOOK].titles, paths=(), stems=(), fields=several)


def test_repeated_property_has_enough_distinct_values() -> None:
    for facts in KINDS.values():
        if facts.repeated is not None:
            assert facts.repeated.most <= len(set(facts.repeated.pool))
