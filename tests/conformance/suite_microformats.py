"""The microformats test suite: canonical JSON compared with the expected JSON, strictly and relax.

The relax comparison, which the index of the suite describes, collapses white space, writes a space between date and
time, and removes the colon of time zones.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

from motherlode.model import ContentKind, Detected, DetectionEvidence, Syntax
from motherlode.transform.bnodes import BlankNames
from motherlode.transform.microformats import extract, parse
from motherlode.www.document import Document

from . import whole_path
from .runner import Case, isomorphic, load_cases, shared

SUITE = "microformats2"
FLOORS = {
    "microformats-mixed": 1.0,
    "microformats-v1": 1.0,
    "microformats-v2": 1.0,
    "microformats-v2-unit": 1.0,
}
WHOLE_FLOORS = {**FLOORS, "microformats-v2": 54 / 58, "microformats-v2-unit": 13 / 14}
"""Failing cases: those without statements. Four have only rel values, one has only artificial names."""

_DATE = re.compile(r"^(\d{4}-\d{2}-\d{2}|\d{4}-\d{3})[T ](\d{2}:\d{2}(?::\d{2})?)(?:([zZ])|([+-]\d{2}):?(\d{2}))?$")


def cases() -> Iterable[Case]:
    for data in load_cases(SUITE):
        yield Case(id=data["id"], row=data["id"].partition("/")[0], data=data)
        yield Case(id=data["id"], row=f"{data['id'].partition('/')[0]}, strict", data=data)


def run(case: Case) -> bool | str:
    found = parse(_document(case))
    expected = json.loads(shared(SUITE, case.data["expect"]).read_bytes())
    if not case.row.endswith("strict"):
        found, expected = relax(found), relax(expected)
    return found == expected or difference(found, expected)


def run_whole(case: Case) -> bool | str | None:
    """Compare the statements of the command with those of the extractor, because the suite has no RDF.

    The JSON of the extractor must pass as well.
    """
    if case.row.endswith("strict"):
        return None
    data = case.data
    found = whole_path.extract(shared(SUITE, data["input"]), base=data["base"], syntax="microformats")
    alone = extract(_document(case), BlankNames(data["base"], Syntax.MICROFORMATS)).statements
    if not alone:
        return "no statements"
    return run(case) if isomorphic(found.statements, alone) else "not the statements of the extractor"


def _document(case: Case) -> Document:
    detected = Detected(kind=ContentKind.HTML, evidence=DetectionEvidence.CONTENT)
    return Document(url=case.data["base"], body=shared(SUITE, case.data["input"]).read_bytes(), detected=detected)


def relax(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: relax(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [relax(inner) for inner in value]
    if not isinstance(value, str):
        return value
    text = " ".join(value.split())
    match = _DATE.match(text)
    if match is None:
        return text
    zone = "Z" if match[3] else f"{match[4]}{match[5]}" if match[4] else ""
    return f"{match[1]} {match[2]}{zone}"


def difference(found: Any, expected: Any, path: str = "") -> str:
    """Return the first difference of two values."""
    if isinstance(found, dict) and isinstance(expected, dict) and found.keys() == expected.keys():
        return next(
            difference(found[key], expected[key], f"{path}.{key}") for key in found if found[key] != expected[key]
        )
    if isinstance(found, list) and isinstance(expected, list) and len(found) == len(expected):
        pairs = enumerate(zip(found, expected, strict=True))
        return next(difference(left, right, f"{path}[{number}]") for number, (left, right) in pairs if left != right)
    return f"at {path[1:]}: {json.dumps(found)[:150]} is not {json.dumps(expected)[:150]}"
