"""Things with their values, and their markup in HTML: JSON-LD, Microdata, RDFa and microformats2, with typical faults.

`statements` counts the statements of a thing without building it, because the simulator needs counts far more often
than a server needs pages.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from html import escape

from motherlode.model import Syntax
from motherlode.sim.synthetic.entity_kinds import KINDS, EntityField, EntityKind, Form

SCHEMA = "http://schema.org/"


@dataclass(frozen=True, slots=True, kw_only=True)
class Thing:
    """One thing with its values, ready to be written."""

    type: str
    values: tuple[tuple[EntityField, tuple[str | Thing, ...]], ...]


def _values(one: EntityField, bits: int) -> tuple[str | Thing, ...]:
    if one.parts:
        return (_thing(one.type, one.parts, bits),)
    if one.pool:
        start = bits >> 27
        return tuple(one.pool[(start + n * 7) % len(one.pool)] for n in range(one.repeats(bits)))
    return (one.value(bits),)


def _thing(type_: str, fields: tuple[EntityField, ...], bits: int) -> Thing:
    return Thing(type=type_, values=tuple((one, _values(one, bits)) for one in fields))


def thing(kind: EntityKind, bits: int) -> Thing:
    """Return the thing of a kind that is drawn by these bits.

    >>> recipe = thing(EntityKind.RECIPE, 12345)
    >>> recipe.type, recipe.values[0][1]
    ('Recipe', ('Green Chickpea Curry with Lemon',))
    """
    return _thing(KINDS[kind].type, KINDS[kind].fields, bits)


def _fixed(fields: tuple[EntityField, ...]) -> int:
    """Return the number of statements of a thing, including its type and without repeated values."""
    nested = sum(1 + _fixed(one.parts) for one in fields if one.parts)
    return 1 + nested + sum(one.least for one in fields if not one.parts)


_FIXED = {kind: _fixed(facts.fields) for kind, facts in KINDS.items()}


def statements(kind: EntityKind, bits: int) -> int:
    """Return the number of statements of a thing in JSON-LD and Microdata: one per value and one per type.

    >>> statements(EntityKind.COURSE, 7)
    7
    """
    repeated = KINDS[kind].repeated
    return _FIXED[kind] + (repeated.repeats(bits) - repeated.least if repeated is not None else 0)


def _fixed_in_microformats(fields: tuple[EntityField, ...]) -> int:
    named = [one for one in fields if one.microformat]
    nested = sum(1 + _fixed_in_microformats(one.parts) for one in named if one.parts)
    return 1 + nested + sum(one.least for one in named if not one.parts)


_FIXED_IN_MICROFORMATS = {
    kind: _fixed_in_microformats(facts.fields) for kind, facts in KINDS.items() if facts.microformat
}


def microformat_statements(kind: EntityKind, bits: int) -> int:
    """Return the number of statements of a thing in microformats2, whose vocabulary has fewer properties."""
    repeated = KINDS[kind].repeated
    return _FIXED_IN_MICROFORMATS[kind] + (repeated.repeats(bits) - repeated.least if repeated is not None else 0)


def _types(type_: str, fields: tuple[EntityField, ...]) -> tuple[str, ...]:
    nested = (name for one in fields if one.parts for name in _types(one.type, one.parts))
    return tuple(dict.fromkeys((SCHEMA + type_, *nested)))


TYPES = {kind: _types(facts.type, facts.fields) for kind, facts in KINDS.items()}
"""IRIs of the types that a thing of a kind mentions, its own first."""


# ── markup


class Flaw(Enum):
    """A deliberate error in a generated JSON-LD block."""

    NONE = "none"
    TRAILING_COMMA = "trailing comma"
    """A fault that every lenient parser repairs."""
    TEMPLATE = "template left unfilled"
    """A fault that no parser can repair."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """Structured data on an HTML page: the thing and its syntax."""

    syntax: Syntax
    kind: EntityKind
    bits: int
    flaw: Flaw = Flaw.NONE

    def count(self) -> int:
        """Number of statements that a parser extracts from the block."""
        if self.flaw is Flaw.TEMPLATE:
            return 0
        if self.syntax is Syntax.MICROFORMATS:
            return microformat_statements(self.kind, self.bits)
        # RDFa 1.1 Core, 10.1: a vocab attribute adds a statement of its own
        return statements(self.kind, self.bits) + (self.syntax is Syntax.RDFA)

    def write(self) -> str:
        return _WRITERS[self.syntax](self)


def _json_value(field: EntityField, value: str | Thing) -> object:
    if isinstance(value, Thing):
        return _json_object(value)
    return float(value) if field.form is Form.NUMBER and "." in value else _whole(field, value)


def _whole(field: EntityField, value: str) -> object:
    return int(value) if field.form is Form.NUMBER else value


def _json_object(one: Thing) -> dict[str, object]:
    written: dict[str, object] = {"@type": one.type}
    for field, values in one.values:
        spelled = [_json_value(field, value) for value in values]
        written[field.name] = spelled[0] if len(spelled) == 1 else spelled
    return written


def _jsonld(block: Block) -> str:
    data = {"@context": "https://schema.org", **_json_object(thing(block.kind, block.bits))}
    text = json.dumps(data, indent=1).replace("</", "<\\/")
    if block.flaw is Flaw.TRAILING_COMMA:
        text = text[:-2] + ",\n}"
    elif block.flaw is Flaw.TEMPLATE:
        text = "{{ page.structured_data | jsonify }}"
    return f'<script type="application/ld+json">\n{text}\n</script>\n'


def _microdata(block: Block) -> str:
    return "".join(_microdata_lines(thing(block.kind, block.bits), ""))


def _microdata_lines(one: Thing, property_: str) -> Iterator[str]:
    yield f'<div class="item"{property_} itemscope itemtype="{SCHEMA}{one.type}">\n'
    for field, values in one.values:
        for value in values:
            if isinstance(value, Thing):
                yield from _microdata_lines(value, f' itemprop="{field.name}"')
            elif field.form is Form.DATE:
                yield f'<p>{field.name}: <time itemprop="{field.name}" datetime="{value}">{value}</time></p>\n'
            elif field.form is Form.DURATION:
                yield f'<meta itemprop="{field.name}" content="{value}">\n'
            else:
                yield f'<p>{field.name}: <span itemprop="{field.name}">{escape(value)}</span></p>\n'
    yield "</div>\n"


def _rdfa(block: Block) -> str:
    return "".join(_rdfa_lines(thing(block.kind, block.bits), f' vocab="{SCHEMA}"'))


def _rdfa_lines(one: Thing, opening: str) -> Iterator[str]:
    yield f'<div class="item"{opening} typeof="{one.type}">\n'
    for field, values in one.values:
        for value in values:
            if isinstance(value, Thing):
                yield from _rdfa_lines(value, f' property="{field.name}"')
            elif field.form is Form.DATE:
                yield f'<p>{field.name}: <time property="{field.name}" datetime="{value}">{value}</time></p>\n'
            else:
                yield f'<p>{field.name}: <span property="{field.name}">{escape(value)}</span></p>\n'
    yield "</div>\n"


def _microformats(block: Block) -> str:
    root = KINDS[block.kind].microformat
    return "".join(_microformat_lines(thing(block.kind, block.bits), f"item {root}"))


def _microformat_lines(one: Thing, classes: str) -> Iterator[str]:
    yield f'<div class="{classes}">\n'
    for field, values in one.values:
        for value in values:
            if not field.microformat:
                text = "" if isinstance(value, Thing) else escape(value)
                yield f"<p>{field.name} {text}</p>\n"
            elif isinstance(value, Thing):
                yield from _microformat_lines(value, f"{field.microformat} h-card")
            elif field.form is Form.DATE:
                yield f'<p>{field.name}: <time class="{field.microformat}" datetime="{value}">{value}</time></p>\n'
            else:
                yield f'<p>{field.name}: <span class="{field.microformat}">{escape(value)}</span></p>\n'
    yield "</div>\n"


_WRITERS: dict[Syntax, Callable[[Block], str]] = {
    Syntax.JSON_LD: _jsonld,
    Syntax.MICRODATA: _microdata,
    Syntax.RDFA: _rdfa,
    Syntax.MICROFORMATS: _microformats,
}
EMBEDDED = frozenset(_WRITERS)
"""The syntaxes that are embedded in HTML."""
