"""Output formats of `extract` with the RDF 1.2 cases of the W3C suites. JSON-LD cannot represent triple terms."""

from __future__ import annotations

import pytest

from motherlode.cli.extract import ExtractFormat
from motherlode.model import Statement

from . import suite_rdf, whole_path
from .runner import Case, isomorphic, shared


@pytest.mark.parametrize("form", ["trig", "turtle", "jsonld"])
def test_output_format_represents_the_positive_cases_of_rdf_1_2(form: ExtractFormat) -> None:
    cases = [case for case in suite_rdf.cases() if case.data["positive"] and case.data["rdf"] == "1.2"]
    assert [case.id for case in cases if not _represents(case, form)] == []
    assert len(cases) > 100


def _represents(case: Case, form: ExtractFormat) -> bool:
    path, base = shared(case.data["folder"], case.data["input"]), case.data["base"]
    wanted = {_as_represented(statement, form) for statement in whole_path.extract(path, base=base).statements}
    if form == "jsonld":
        wanted = {statement for statement in wanted if not statement[2].startswith("<<(")}
    return isomorphic(set(whole_path.extract(path, base=base, form=form).statements), wanted)


def _as_represented(statement: Statement, form: ExtractFormat) -> Statement:
    """Return a statement as the format represents it. Turtle has no graphs."""
    subject, predicate, object_, graph = statement
    return subject, predicate, object_, "" if form == "turtle" else graph
