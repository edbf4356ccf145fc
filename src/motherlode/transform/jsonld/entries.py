"""The entries of an object whose keys are keywords (JSON-LD 1.1 API, section 5.1.2, step 13.4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from motherlode.transform.jsonld.active import ActiveContext, Key
from motherlode.transform.jsonld.errors import ErrorCode, JsonLdError, shown
from motherlode.transform.jsonld.objects import add_reverse, as_list
from motherlode.transform.jsonld.settings import Json

if TYPE_CHECKING:
    from motherlode.transform.jsonld.expansion import Expander

Node = dict[str, Json]
_SCALARS = (str, int, float, bool)


class Scope:
    """What the entries of one object, and of the objects nested in it, ask about the object as a whole."""

    __slots__ = ("_element", "_expander", "_type_names", "outside", "seen_reverse")

    def __init__(self, expander: Expander, outside: ActiveContext, element: Node, type_names: list[str]) -> None:
        self.outside = outside
        """The context before type-scoped ones were applied, in which types are expanded."""
        self.seen_reverse = False
        """Reverse properties come together under `@reverse`, which may itself be there once."""
        self._expander = expander
        self._element = element
        self._type_names = type_names

    def input_type(self) -> str | None:
        """Step 12: the last value of the first type entry."""
        if not self._type_names:
            return None
        value = self._element[self._type_names[0]]
        if isinstance(value, list):
            value = value[-1] if value else None
        return self._expander.type_iri(self.outside, value) if isinstance(value, str) else None


def expand_keyword(
    expander: Expander, active: ActiveContext, key: Key | None, entry: Key, value: Json, result: Node, scope: Scope
) -> None:
    """Adds one entry to the result. `key` is the active property, `entry` the key of the entry itself.

    The object may have changed the context, so for the members of a list or set the active property is asked for anew.
    """
    keyword = entry.iri
    if key is not None and key.iri == "@reverse":
        raise JsonLdError(ErrorCode.INVALID_REVERSE_PROPERTY_MAP, entry.name)
    collides = scope.seen_reverse if keyword == "@reverse" else keyword in result
    if collides and not (expander.modern and keyword in ("@included", "@type")):
        raise JsonLdError(ErrorCode.COLLIDING_KEYWORDS, entry.name)
    if keyword == "@type":
        _types(expander, value, result, scope)
    elif keyword == "@id":
        if not isinstance(value, str):
            raise JsonLdError(ErrorCode.INVALID_ID_VALUE, shown(value))
        result["@id"] = expander.reference(active, value)
    elif keyword == "@value":
        _value(expander, value, result, scope)
    elif keyword in ("@language", "@direction", "@index"):
        _annotation(expander, keyword, value, result)
    elif keyword == "@graph":
        result["@graph"] = as_list(expander.expand(active, None, value))
    elif keyword == "@included":
        _included(expander, active, value, result)
    elif keyword == "@list":
        if key is not None:
            result["@list"] = as_list(expander.expand(active, active.key(key.name), value))
    elif keyword == "@set":
        result["@set"] = expander.expand(active, None if key is None else active.key(key.name), value)
    elif keyword == "@reverse":
        _reverse(expander, active, entry, value, result, scope)


def _types(expander: Expander, value: Json, result: Node, scope: Scope) -> None:
    """Step 13.4.4."""
    if isinstance(value, str):
        expanded: Json = expander.type_iri(scope.outside, value)
    elif isinstance(value, list):
        strings = [item for item in value if isinstance(item, str)]
        if len(strings) < len(value):
            expander.tolerate(JsonLdError(ErrorCode.INVALID_TYPE_VALUE, "not a string"))
        expanded = [expander.type_iri(scope.outside, item) for item in strings]
    else:
        raise JsonLdError(ErrorCode.INVALID_TYPE_VALUE, shown(value))
    if "@type" in result:
        expanded = as_list(result["@type"]) + as_list(expanded)
    result["@type"] = expanded


def _value(expander: Expander, value: Json, result: Node, scope: Scope) -> None:
    """Step 13.4.7."""
    if scope.input_type() == "@json":
        if not expander.modern:
            raise JsonLdError(ErrorCode.INVALID_VALUE_OBJECT_VALUE, "@json")
    elif value is not None and not isinstance(value, _SCALARS):
        expander.tolerate(JsonLdError(ErrorCode.INVALID_VALUE_OBJECT_VALUE, shown(value)))
        value = None  # a value object without its value would pass for a blank node
    result["@value"] = value


def _annotation(expander: Expander, keyword: str, value: Json, result: Node) -> None:
    """Steps 13.4.8 to 13.4.10."""
    if keyword == "@language" and not isinstance(value, str):
        raise JsonLdError(ErrorCode.INVALID_LANGUAGE_TAGGED_STRING, shown(value))
    if keyword == "@direction":
        if not expander.modern:
            return
        if value not in ("ltr", "rtl"):
            raise JsonLdError(ErrorCode.INVALID_BASE_DIRECTION, shown(value))
    if keyword == "@index" and not isinstance(value, str):
        raise JsonLdError(ErrorCode.INVALID_INDEX_VALUE, shown(value))
    result[keyword] = value


def _included(expander: Expander, active: ActiveContext, value: Json, result: Node) -> None:
    """Step 13.4.6."""
    if not expander.modern:
        return
    expanded = expander.expand(active, None, value)
    items = expanded if isinstance(expanded, list) else [expanded]
    if not all(isinstance(item, dict) and not item.keys() & {"@value", "@list", "@set"} for item in items):
        raise JsonLdError(ErrorCode.INVALID_INCLUDED_VALUE, shown(value))
    result["@included"] = result.get("@included", []) + items


def _reverse(expander: Expander, active: ActiveContext, entry: Key, value: Json, result: Node, scope: Scope) -> None:
    """Step 13.4.13."""
    if not isinstance(value, dict):
        raise JsonLdError(ErrorCode.INVALID_REVERSE_VALUE, entry.name)
    scope.seen_reverse = True
    expanded = expander.expand(active, active.key("@reverse"), value) or {}
    turned_back = expanded.pop("@reverse", {})
    if any(name[0] == "@" for name in expanded):  # a keyword can still come in by way of @nest
        raise JsonLdError(ErrorCode.INVALID_REVERSE_PROPERTY_MAP, entry.name)
    for iri, items in turned_back.items():
        result.setdefault(iri, []).extend(items)
    if expanded:
        turned = result.setdefault("@reverse", {})
        for iri, items in expanded.items():
            add_reverse(expander, turned, iri, items)
