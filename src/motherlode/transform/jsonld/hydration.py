"""JSON-LD of schema.org in the hydration data of script applications: the state from which a script builds the page.

Two forms are read: a `script` element with the type application/json whose id is a name such as `__NEXT_DATA__` or
`ng-state`, and a script that starts by assigning plain JSON to a global name such as `window.__INITIAL_STATE__`. In
them, each outermost object with an `@context` of schema.org and an `@type` or `@graph` counts as a JSON-LD block,
unless a JSON-LD script of the page has the same object. Nothing is repaired and no script is run.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator

import msgspec

from motherlode.transform.jsonld.json_decoder import MAX_CHARACTERS
from motherlode.transform.jsonld.processor_options import Json
from motherlode.www.document import Document
from motherlode.www.html_prefilter import Mark

_STATE_ID = re.compile(r"__[A-Za-z0-9_]+__|[A-Za-z0-9_-]+-state")
_ASSIGNMENT = re.compile(
    r"""\s*(?:(?:window|self|globalThis)\s*(?:\.\s*__\w+__|\[\s*(["'])__\w+__\1\s*\])|(?:var|let|const)\s+__\w+__)\s*=\s*"""
)
_SCHEMA_CONTEXT = re.compile(r"https?://(?:www\.)?schema\.org/?", re.IGNORECASE)
_JSON_TYPE = "application/json"
_MAX_OBJECTS = 1_000
_DECODER = json.JSONDecoder()


def find_hydration_objects(document: Document, known: Iterable[Json]) -> list[Json]:
    """Return the schema.org objects in the hydration data of a page. `known` are the values of its JSON-LD scripts."""
    if Mark.HYDRATION not in document.marks or b"@context" not in document.body:
        return []
    found = [it for state in _iter_states(document) for it in _iter_schema_objects(state)]
    if not found:
        return []
    seen = [it for value in known for it in (value if isinstance(value, list) else [value])]
    distinct: list[Json] = []
    for value in found[:_MAX_OBJECTS]:
        if value not in seen and value not in distinct:
            distinct.append(value)
    return distinct


def _iter_states(document: Document) -> Iterator[Json]:
    """Yield the decoded hydration data of a page."""
    for node in document.html.css("script:not([src])"):
        attributes = node.attributes
        is_json = (attributes.get("type") or "").strip().lower() == _JSON_TYPE
        if is_json and not _STATE_ID.fullmatch(attributes.get("id") or ""):
            continue
        content = node.text()
        if "@context" not in content or len(content) > MAX_CHARACTERS:
            continue
        state = _decode_whole(content) if is_json else _decode_assigned(content)
        if state is not None:
            yield state


def _decode_whole(content: str) -> Json:
    try:
        return msgspec.json.decode(content)
    except (ValueError, RecursionError):
        return None


def _decode_assigned(content: str) -> Json:
    """Return the JSON that a script assigns to a global name in its first statement, or None."""
    start = _ASSIGNMENT.match(content)
    if start is None or content[start.end() : start.end() + 1] not in ("{", "["):
        return None
    try:
        value, end = _DECODER.raw_decode(content, start.end())
    except (ValueError, RecursionError):
        return None
    rest = content[end:].lstrip(" \t")
    return value if not rest.strip() or rest[0] in ";\n\r" else None


def _iter_schema_objects(state: Json) -> Iterator[Json]:
    """Yield the outermost objects that are JSON-LD with the context of schema.org, in document order."""
    waiting = [state]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            if _is_schema_object(value):
                yield value
            else:
                waiting.extend(reversed(value.values()))
        elif isinstance(value, list):
            waiting.extend(reversed(value))


def _is_schema_object(value: dict[str, Json]) -> bool:
    types = value.get("@type")
    is_typed = isinstance(types, str) or (
        isinstance(types, list) and bool(types) and all(isinstance(it, str) for it in types)
    )
    return (is_typed or isinstance(value.get("@graph"), list)) and _names_schema(value.get("@context"))


def _names_schema(context: Json) -> bool:
    if isinstance(context, list):
        return any(map(_names_schema, context))
    if isinstance(context, dict):
        return _names_schema(context.get("@vocab"))
    return isinstance(context, str) and _SCHEMA_CONTEXT.fullmatch(context.strip()) is not None
