"""JSON-LD 1.1: the W3C toRdf cases and the cases with JSON-LD in HTML."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

from motherlode.model import ContentKind, Detected, DetectionEvidence, Statement, Syntax
from motherlode.transform.bnodes import BlankNames
from motherlode.transform.jsonld.jsonld_errors import JsonLdError
from motherlode.transform.jsonld.processor_options import Mode, ProcessorOptions, RdfDirection
from motherlode.transform.jsonld.to_rdf import to_rdf
from motherlode.www.document import Document

from . import whole_path
from .jsonld_loader import load_scripts
from .runner import Case, CaseResult, isomorphic, load_cases, read_expected, shared

FOLDER = "json-ld-to-rdf"
ROOT = "https://w3c.github.io/json-ld-api/tests/"
FLOORS = {"json-ld toRdf": 0.985, "json-ld HTML": 1.0}
WHOLE_FLOORS = dict.fromkeys(FLOORS, 1.0)
_UNSUPPORTED_OPTIONS = frozenset({"expandContext", "processingMode", "produceGeneralizedRdf", "rdfDirection"})
"""Options of cases that the command lacks. The command always reads all scripts of a page."""


def cases() -> Iterator[Case]:
    for data in load_cases(FOLDER):
        if data["specVersion"] != "json-ld-1.0":
            row = "json-ld HTML" if data["id"].startswith("html#") else "json-ld toRdf"
            yield Case(id=data["id"], row=row, data=data)


def run(case: Case) -> CaseResult:
    folder, data = shared(FOLDER), case.data
    try:
        found = _statements(case, folder)
    except JsonLdError as error:
        if data["error"] is None:
            return f"unexpected error: {error}"
        return True if error.code == data["error"] else f"{error.code} instead of {data['error']}"
    if data["error"] is not None:
        return f"no error, but {data['error']} was expected"
    if data["expect"] is None:
        return True
    expected = folder / data["expect"]
    if data["options"].get("produceGeneralizedRdf"):
        return isomorphic(found, _read_generalized(expected))
    return isomorphic(found, read_expected(expected, base=data["base"]))


def run_whole(case: Case) -> CaseResult | None:
    """Run the command. It reports errors as problems, so a case that expects an error passes with any problem."""
    data = case.data
    options = data["options"]
    misses_target = data["fragment"] and data["error"] is not None  # then the command reads all scripts
    if _UNSUPPORTED_OPTIONS.intersection(options) or options.get("extractAllScripts") is False or misses_target:
        return None
    folder = shared(FOLDER)
    found = whole_path.extract(
        folder / data["file"], base=data["base"], syntax="jsonld", contexts=_contexts(folder), strict_jsonld=True
    )
    if data["error"] is not None:
        return bool(found.problems) or f"no problem, but {data['error']} was expected"
    if data["expect"] is None:
        return not found.problems or found.problems[0]
    same = isomorphic(found.statements, read_expected(folder / data["expect"], base=data["base"]))
    return same or "; ".join(("not the expected graph", *found.problems))


def _statements(case: Case, folder: Path) -> tuple[Statement, ...]:
    data = case.data
    options = data["options"]
    names = BlankNames(data["document_url"], Syntax.JSON_LD)
    expand_context = options.get("expandContext")
    document, base = _document(case, (folder / data["file"]).read_bytes())
    processing = ProcessorOptions(
        base=base,
        expand_context=json.loads((folder / expand_context).read_bytes()) if expand_context else None,
        mode=Mode(options.get("processingMode", "json-ld-1.1")),
        rdf_direction=RdfDirection(options["rdfDirection"]) if "rdfDirection" in options else None,
        produce_generalized=options.get("produceGeneralizedRdf", False),
        contexts=_contexts(folder),
    )
    return to_rdf(document, names, processing).statements


def _document(case: Case, body: bytes) -> tuple[Any, str]:
    """Return the decoded document and its base."""
    data = case.data
    if not data["file"].endswith(".html"):
        return json.loads(body), data["base"]
    detected = Detected(kind=ContentKind.HTML, evidence=DetectionEvidence.CONTENT)
    page = Document(url=data["base"], body=body, detected=detected)
    extract_all = data["options"].get("extractAllScripts", False)
    return load_scripts(page, fragment=data["fragment"] or "", extract_all=extract_all), page.base


def _read_generalized(path: Path) -> list[Statement]:
    """Read expected results with blank nodes as predicates: one statement per line, terms separated by spaces."""
    lines = [line.rstrip(" .").split(" ", 2) for line in path.read_text().splitlines() if line.strip()]
    return [(subject, predicate, obj, "") for subject, predicate, obj in lines]


@lru_cache(maxsize=1)
def _contexts(folder: Path) -> dict[str, bytes]:
    """Return the files of the suite by their URLs on the web."""
    return {ROOT + str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*.jsonld")}
