"""Expansion of keyword entries and maps, and checks of expanded objects. Steps: JSON-LD 1.1 API, section 5.1.2."""

from __future__ import annotations

from typing import TYPE_CHECKING

from motherlode.transform.jsonld.active_context import ActiveContext, ExpandedKey
from motherlode.transform.jsonld.jsonld_errors import JsonLdError, require
from motherlode.transform.jsonld.processor_options import VALUE_ENTRIES, Json, Node, is_well_formed, parse_iri

if TYPE_CHECKING:
    from motherlode.transform.jsonld.expansion import Expander


def finish_object(result: Node, key: ExpandedKey | None, *, strict: bool) -> Json:
    """Check an expanded object and return it (steps 15 to 20): the members of a set object, None if it is dropped."""
    if "@value" in result:
        value_object = _check_value_object(result, strict=strict)
        return None if key is None else value_object
    if "@set" in result or "@list" in result:
        is_valid = len(result) == 1 or (len(result) == 2 and "@index" in result)
        require(is_valid, "invalid set or list object", ", ".join(sorted(result))[:100])
        if "@set" in result:
            return result["@set"]
    elif "@type" in result and not isinstance(result["@type"], list):
        result["@type"] = [result["@type"]]
    if len(result) == 1 and "@language" in result:
        return None
    if key is None and (not result or "@list" in result or (len(result) == 1 and "@id" in result)):
        return None
    return result


def _check_value_object(result: Node, *, strict: bool) -> Node | None:
    """Return a valid value object; None if its value is null (step 15)."""
    if not result.keys() <= VALUE_ENTRIES or ("@type" in result and result.keys() & {"@language", "@direction"}):
        raise JsonLdError("invalid value object", ", ".join(sorted(result))[:100])
    type_ = result.get("@type")
    if type_ == "@json":
        return result
    value = result["@value"]
    if value is None or value == []:
        return None
    require("@language" not in result or isinstance(value, str), "invalid language-tagged value", value)
    if "@type" in result and not (isinstance(type_, str) and (is_well_formed if strict else parse_iri)(type_)):
        raise JsonLdError("invalid typed value", type_)
    return result


def as_list(value: Json) -> list[Json]:
    """Return an array unchanged, null as an empty list, and other values in a list."""
    if isinstance(value, list):
        return value
    return [] if value is None else [value]


# Maps: objects whose keys are languages, indexes, identifiers or types (steps 13.7 and 13.8)


def expand_language_map(expander: Expander, active: ActiveContext, entry: ExpandedKey, value: Node) -> list[Json]:
    """Expand a language map (step 13.7)."""
    result: list[Json] = []
    for language, strings in value.items():
        none = active.expand_term(language) == "@none"
        for string in strings if isinstance(strings, list) else [strings]:
            if string is None:
                continue
            if not isinstance(string, str):
                expander.notes.tolerate(JsonLdError("invalid language map value", string))
                continue
            expanded = {"@value": string}
            if not none:
                expanded["@language"] = language
            if entry.direction is not None:
                expanded["@direction"] = entry.direction
            result.append(expanded)
    return result


def expand_index_map(expander: Expander, active: ActiveContext, entry: ExpandedKey, value: Node) -> list[Json]:
    """Expand an index, identifier, type or graph map (step 13.8)."""
    result: list[Json] = []
    for index, values in value.items():
        context = _find_map_context(expander, active, entry, index)
        items = expander.expand(
            context, context.key(entry.name), values if isinstance(values, list) else [values], from_map=True
        )
        for item in items or ():
            try:
                result.append(_add_index(expander, active, entry, index, item))
            except JsonLdError as error:
                expander.notes.tolerate(error)
    return result


def _find_map_context(expander: Expander, active: ActiveContext, entry: ExpandedKey, index: str) -> ActiveContext:
    """Return the context for the values of a map entry (steps 13.8.3.1 to 13.8.3.3). Type scopes end here."""
    if not entry.container & {"@id", "@type"}:
        return active
    context = active.previous or active
    if "@type" in entry.container:
        definition = context.term(index)
        if definition is not None and definition.context_key != -1:
            return expander.contexts.apply_scoped(context, definition, is_type=True)
    return context


def _add_index(expander: Expander, active: ActiveContext, entry: ExpandedKey, index: str, item: Json) -> Json:
    """Add the key of a map entry to its item: as `@index`, `@id`, `@type` or a property (step 13.8.3.7)."""
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
        raise JsonLdError("invalid value object", index[:100])
    elif "@id" in container:
        if "@id" not in item:
            item["@id"] = expander.expand_id(active, index)
    elif "@type" in container:
        item["@type"] = [expanded_index, *item.get("@type", ())]
    return item


def _add_index_property(expander: Expander, active: ActiveContext, name: str, index: str, item: Node) -> None:
    """Add the key of the map as the value of a property (step 13.8.3.7.2)."""
    key = active.key(name)
    if "@value" in item or key.iri is None:
        raise JsonLdError("invalid value object", name)
    item[key.iri] = [expander.expand_value(active, key, index), *item.get(key.iri, ())]


def _is_graph(item: Json) -> bool:
    """Return whether an item is a graph object: `@graph` with at most a name and an index."""
    return isinstance(item, dict) and "@graph" in item and item.keys() <= {"@graph", "@id", "@index", "@context"}


# Entries whose keys are keywords (step 13.4)

_SCALARS = (str, int, float, bool)


class ObjectExpansion:
    """The expansion of one object, including entries nested with `@nest`."""

    __slots__ = ("_element", "_expander", "_type_names", "outside", "result", "seen_reverse")

    def __init__(self, expander: Expander, outside: ActiveContext, element: Node, type_names: list[str]) -> None:
        self.outside = outside
        """The context without the type-scoped contexts. Types are expanded in it."""
        self.result: Node = {}
        self.seen_reverse = False
        """Whether `@reverse` occurred. `result` may contain `@reverse` without it, from reverse properties."""
        self._expander = expander
        self._element = element
        self._type_names = type_names

    def add_keyword(self, active: ActiveContext, key: ExpandedKey | None, entry: ExpandedKey, value: Json) -> None:
        """Add one entry to the result. `key` is the active property, `entry` the key of the entry."""
        expander, result, keyword = self._expander, self.result, entry.iri
        if key is not None and key.iri == "@reverse":
            raise JsonLdError("invalid reverse property map", entry.name)
        collides = self.seen_reverse if keyword == "@reverse" else keyword in result
        if collides and not (expander.is_1_1 and keyword in ("@included", "@type")):
            raise JsonLdError("colliding keywords", entry.name)
        if keyword == "@type":
            self._add_types(value)
        elif keyword == "@id":
            require(isinstance(value, str), "invalid @id value", value)
            result["@id"] = expander.expand_id(active, value)
        elif keyword == "@value":
            self._add_value(value)
        elif keyword in ("@language", "@direction", "@index"):
            self._add_annotation(keyword, value)
        elif keyword == "@graph":
            result["@graph"] = as_list(expander.expand(active, None, value))
        elif keyword == "@included":
            self._add_included(active, value)
        elif keyword == "@list":
            if key is not None:
                result["@list"] = as_list(expander.expand(active, active.key(key.name), value))
        elif keyword == "@set":
            result["@set"] = expander.expand(active, None if key is None else active.key(key.name), value)
        elif keyword == "@reverse":
            self._add_reverse_map(active, entry, value)

    def _add_types(self, value: Json) -> None:
        """Expand `@type` (step 13.4.4)."""
        expand_type, outside = self._expander.expand_type, self.outside
        if isinstance(value, str):
            expanded: Json = expand_type(outside, value)
        else:
            require(isinstance(value, list), "invalid type value", value)
            strings = [item for item in value if isinstance(item, str)]
            if len(strings) < len(value):
                self._expander.notes.tolerate(JsonLdError("invalid type value", "not a string"))
            expanded = [expand_type(outside, item) for item in strings]
        if "@type" in self.result:
            expanded = as_list(self.result["@type"]) + as_list(expanded)
        self.result["@type"] = expanded

    def _add_value(self, value: Json) -> None:
        """Expand `@value` (step 13.4.7)."""
        if self._input_type() == "@json":
            require(self._expander.is_1_1, "invalid value object value", "@json")
        elif value is not None and not isinstance(value, _SCALARS):
            self._expander.notes.tolerate(JsonLdError("invalid value object value", value))
            value = None  # a value object without a value would be taken for a blank node
        self.result["@value"] = value

    def _input_type(self) -> str | None:
        """Return the last value of the first type entry, expanded (step 12)."""
        types = as_list(self._element[self._type_names[0]]) if self._type_names else []
        return self._expander.expand_type(self.outside, types[-1]) if types and isinstance(types[-1], str) else None

    def _add_annotation(self, keyword: str, value: Json) -> None:
        """Expand `@language`, `@direction` or `@index` (steps 13.4.8 to 13.4.10)."""
        if keyword == "@language":
            require(isinstance(value, str), "invalid language-tagged string", value)
        elif keyword == "@index":
            require(isinstance(value, str), "invalid @index value", value)
        elif not self._expander.is_1_1:
            return
        else:
            require(value in ("ltr", "rtl"), "invalid base direction", value)
        self.result[keyword] = value

    def _add_included(self, active: ActiveContext, value: Json) -> None:
        """Expand `@included` (step 13.4.6)."""
        if not self._expander.is_1_1:
            return
        expanded = self._expander.expand(active, None, value)
        items = expanded if isinstance(expanded, list) else [expanded]
        are_nodes = all(isinstance(item, dict) and not item.keys() & {"@value", "@list", "@set"} for item in items)
        require(are_nodes, "invalid @included value", value)
        self.result["@included"] = self.result.get("@included", []) + items

    def _add_reverse_map(self, active: ActiveContext, entry: ExpandedKey, value: Json) -> None:
        """Expand `@reverse` (step 13.4.13)."""
        require(isinstance(value, dict), "invalid @reverse value", entry.name)
        self.seen_reverse = True
        expanded = self._expander.expand(active, active.key("@reverse"), value) or {}
        reverse_entries = expanded.pop("@reverse", {})
        if any(name[0] == "@" for name in expanded):  # a keyword can still come from @nest
            raise JsonLdError("invalid reverse property map", entry.name)
        for iri, items in reverse_entries.items():
            self.result.setdefault(iri, []).extend(items)
        for iri, items in expanded.items():
            self.add_reverse(iri, items)

    def add_reverse(self, iri: str, expanded: Json) -> None:
        """Add the values of a reverse property, which must be nodes (step 13.13)."""
        items = as_list(expanded)
        nodes = [item for item in items if "@value" not in item and "@list" not in item]
        self.result.setdefault("@reverse", {}).setdefault(iri, []).extend(nodes)
        if len(nodes) < len(items):
            self._expander.notes.tolerate(JsonLdError("invalid reverse property value", iri))
