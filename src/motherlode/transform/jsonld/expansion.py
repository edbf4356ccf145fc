"""Expansion (JSON-LD 1.1 API, section 5.1). Step numbers in docstrings are those of section 5.1.2."""

from motherlode.transform.jsonld import expansion_entries
from motherlode.transform.jsonld.active_context import DOCUMENT, ActiveContext, ExpandedKey
from motherlode.transform.jsonld.context_processor import ContextProcessor
from motherlode.transform.jsonld.expansion_entries import ObjectExpansion
from motherlode.transform.jsonld.jsonld_errors import JsonLdError, LimitExceeded, Notes, require
from motherlode.transform.jsonld.processor_options import KEYWORDS, Json, Mode, Node, ProcessorOptions, is_blank
from motherlode.www.iri import is_absolute, resolve

_MAX_DEPTH = 120
"""Nesting of objects and arrays. Each level takes a few Python calls, so this is below the recursion limit."""


class Expander:
    """Expands one document."""

    def __init__(self, options: ProcessorOptions, notes: Notes, contexts: ContextProcessor) -> None:
        self._base = options.base
        self._strict = options.strict
        self._strips_iris = options.repairs_iris
        self.is_1_1 = options.mode is Mode.V1_1
        self._remaining_depth = _MAX_DEPTH
        self.notes = notes
        self.contexts = contexts

    def expand(self, active: ActiveContext, key: ExpandedKey | None, element: Json, *, from_map: bool = False) -> Json:
        """Expand any element. `key` is the active property in `active`; None at the top level and in `@graph`."""
        if element is None:
            return None
        if isinstance(element, (dict, list)):
            self._enter()
            try:
                if isinstance(element, dict):
                    return self._expand_object(active, key, element, from_map=from_map)
                return self._expand_array(active, key, element, from_map=from_map)
            finally:
                self._remaining_depth += 1
        if key is None:
            return None
        if key.scoped and key.definition is not None:
            active = self.contexts.apply_scoped(active, key.definition, is_type=False)
            key = active.key(key.name)
        return self.expand_value(active, key, element)

    def _enter(self) -> None:
        if self._remaining_depth <= 0:
            raise LimitExceeded("loading document failed", "nested too deep")
        self._remaining_depth -= 1

    def _expand_array(self, active: ActiveContext, key: ExpandedKey | None, elements: Json, *, from_map: bool) -> Json:
        """Expand an array (step 5)."""
        result: list[Json] = []
        lists = key is not None and "@list" in key.container
        for element in elements:
            try:
                expanded = self.expand(active, key, element, from_map=from_map)
            except JsonLdError as error:
                self.notes.tolerate(error)
                continue
            if isinstance(expanded, list):
                if lists:
                    result.append({"@list": expanded})
                else:
                    result.extend(expanded)
            elif expanded is not None:
                result.append(expanded)
        return result

    def expand_value(self, active: ActiveContext, key: ExpandedKey, value: Json) -> Node:
        """Expand a scalar (Value Expansion, section 5.3.2)."""
        coercion = key.type
        if type(value) is str:
            if coercion is None or coercion == "@none":
                result = {"@value": value}
                if key.language is not None:
                    result["@language"] = key.language
                if key.direction is not None:
                    result["@direction"] = key.direction
                return result
            if coercion == "@id":
                return {"@id": self.expand_id(active, value)}
            if coercion == "@vocab":
                return {"@id": self.expand_type(active, value)}
        elif coercion is None or coercion in ("@id", "@vocab", "@none"):
            return {"@value": value}
        return {"@value": value, "@type": coercion}

    def expand_id(self, active: ActiveContext, value: str) -> str | None:
        """Expand the value of `@id`: an IRI relative to the document, without the vocabulary mapping."""
        if value[:1] <= " " and self._strips_iris:
            value = self._strip_leading_space(value)
        found = active.expand_reference(value)
        return found if found is None else self._resolve(active, found)

    def expand_type(self, active: ActiveContext, value: str) -> str | None:
        """Expand the value of `@type`: an IRI with the vocabulary mapping, then relative to the document."""
        if value[:1] <= " " and self._strips_iris:
            value = self._strip_leading_space(value)
        key = active.key(value)
        if key.absolute:
            return key.iri
        found = active.expand_term(value)
        if found is None or (active.is_incomplete and ":" not in found):
            return None
        return self._resolve(active, found)

    def _resolve(self, active: ActiveContext, iri: str) -> str:
        if is_absolute(iri) or is_blank(iri) or iri in KEYWORDS:
            return iri
        base = self._base if active.base is DOCUMENT else active.base
        return iri if base is None else resolve(base, iri)

    def _strip_leading_space(self, value: str) -> str:
        """Remove white space before a reference, which would turn an absolute IRI into a relative one."""
        stripped = value.lstrip()
        if stripped != value:
            self.notes.add("white space before an IRI was left out", value, repaired=True)
        return stripped

    def _expand_object(self, active: ActiveContext, key: ExpandedKey | None, element: Node, *, from_map: bool) -> Json:
        """Expand an object (steps 6 to 20)."""
        if active.previous is not None and not from_map and self._leaves_type_scope(active, element):
            active = active.previous
        if key is not None and key.scoped and key.definition is not None:
            active = self.contexts.apply_scoped(active, key.definition, is_type=False)
        if "@context" in element:
            active = self.contexts.apply_embedded(active, element["@context"])
        outside = active
        type_names = self._find_type_keys(active, element)
        if type_names:
            active = self._apply_type_scopes(active, element, type_names)
        expansion = ObjectExpansion(self, outside, element, type_names)
        self._expand_entries(active, key, element, expansion)
        return expansion_entries.finish_object(expansion.result, key, strict=self._strict)

    def _leaves_type_scope(self, active: ActiveContext, element: Node) -> bool:
        """Return whether a type-scoped context ends here (step 7). It ends at the next node object."""
        known, find = active.key_cache, self._find_key
        expanded = [(known.get(name) or find(active, name)).iri for name in element]
        return "@value" not in expanded and expanded != ["@id"]

    def _find_key(self, active: ActiveContext, name: str) -> ExpandedKey:
        """Return the expanded key for a name. White space around undefined names is removed, unless repairs are off."""
        stripped = name.strip() if self._strips_iris else name
        if stripped == name or not stripped or active.term(name) is not None:
            return active.key(name)
        self.notes.add("white space around a key was left out", name, repaired=True)
        return active.key(stripped)

    def _find_type_keys(self, active: ActiveContext, element: Node) -> list[str]:
        known, find = active.key_cache, self._find_key
        found = [name for name in element if (known.get(name) or find(active, name)).iri == "@type"]
        return sorted(found) if len(found) > 1 else found

    def _apply_type_scopes(self, active: ActiveContext, element: Node, type_names: list[str]) -> ActiveContext:
        """Apply the scoped contexts of the types of an object (step 11)."""
        outside = active
        for name in type_names:
            value = element[name]
            types = [value] if isinstance(value, str) else value if isinstance(value, list) else []
            if len(types) > 1:
                types = sorted(item for item in types if isinstance(item, str))
            for item in types:
                key = outside.key(item) if isinstance(item, str) else None
                if key is not None and key.scoped and key.definition is not None:
                    active = self.contexts.apply_scoped(active, key.definition, is_type=True)
        return active

    def _expand_entries(
        self, active: ActiveContext, key: ExpandedKey | None, element: Node, expansion: ObjectExpansion
    ) -> None:
        """Add the entries of an object to its expansion (steps 13 and 14)."""
        nests: list[str] = []
        result = expansion.result
        known, find = active.key_cache, self._find_key
        for name, value in element.items():
            entry = known.get(name) or find(active, name)
            iri = entry.iri
            if iri is None or name == "@context":
                continue
            try:
                if entry.keyword:
                    if iri == "@nest":
                        nests.append(name)
                    else:
                        expansion.add_keyword(active, key, entry, value)
                    continue
                expanded = self._expand_property(active, entry, value)
                if expanded is None:
                    continue
                if entry.definition is not None and entry.definition.reverse:
                    expansion.add_reverse(iri, expanded)
                elif type(expanded) is list:
                    result.setdefault(iri, []).extend(expanded)
                elif iri in result:
                    result[iri].append(expanded)
                else:
                    result[iri] = [expanded]
            except JsonLdError as error:
                self.notes.tolerate(error)
        for name in nests:
            self._expand_nest(active, find(active, name), element[name], expansion)

    def _expand_property(self, active: ActiveContext, entry: ExpandedKey, value: Json) -> Json:
        """Expand the value of a property (steps 13.5 to 13.12)."""
        if entry.simple:
            if type(value) is str:
                return self.expand_value(active, entry, value)
            return self.expand(active, entry, value)
        container = entry.container
        if entry.type == "@json":
            expanded: Json = {"@value": value, "@type": "@json"}
        elif isinstance(value, dict) and "@language" in container:
            expanded = expansion_entries.expand_language_map(self, active, entry, value)
        elif isinstance(value, dict) and container & {"@index", "@type", "@id"}:
            expanded = expansion_entries.expand_index_map(self, active, entry, value)
        else:
            expanded = self.expand(active, entry, value)
        if expanded is None:
            return None
        if "@list" in container and not (isinstance(expanded, dict) and "@list" in expanded):
            expanded = {"@list": expanded if isinstance(expanded, list) else [expanded]}
        if "@graph" in container and not container & {"@id", "@index"}:
            values = expanded if isinstance(expanded, list) else [expanded]
            expanded = [{"@graph": [value]} for value in values]
        return expanded

    def _expand_nest(self, active: ActiveContext, entry: ExpandedKey, values: Json, expansion: ObjectExpansion) -> None:
        """Expand the value of a nesting term (step 14), with its scoped context (steps 3 and 8)."""
        self._enter()
        try:
            if entry.scoped and entry.definition is not None:
                active = self.contexts.apply_scoped(active, entry.definition, is_type=False)
            for value in values if isinstance(values, list) else [values]:
                is_node = isinstance(value, dict) and all(active.key(name).iri != "@value" for name in value)
                require(is_node, "invalid @nest value", entry.name)
                self._expand_entries(active, entry, value, expansion)
        except JsonLdError as error:
            self.notes.tolerate(error)
        finally:
            self._remaining_depth += 1
