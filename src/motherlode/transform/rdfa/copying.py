"""Property copying (HTML+RDFa 1.1, section 3.5): what a pattern says is said of every resource that copies it."""

from __future__ import annotations

from collections.abc import Sequence

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
