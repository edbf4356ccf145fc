"""Property copying (HTML+RDFa 1.1, section 3.5): what a pattern says is said of every resource that copies it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from motherlode.model import Statement
from motherlode.model.terms import RDF_TYPE

_COPY = "<http://www.w3.org/ns/rdfa#copy>"
_PATTERN = "<http://www.w3.org/ns/rdfa#Pattern>"


def copied(statements: Sequence[Statement], *, limit: int) -> Sequence[Statement]:
    """The statements with patterns copied where they are wanted, and taken away where they were used."""
    if not any(statement[1] == _COPY for statement in statements):
        return statements
    patterns = {subject for subject, predicate, value, _ in statements if predicate == RDF_TYPE and value == _PATTERN}
    known = dict.fromkeys(statements)
    said_of: dict[str, list[Statement]] = {pattern: [] for pattern in patterns}
    copiers: dict[str, list[str]] = {pattern: [] for pattern in patterns}
    waiting = list(known)
    while waiting and len(known) < limit:
        statement = waiting.pop()
        subject, predicate, value, graph = statement
        new: list[Statement] = []
        if predicate == _COPY and value in patterns:
            copiers[value].append(subject)
            new.extend((subject, p, o, g) for _, p, o, g in said_of[value])
        if subject in patterns and (predicate, value) != (RDF_TYPE, _PATTERN):
            said_of[subject].append(statement)
            new.extend((copier, predicate, value, graph) for copier in copiers[subject])
        fresh = [it for it in new if it not in known]
        known.update(dict.fromkeys(fresh))
        waiting.extend(fresh)
    used = {pattern for pattern, by in copiers.items() if by}
    return [it for it in known if it[0] not in used and not (it[1] == _COPY and it[2] in used)]


# ── Vocabulary expansion (RDFa Core 1.1, section 10): what follows from a vocabulary's own definition.

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
