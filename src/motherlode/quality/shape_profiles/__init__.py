"""Profiles: bundled shapes by name, and validators for one or several profiles and files of shapes."""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import pyoxigraph as ox

from motherlode.quality.page_graph import PageGraph, Triple
from motherlode.quality.schema_terms import RULES, check_terms, superclasses
from motherlode.quality.shapes import Result
from motherlode.quality.validation import ShapeError, Validator, parse_triples

SCHEMA_ORG = "schema.org"
_FOLDER = Path(__file__).parent
PROFILES = (SCHEMA_ORG, *sorted(path.stem for path in _FOLDER.glob("*.ttl")))
"""Names of the bundled profiles."""


class PageValidation(NamedTuple):
    """The validation results of one page."""

    results: list[Result]
    nodes: int
    """Number of nodes of the page that the profile is about."""

    @property
    def is_valid(self) -> bool:
        """Whether the profile is about something on the page, and nothing violates it. Warnings are allowed."""
        return self.nodes > 0 and not any(result.severity == "violation" for result in self.results)


class PageValidator:
    """Validates pages with the shapes of some profiles and files, and with the rules for terms of schema.org."""

    def __init__(self, triples: Sequence[Triple], *, has_term_rules: bool = False) -> None:
        self.shapes_graph = PageGraph(triples, superclasses)
        self._validator = Validator(self.shapes_graph)
        self._has_term_rules = has_term_rules
        self.shapes = len(self._validator.shapes) + (len(RULES) if has_term_rules else 0)

    def validate(self, triples: Iterable[Triple]) -> PageValidation:
        """Validate the statements of one page."""
        graph = PageGraph(triples, superclasses)
        results, nodes = self._validator.validate_and_count(graph)
        if self._has_term_rules:
            found, terms = check_terms(graph)
            return PageValidation([*results, *found], max(nodes, terms))
        return PageValidation(results, nodes)


@lru_cache(maxsize=16)
def load_validator(*sources: str) -> PageValidator:
    """Return the validator of bundled profiles and files of shapes. Raise ShapeError if one cannot be read."""
    triples: list[Triple] = []
    for number, source in enumerate(sources):
        if source != SCHEMA_ORG:
            triples += _read(source, prefix=f"f{number}")
    return PageValidator(triples, has_term_rules=SCHEMA_ORG in sources)


def _read(source: str, *, prefix: str) -> list[Triple]:
    """Return the triples of a bundled profile or a file, with names of blank nodes that start with a prefix."""
    path = _FOLDER / f"{source}.ttl" if source in PROFILES else Path(source)
    rdf_format = ox.RdfFormat.from_extension(path.suffix[1:]) or ox.RdfFormat.TURTLE
    try:
        return parse_triples(path.read_bytes(), base=path.absolute().as_uri(), rdf_format=rdf_format, prefix=prefix)
    except OSError as error:
        known = ", ".join(PROFILES)
        raise ShapeError(
            f"{source} is not a file that can be read, nor a profile ({known}): {error.strerror}"
        ) from error
    except (SyntaxError, ValueError) as error:
        raise ShapeError(f"the shapes in {source} cannot be read: {error}") from error
