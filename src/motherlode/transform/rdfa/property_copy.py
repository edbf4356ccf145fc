"""Property copying (HTML+RDFa 1.1, section 3.5).

A resource that refers to an `rdfa:Pattern` by `rdfa:copy` gets all statements of the pattern.
"""

from __future__ import annotations

from collections.abc import Sequence

from motherlode.model import Statement
from motherlode.model.terms import RDF_TYPE

_COPY = "<http://www.w3.org/ns/rdfa#copy>"
_PATTERN = "<http://www.w3.org/ns/rdfa#Pattern>"


def copy_patterns(statements: Sequence[Statement], *, limit: int) -> Sequence[Statement]:
    """Return the statements with each pattern copied to the resources that refer to it.

    Statements about a pattern that was copied are removed. Copying ends when there are `limit` statements.
    """
    if not any(statement[1] == _COPY for statement in statements):
        return statements
    patterns = {subject for subject, predicate, value, _ in statements if predicate == RDF_TYPE and value == _PATTERN}
    known = dict.fromkeys(statements)
    by_pattern: dict[str, list[Statement]] = {pattern: [] for pattern in patterns}
    copiers: dict[str, list[str]] = {pattern: [] for pattern in patterns}
    queue = list(known)
    while queue and len(known) < limit:
        statement = queue.pop()
        subject, predicate, value, graph = statement
        copies: list[Statement] = []
        if predicate == _COPY and value in patterns:
            copiers[value].append(subject)
            copies.extend((subject, p, o, g) for _, p, o, g in by_pattern[value])
        if subject in patterns and (predicate, value) != (RDF_TYPE, _PATTERN):
            by_pattern[subject].append(statement)
            copies.extend((copier, predicate, value, graph) for copier in copiers[subject])
        new = [copy for copy in copies if copy not in known]
        known.update(dict.fromkeys(new))
        queue.extend(new)
    used = {pattern for pattern, by in copiers.items() if by}
    return [it for it in known if it[0] not in used and not (it[1] == _COPY and it[2] in used)]
