"""Maps: objects whose keys are languages, indexes, identifiers or types (expansion, steps 13.7 and 13.8)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from motherlode.transform.jsonld.active import ActiveContext, Key
from motherlode.transform.jsonld.errors import ErrorCode, JsonLdError, shown
from motherlode.transform.jsonld.settings import Json

if TYPE_CHECKING:
    from motherlode.transform.jsonld.expansion import Expander


def expand_language_map(expander: Expander, active: ActiveContext, entry: Key, value: dict[str, Json]) -> list[Json]:
    """Step 13.7."""
    result: list[Json] = []
    for language, strings in value.items():
        none = active.expand_term(language) == "@none"
        for string in strings if isinstance(strings, list) else [strings]:
            if string is None:
                continue
            if not isinstance(string, str):
                expander.tolerate(JsonLdError(ErrorCode.INVALID_LANGUAGE_MAP_VALUE, shown(string)))
                continue
            expanded = {"@value": string}
            if not none:
                expanded["@language"] = language
            if entry.direction is not None:
                expanded["@direction"] = entry.direction
            result.append(expanded)
    return result


def expand_index_map(expander: Expander, active: ActiveContext, entry: Key, value: dict[str, Json]) -> list[Json]:
    """Step 13.8."""
    result: list[Json] = []
    for index, values in value.items():
        context = _map_context(expander, active, entry, index)
        items = expander.expand(
            context, context.key(entry.name), values if isinstance(values, list) else [values], from_map=True
        )
        for item in items or ():
            try:
                result.append(_indexed(expander, active, entry, index, item))
            except JsonLdError as error:
                expander.tolerate(error)
    return result


def _map_context(expander: Expander, active: ActiveContext, entry: Key, index: str) -> ActiveContext:
    """Steps 13.8.3.1 to 13.8.3.3. What a type brings ends at the next node, as it does for `@type`."""
    if not entry.container & {"@id", "@type"}:
        return active
    context = active.previous or active
    if "@type" in entry.container:
        definition = context.term(index)
        if definition is not None and definition.context_key != -1:
            return expander.contexts.scoped(context, definition, override_protected=False, propagate=False)
    return context


def _indexed(expander: Expander, active: ActiveContext, entry: Key, index: str, item: Json) -> Json:
    """Step 13.8.3.7: the item with what its key in the map says of it."""
    container = entry.container
    if "@graph" in container and not _is_graph(item):
        item = {"@graph": item if isinstance(item, list) else [item]}
    expanded_index = active.expand_term(index)
    if expanded_index == "@none":
        return item
    index_key = (entry.definition.index if entry.definition else None) or "@index"
    if "@index" in container:
        if index_key != "@index":
            _add_index_property(expander, active, index_key, index, item)
        else:
            item.setdefault("@index", index)
    elif "@value" in item:
        raise JsonLdError(ErrorCode.INVALID_VALUE_OBJECT, index[:100])
    elif "@id" in container:
        if "@id" not in item:
            item["@id"] = expander.reference(active, index)
    elif "@type" in container:
        item["@type"] = [expanded_index, *item.get("@type", ())]
    return item


def _add_index_property(
    expander: Expander, active: ActiveContext, name: str, index: str, item: dict[str, Json]
) -> None:
    """Step 13.8.3.7.2."""
    key = active.key(name)
    if "@value" in item or key.iri is None:
        raise JsonLdError(ErrorCode.INVALID_VALUE_OBJECT, name)
    item[key.iri] = [expander.value(active, key, index), *item.get(key.iri, ())]


def _is_graph(item: Json) -> bool:
    """A graph object has `@graph` and nothing but a name beside it."""
    return isinstance(item, dict) and "@graph" in item and item.keys() <= {"@graph", "@id", "@index", "@context"}
