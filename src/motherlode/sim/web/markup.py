"""Things written into HTML: JSON-LD, Microdata, RDFa and microformats2, with the flaws that real pages have."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from html import escape

from motherlode.model import Syntax
from motherlode.sim.web.kinds import KINDS, Field, Form, Kind
from motherlode.sim.web.things import SCHEMA, Thing, microformat_statements, statements, thing


class Flaw(Enum):
    """What is wrong with a block of JSON-LD."""

    NONE = "none"
    TRAILING_COMMA = "trailing comma"
    """Every reader that mends anything mends this."""
    TEMPLATE = "template left unfilled"
    """Nothing can be made of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """Data on an HTML page: what it is about and how it is written."""

    syntax: Syntax
    kind: Kind
    bits: int
    flaw: Flaw = Flaw.NONE

    def count(self) -> int:
        """Statements that a reader gets out of the block."""
        if self.flaw is Flaw.TEMPLATE:
            return 0
        if self.syntax is Syntax.MICROFORMATS:
            return microformat_statements(self.kind, self.bits)
        # RDFa 1.1 Core, 10.1: a vocabulary that is named makes a statement of its own
        return statements(self.kind, self.bits) + (self.syntax is Syntax.RDFA)

    def write(self) -> str:
        return _WRITERS[self.syntax](self)


def _json_value(field: Field, value: str | Thing) -> object:
    if isinstance(value, Thing):
        return _json_object(value)
    return float(value) if field.form is Form.NUMBER and "." in value else _whole(field, value)


def _whole(field: Field, value: str) -> object:
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
"""The syntaxes that live inside HTML."""
