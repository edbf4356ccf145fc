"""JSON-LD of schema.org in hydration data."""

from __future__ import annotations

import json
from typing import Any

import pytest

from motherlode.model import Syntax
from motherlode.transform import transform
from motherlode.transform.jsonld.hydration import find_hydration_objects
from tests.www.pages import document

THING: dict[str, Any] = {"@context": "https://schema.org", "@type": "Product", "name": "Anvil"}
STATE = json.dumps({"props": {"pageProps": {"schema": THING, "other": {"@type": "Product"}}}})


def found(markup: str) -> list[Any]:
    return find_hydration_objects(document(markup), [])


@pytest.mark.parametrize(
    "markup",
    [
        f'<script id="__NEXT_DATA__" type="application/json">{STATE}</script>',
        f'<script type="application/json" id=ng-state>{STATE}</script>',
        f"<script>window.__INITIAL_STATE__ = {STATE};</script>",
        f"<script>window.__NUXT__={STATE}</script>",
        f'<script>window["__APOLLO_STATE__"] = {STATE};</script>',
        f"<script>self.__DATA__={STATE};(function(){{remove()}}())</script>",
        f"<script>var __STATE__ = {STATE}\nstart()</script>",
        f'<script type="text/javascript">globalThis.__STATE__ = [{STATE}];</script>',
    ],
)
def test_schema_object_in_hydration_data_is_found(markup: str) -> None:
    assert found(markup) == [THING]


@pytest.mark.parametrize(
    "markup",
    [
        f'<script type="application/json">{STATE}</script>',
        f'<script type="application/json" id="example">{STATE}</script>',
        f'<script type="text/template" id="__TEMPLATE__">{STATE}</script>',
        f"<script>window.example = {STATE};</script>",
        f"<script>if (x) window.__STATE__ = {STATE};</script>",
        f"<script>window.__STATE__ = {STATE}.props;</script>",
        f"<script>window.__STATE__ = JSON.parse({json.dumps(STATE)});</script>",
        f"<script>window.__NUXT__ = (function(a){{return {STATE}}}(1))</script>",
        f"<script>window.__STATE__ = {STATE[:-1]}, x: undefined}};</script>",
        f'<pre>&lt;script id="__NEXT_DATA__" type="application/json"&gt;{STATE}</pre>',
        f'<script id="__NEXT_DATA__" type="application/json">{json.dumps({"html": json.dumps(THING)})}</script>',
    ],
)
def test_other_scripts_and_strings_are_not_read(markup: str) -> None:
    assert found(markup) == []


@pytest.mark.parametrize(
    "value",
    [
        {"@context": "https://schema.org"},
        {"@context": "https://example.org", "@type": "Product"},
        {"@context": "https://schema.org.example", "@type": "Product"},
        {"@context": 5, "@type": 6},
        {"@type": "Product", "name": "Anvil"},
    ],
)
def test_object_without_schema_context_and_type_is_not_read(value: object) -> None:
    assert found(f'<script id="__NEXT_DATA__" type="application/json">{json.dumps([value])}</script>') == []


@pytest.mark.parametrize(
    "context", ["http://schema.org/", ["https://schema.org", {}], {"@vocab": "https://schema.org/"}]
)
def test_every_form_of_the_schema_context_counts(context: object) -> None:
    value = {**THING, "@context": context}
    assert found(f'<script id="__NEXT_DATA__" type="application/json">{json.dumps(value)}</script>') == [value]


def test_nested_schema_object_is_part_of_the_outermost_one() -> None:
    outer = {**THING, "isPartOf": THING}
    assert found(f'<script id="__NEXT_DATA__" type="application/json">{json.dumps([outer, outer])}</script>') == [outer]


def _names(markup: str) -> list[str]:
    (extraction,) = (it for it in transform(document(markup)).extractions if it.syntax is Syntax.JSON_LD)
    return [object_ for _, predicate, object_, _ in extraction.statements if predicate.endswith("/name>")]


def test_transform_reads_hydration_data_as_jsonld() -> None:
    assert _names(f'<div id="root"></div><script id="__NEXT_DATA__" type="application/json">{STATE}</script>') == [
        '"Anvil"'
    ]


def test_transform_reads_an_object_of_a_jsonld_script_only_once() -> None:
    script = f'<script type="application/ld+json">{json.dumps([THING], indent=1)}</script>'
    assert _names(f'{script}<script id="__NEXT_DATA__" type="application/json">{STATE}</script>') == ['"Anvil"']


def test_problem_in_hydration_data_has_no_position() -> None:
    value = {**THING, "url": {"@value": 1, "@id": "x"}}
    page = document(f'<script id="__NEXT_DATA__" type="application/json">{json.dumps(value)}</script>')
    problems = [it for one in transform(page).extractions for it in one.problems if it.syntax is Syntax.JSON_LD]
    assert problems
    assert {problem.line for problem in problems} == {None}
