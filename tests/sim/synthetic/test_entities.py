from __future__ import annotations

import pytest

from motherlode.model import ContentKind, Detected, DetectionEvidence, Syntax
from motherlode.sim.synthetic.entities import EMBEDDED, SCHEMA, TYPES, Block, Flaw, Thing, statements, thing
from motherlode.sim.synthetic.entity_kinds import KINDS, EntityKind
from motherlode.sim.synthetic.random_draws import mix
from motherlode.transform import TransformOptions, transform
from motherlode.www.document import Document


def _statements(html: str, syntax: Syntax) -> int:
    body = f"<!DOCTYPE html><title>t</title><main>{html}</main>".encode()
    detected = Detected(kind=ContentKind.HTML, evidence=DetectionEvidence.CONTENT)
    document = Document(url="http://a.example/x", body=body, detected=detected)
    facts = transform(document, TransformOptions(syntaxes=frozenset(EMBEDDED)))
    assert set(facts.counts) <= {syntax}
    return facts.counts.get(syntax, 0)


CASES = [
    (kind, syntax)
    for kind in EntityKind
    for syntax in sorted(EMBEDDED, key=lambda it: it.value)
    if syntax is not Syntax.MICROFORMATS or KINDS[kind].microformat
]


@pytest.mark.parametrize(("kind", "syntax"), CASES)
def test_markup_has_counted_statements(kind: EntityKind, syntax: Syntax) -> None:
    for number in range(5):
        block = Block(syntax=syntax, kind=kind, bits=mix(8, number))
        assert _statements(block.write(), syntax) == block.count()


def test_markup_trailing_comma_keeps_and_unfilled_template_loses_statements() -> None:
    whole = Block(syntax=Syntax.JSON_LD, kind=EntityKind.JOB, bits=5)
    comma = Block(syntax=Syntax.JSON_LD, kind=EntityKind.JOB, bits=5, flaw=Flaw.TRAILING_COMMA)
    template = Block(syntax=Syntax.JSON_LD, kind=EntityKind.JOB, bits=5, flaw=Flaw.TEMPLATE)
    assert comma.write() != whole.write()
    assert _statements(comma.write(), Syntax.JSON_LD) == comma.count() == whole.count()
    assert _statements(template.write(), Syntax.JSON_LD) == template.count() == 0


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
