"""The test suite of the W3C note "Microdata to RDF"."""

from __future__ import annotations

import json
from collections.abc import Iterable

from motherlode.model import ContentKind, Detected, DetectionEvidence, Syntax
from motherlode.transform.bnodes import BlankNames
from motherlode.transform.microdata import extract
from motherlode.transform.microdata.generator import DEFAULT_REGISTRY, Registry, Vocabularies
from motherlode.www.document import Document

from . import whole_path
from .runner import Case, CaseResult, isomorphic, load_cases, read_expected, shared

FLOORS = {"microdata-rdf": 1.0}
WHOLE_FLOORS = {"microdata-rdf": 62 / 63}
"""Failing case: test0074, which needs an artificial vocabulary of the suite."""
_HTML = Detected(kind=ContentKind.HTML, evidence=DetectionEvidence.HEADER)
_IMPLIED = ("subPropertyOf", "equivalentProperty")


def cases() -> Iterable[Case]:
    for data in load_cases("microdata-rdf"):
        yield Case(id=data["id"], row="microdata-rdf", data=data)


def run(case: Case) -> CaseResult:
    folder = shared("microdata-rdf")
    document = Document(url=case.data["base"], body=(folder / case.data["input"]).read_bytes(), detected=_HTML)
    found = extract(document, BlankNames(document.url, Syntax.MICRODATA), vocabularies=Vocabularies(_registry()))
    if not case.data["positive"]:
        return True  # the processor terminated
    return isomorphic(found.statements, read_expected(folder / case.data["expect"], base=case.data["base"]))


def run_whole(case: Case) -> CaseResult:
    """Run the command, which does not have the artificial vocabularies of the suite."""
    folder = shared("microdata-rdf")
    found = whole_path.extract(folder / case.data["input"], base=case.data["base"], syntax="microdata")
    if not case.data["positive"]:
        return True  # the command terminated
    return isomorphic(found.statements, read_expected(folder / case.data["expect"], base=case.data["base"]))


def _registry() -> Registry:
    """Return the default registry with the artificial vocabularies of the suite."""
    rows = json.loads(shared("microdata-rdf", "test-registry.json").read_bytes())
    artificial = {prefix: row["properties"] for prefix, row in rows.items() if isinstance(row, dict)}
    return {
        **DEFAULT_REGISTRY,
        **{
            prefix: {name: tuple(entry[key] for key in _IMPLIED if key in entry) for name, entry in properties.items()}
            for prefix, properties in artificial.items()
        },
    }
