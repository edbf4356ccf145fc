from __future__ import annotations

import pytest

from motherlode.sim.synthetic.entities import SCHEMA, TYPES, Thing, statements, thing
from motherlode.sim.synthetic.entity_kinds import EntityKind
from motherlode.sim.synthetic.random_draws import mix


def _count(one: Thing) -> int:
    total = 1
    for _, values in one.values:
        assert len(set(map(repr, values))) == len(values)
        total += sum(1 + (_count(value) if isinstance(value, Thing) else 0) for value in values)
    return total


@pytest.mark.parametrize("kind", EntityKind)
def test_statement_count_equals_built_statements(kind: EntityKind) -> None:
    for number in range(60):
        bits = mix(4, number)
        assert statements(kind, bits) == _count(thing(kind, bits))


def test_types_include_nested_things() -> None:
    assert TYPES[EntityKind.RECIPE] == (f"{SCHEMA}Recipe", f"{SCHEMA}Person")
