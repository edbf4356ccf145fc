"""The schema.org examples: agreement between the Microdata, RDFa and JSON-LD of one example.

The suite has no expected results. Statements are reduced to pairs of predicate and object text, and the score of a case
is the Jaccard index of two multisets of pairs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import combinations
from pathlib import Path

from motherlode.model import ContentKind, Detected, DetectionEvidence, Extraction, Statement, Syntax
from motherlode.transform import jsonld, microdata, rdfa
from motherlode.transform.bnodes import BlankNames
from motherlode.transform.options import TransformOptions
from motherlode.www.document import Document

from . import whole_path
from .runner import Case, CaseResult, load_cases, shared

FOLDER = "schemaorg-examples"
SYNTAXES = {"microdata": Syntax.MICRODATA, "rdfa": Syntax.RDFA, "jsonld": Syntax.JSON_LD}
EXTRACTORS: dict[str, Callable[[Document, BlankNames], Extraction]] = {
    "microdata": microdata.extract,
    "rdfa": rdfa.extract,
    "jsonld": lambda document, names: jsonld.extract(document, names, TransformOptions()),
}
FLOORS = {
    "schema.org microdata and rdfa": 0.841,
    "schema.org microdata and jsonld": 0.785,
    "schema.org rdfa and jsonld": 0.841,
}
"""The scores of the leading libraries on the whole suite."""
WHOLE_FLOORS = {
    "schema.org microdata and rdfa": 0.93,
    "schema.org microdata and jsonld": 0.82,
    "schema.org rdfa and jsonld": 0.869,
}
"""The scores of the command."""

_USES_VOCABULARY = "<http://www.w3.org/ns/rdfa#usesVocabulary>"
"""A statement of RDFa about the page itself, which the other syntaxes do not have."""
_SCHEMA = ("http://schema.org/", "https://schema.org/", "http://www.schema.org/", "https://www.schema.org/")


def cases() -> Iterator[Case]:
    for data in load_cases(FOLDER):
        for left, right in combinations(SYNTAXES, 2):
            if data[left] and data[right]:
                yield Case(id=data["id"], row=f"schema.org {left} and {right}", data={**data, "pair": (left, right)})


def run(case: Case) -> CaseResult:
    return _agreement(*(_pairs(_statements(case, name)) for name in case.data["pair"]))


def run_whole(case: Case) -> CaseResult:
    return _agreement(*(_pairs(_statements_by_extract(case, name)) for name in case.data["pair"]))


def _agreement(left: Counter[tuple[str, str]], right: Counter[tuple[str, str]]) -> CaseResult:
    if not left and not right:
        return "no statements in both syntaxes"
    shared_pairs = sum((left & right).values())
    return shared_pairs / sum((left | right).values())


def _statements(case: Case, name: str) -> Iterable[Statement]:
    document = _page(shared(FOLDER, case.data[name]), case.data["base"])
    return EXTRACTORS[name](document, BlankNames(document.url, SYNTAXES[name])).statements


def _statements_by_extract(case: Case, name: str) -> Iterable[Statement]:
    path = shared(FOLDER, case.data[name])
    return whole_path.extract(path, base=case.data["base"], syntax=SYNTAXES[name].value).statements


def _pairs(statements: Iterable[Statement]) -> Counter[tuple[str, str]]:
    return Counter(_pair(statement) for statement in set(statements) if statement[1] != _USES_VOCABULARY)


def _page(path: Path, url: str) -> Document:
    detected = Detected(kind=ContentKind.HTML, evidence=DetectionEvidence.CONTENT)
    return Document(url=url, body=path.read_bytes(), detected=detected)


def _pair(statement: Statement) -> tuple[str, str]:
    """Return predicate and object without the scheme of schema.org, datatype and language, which always differ."""
    return _text(statement[1]), _text(statement[2])


def _text(term: str) -> str:
    if term.startswith("_:"):
        return "_"
    if term.startswith("<"):
        return _normalised(term[1:-1])
    lexical = term[1 : term.rindex('"')]
    return _normalised(" ".join(lexical.replace("\\n", " ").replace("\\r", " ").replace("\\t", " ").split()))


def _normalised(text: str) -> str:
    for prefix in _SCHEMA:
        if text.startswith(prefix):
            return "schema:" + text.removeprefix(prefix)
    return text
