"""Vocabulary expansion (RDFa Core 1.1, section 10): what follows from a vocabulary's own definition."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from motherlode.model import Statement
from motherlode.model.terms import RDF_TYPE

_RDFS = "http://www.w3.org/2000/01/rdf-schema#"
_OWL = "http://www.w3.org/2002/07/owl#"
_SUB = {f"<{_RDFS}subPropertyOf>": "property", f"<{_RDFS}subClassOf>": "class"}
_SAME = {f"<{_OWL}equivalentProperty>": "property", f"<{_OWL}equivalentClass>": "class"}


def expanded(statements: Iterable[Statement], vocabularies: Iterable[Statement]) -> tuple[Statement, ...]:
    """The statements and all that follows from the definitions by the rules of section 10.1.1."""
    wider = {"property": _closure(vocabularies, "property"), "class": _closure(vocabularies, "class")}
    found: dict[Statement, None] = {}
    for subject, predicate, value, graph in statements:
        for implied in (predicate, *wider["property"].get(predicate, ())):
            values = (value, *wider["class"].get(value, ())) if implied == RDF_TYPE else (value,)
            found.update(dict.fromkeys((subject, implied, it, graph) for it in values))
    return tuple(found)


def _closure(vocabularies: Iterable[Statement], of: str) -> Mapping[str, set[str]]:
    """All wider classes or properties of each."""
    direct: defaultdict[str, set[str]] = defaultdict(set)
    for subject, predicate, value, _ in vocabularies:
        if _SUB.get(predicate) == of or _SAME.get(predicate) == of:
            direct[subject].add(value)
        if _SAME.get(predicate) == of:
            direct[value].add(subject)
    closed: dict[str, set[str]] = {}
    for start in list(direct):
        seen: set[str] = set()
        waiting = [start]
        while waiting:
            for wider in direct.get(waiting.pop(), ()):
                if wider not in seen:
                    seen.add(wider)
                    waiting.append(wider)
        closed[start] = seen - {start}
    return closed
