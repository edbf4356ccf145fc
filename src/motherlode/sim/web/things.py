"""Things with their values, and how many statements they make.

The writers in `markup` and `documents` spell a `Thing` in some syntax. `statements` counts the same without building
anything, because the simulator asks for counts far more often than a server asks for pages.
"""

from __future__ import annotations

from dataclasses import dataclass

from motherlode.sim.web.kinds import KINDS, Field, Kind

SCHEMA = "http://schema.org/"


@dataclass(frozen=True, slots=True, kw_only=True)
class Thing:
    """One thing with its values, ready to be written."""

    type: str
    values: tuple[tuple[Field, tuple[str | Thing, ...]], ...]


def _values(one: Field, bits: int) -> tuple[str | Thing, ...]:
    if one.parts:
        return (_thing(one.type, one.parts, bits),)
    if one.pool:
        start = bits >> 27
        return tuple(one.pool[(start + n * 7) % len(one.pool)] for n in range(one.repeats(bits)))
    return (one.value(bits),)


def _thing(type_: str, fields: tuple[Field, ...], bits: int) -> Thing:
    return Thing(type=type_, values=tuple((one, _values(one, bits)) for one in fields))


def thing(kind: Kind, bits: int) -> Thing:
    """The thing of a kind that these bits stand for.

    >>> recipe = thing(Kind.RECIPE, 12345)
    >>> recipe.type, recipe.values[0][1]
    ('Recipe', ('Green Chickpea Curry with Lemon',))
    """
    return _thing(KINDS[kind].type, KINDS[kind].fields, bits)


def _fixed(fields: tuple[Field, ...]) -> int:
    """Statements of a thing with these properties, its type included and repeated values left out."""
    nested = sum(1 + _fixed(one.parts) for one in fields if one.parts)
    return 1 + nested + sum(one.least for one in fields if not one.parts)


_FIXED = {kind: _fixed(facts.fields) for kind, facts in KINDS.items()}


def statements(kind: Kind, bits: int) -> int:
    """How many statements the thing makes in JSON-LD and Microdata: one a value, and one for each type.

    >>> statements(Kind.COURSE, 7)
    7
    """
    repeated = KINDS[kind].repeated
    return _FIXED[kind] + (repeated.repeats(bits) - repeated.least if repeated is not None else 0)


def _fixed_in_microformats(fields: tuple[Field, ...]) -> int:
    named = [one for one in fields if one.microformat]
    nested = sum(1 + _fixed_in_microformats(one.parts) for one in named if one.parts)
    return 1 + nested + sum(one.least for one in named if not one.parts)


_FIXED_IN_MICROFORMATS = {
    kind: _fixed_in_microformats(facts.fields) for kind, facts in KINDS.items() if facts.microformat
}


def microformat_statements(kind: Kind, bits: int) -> int:
    """How many statements the thing makes in microformats2, whose vocabulary has fewer of its properties."""
    repeated = KINDS[kind].repeated
    return _FIXED_IN_MICROFORMATS[kind] + (repeated.repeats(bits) - repeated.least if repeated is not None else 0)


def _types(type_: str, fields: tuple[Field, ...]) -> tuple[str, ...]:
    nested = (name for one in fields if one.parts for name in _types(one.type, one.parts))
    return tuple(dict.fromkeys((SCHEMA + type_, *nested)))


TYPES = {kind: _types(facts.type, facts.fields) for kind, facts in KINDS.items()}
"""IRIs of the types that a thing of a kind mentions, its own first."""
