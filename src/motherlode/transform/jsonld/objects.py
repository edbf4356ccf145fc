"""What becomes of an object once its entries are expanded (JSON-LD 1.1 API, section 5.1.2, steps 15 to 20)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from motherlode.transform.jsonld.active import Key
from motherlode.transform.jsonld.errors import ErrorCode, JsonLdError, shown
from motherlode.transform.jsonld.iris import iri_of, is_well_formed
from motherlode.transform.jsonld.keywords import VALUE_ENTRIES
from motherlode.transform.jsonld.settings import Json

if TYPE_CHECKING:
    from motherlode.transform.jsonld.expansion import Expander

Node = dict[str, Json]


def finished(result: Node, key: Key | None, *, strict: bool) -> Json:
    """A node, value, list or graph object; the members of a set; None for what says nothing."""
    if "@value" in result:
        value_object = _value_object(result, strict=strict)
        return None if key is None else value_object
    if "@set" in result or "@list" in result:
        if len(result) > 2 or (len(result) == 2 and "@index" not in result):
            raise JsonLdError(ErrorCode.INVALID_SET_OR_LIST_OBJECT, ", ".join(sorted(result))[:100])
        if "@set" in result:
            return result["@set"]
    elif "@type" in result and not isinstance(result["@type"], list):
        result["@type"] = [result["@type"]]
    if len(result) == 1 and "@language" in result:
        return None
    if key is None and (not result or "@list" in result or (len(result) == 1 and "@id" in result)):
        return None
    return result


def _value_object(result: Node, *, strict: bool) -> Node | None:
    """Step 15."""
    if not result.keys() <= VALUE_ENTRIES or ("@type" in result and result.keys() & {"@language", "@direction"}):
        raise JsonLdError(ErrorCode.INVALID_VALUE_OBJECT, ", ".join(sorted(result))[:100])
    type_ = result.get("@type")
    if type_ == "@json":
        return result
    value = result["@value"]
    if value is None or value == []:
        return None
    if "@language" in result and not isinstance(value, str):
        raise JsonLdError(ErrorCode.INVALID_LANGUAGE_TAGGED_VALUE, shown(value))
    if "@type" in result and not (isinstance(type_, str) and (is_well_formed if strict else iri_of)(type_)):
        raise JsonLdError(ErrorCode.INVALID_TYPED_VALUE, shown(type_))
    return result


def as_list(value: Json) -> list[Json]:
    if isinstance(value, list):
        return value
    return [] if value is None else [value]


def add_reverse(expander: Expander, turned: Node, iri: str, expanded: Json) -> None:
    """Step 13.13: only nodes can be at the other end of a reverse property."""
    items = as_list(expanded)
    nodes = [item for item in items if "@value" not in item and "@list" not in item]
    if len(nodes) < len(items):
        expander.tolerate(JsonLdError(ErrorCode.INVALID_REVERSE_PROPERTY_VALUE, iri))
    turned.setdefault(iri, []).extend(nodes)
