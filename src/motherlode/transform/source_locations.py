"""Problems of references, with their positions in the page. The search runs only if there are problems to report."""

from collections.abc import Iterable
from itertools import islice
from urllib.parse import unquote

from motherlode.model import Problem, Syntax
from motherlode.www.document import Document
from motherlode.www.iri import Iri, repair_message

_MAX_LOCATED_PROBLEMS = 10
"""Maximum number of problems per page whose positions are searched. Each search needs a few passes over the text."""
_MAX_REPORTED_IRIS = 100
"""Maximum number of invalid IRIs, and of repaired IRIs, that are reported for one page and syntax."""
_VALUE_DELIMITERS = ('"', "'", "=")
"""Characters before an attribute value. Attribute values are searched first, because the text may contain the same
words."""


class IriProblems:
    """Collects the invalid and the repaired IRIs of one page."""

    def __init__(self) -> None:
        self.invalid: dict[str, tuple[str, str]] = {}
        """Term → message, and the text in the page."""
        self._repaired: dict[str, tuple[str, str]] = {}

    def record(self, iri: Iri, original: str = "") -> str | None:
        """Return the term of an IRI, None if it is invalid. `original` is its text in the page if it differs."""
        if not iri.is_valid:
            self.invalid[iri.term] = f"not a valid IRI: <{iri.value[:200]}>", original or iri.value
            return None
        if iri.is_repaired:
            self._repaired[iri.term] = repair_message(iri), original or iri.value
        return iri.term

    def __contains__(self, term: str) -> bool:
        """Return whether a term is that of an invalid or a repaired IRI."""
        return term in self.invalid or term in self._repaired

    def locate(self, document: Document, syntax: Syntax) -> list[Problem]:
        """Return problems with positions in the page for the first invalid and the first repaired IRIs."""
        invalid, repaired = (islice(it.values(), _MAX_REPORTED_IRIS) for it in (self.invalid, self._repaired))
        return [
            *locate_problems(document, syntax, invalid),
            *locate_problems(document, syntax, repaired, repaired=True),
        ]


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
    spellings = (form for tail in tails for form in (tail, unquote(tail), tail.replace("&", "&amp;")))
    return [*dict.fromkeys(filter(None, spellings))]
