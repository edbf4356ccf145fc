"""Find the positions of invalid references in a page. The search runs only if there are problems to report."""

from collections.abc import Iterable
from urllib.parse import unquote

from motherlode.model import Problem, Syntax
from motherlode.www.document import Document

_MAX_LOCATED_PROBLEMS = 10
"""Maximum number of problems per page whose positions are searched. Each search needs a few passes over the text."""
_VALUE_DELIMITERS = ('"', "'", "=")
"""Characters before an attribute value. Attribute values are searched first, because the text may contain the same
words."""


def locate_problems(
    document: Document, syntax: Syntax, found: Iterable[tuple[str, str]], *, repaired: bool = False
) -> list[Problem]:
    """Return problems for pairs of a message and the reference that it is about."""
    problems = []
    for number, (message, reference) in enumerate(found):
        line, column = _find_position(document.text, reference) if number < _MAX_LOCATED_PROBLEMS else (None, None)
        problems.append(Problem(syntax=syntax, message=message, line=line, column=column, repaired=repaired))
    return problems


def _find_position(source: str, reference: str) -> tuple[int, int] | tuple[None, None]:
    """Return the line and column of a reference; (None, None) if it is not found."""
    for form in _possible_spellings(reference):
        anywhere = source.find(form)
        if anywhere == -1:
            continue
        as_value = (source.find(before + form, max(anywhere - 1, 0)) for before in _VALUE_DELIMITERS)
        at = min((found + 1 for found in as_value if found != -1), default=anywhere)
        return source.count("\n", 0, at) + 1, at - source.rfind("\n", 0, at)
    return None, None


def _possible_spellings(reference: str) -> list[str]:
    """Return spellings of a resolved and escaped reference that the page may contain."""
    tails = [reference[at:] for at in (0, reference.find("//")) if at != -1]
    spelt = (form for tail in tails for form in (tail, unquote(tail), tail.replace("&", "&amp;")))
    return [*dict.fromkeys(filter(None, spelt))]
