"""Vocabulary expansion (RDFa Core 1.1, section 10), which is optional and only the RDFa test suite needs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from motherlode.model import Statement
from motherlode.model.terms import RDF_TYPE

_RDFS = "http://www.w3.org/2000/01/rdf-schema#"
_OWL = "http://www.w3.org/2002/07/owl#"
_SUB = {f"<{_RDFS}subPropertyOf>": "property", f"<{_RDFS}subClassOf>": "class"}
_EQUIVALENT = {f"<{_OWL}equivalentProperty>": "property", f"<{_OWL}equivalentClass>": "class"}


def expand_vocabulary(statements: Iterable[Statement], vocabulary: Iterable[Statement]) -> tuple[Statement, ...]:
    """Return the statements and those that follow from the vocabulary by the rules of section 10.1.1."""
    vocabulary = tuple(vocabulary)
    super_properties = _transitive_closure(vocabulary, "property")
    super_classes = _transitive_closure(vocabulary, "class")
    found: dict[Statement, None] = {}
    for subject, predicate, value, graph in statements:
        for implied in (predicate, *super_properties.get(predicate, ())):
            values = (value, *super_classes.get(value, ())) if implied == RDF_TYPE else (value,)
            found.update(dict.fromkeys((subject, implied, it, graph) for it in values))
    return tuple(found)


def _transitive_closure(vocabulary: Iterable[Statement], of: str) -> Mapping[str, set[str]]:
    """Return all direct and indirect superclasses of each class, or superproperties of each property."""
    direct: defaultdict[str, set[str]] = defaultdict(set)
    for subject, predicate, value, _ in vocabulary:
        if _SUB.get(predicate) == of or _EQUIVALENT.get(predicate) == of:
            direct[subject].add(value)
        if _EQUIVALENT.get(predicate) == of:
            direct[value].add(subject)
    closure: dict[str, set[str]] = {}
    for start in list(direct):
        seen: set[str] = set()
        queue = [start]
        while queue:
            for wider in direct.get(queue.pop(), ()):
                if wider not in seen:
                    seen.add(wider)
                    queue.append(wider)
        closure[start] = seen - {start}
    return closure
