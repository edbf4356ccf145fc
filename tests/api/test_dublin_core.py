"""The names of Dublin Core."""

from __future__ import annotations

import pytest

from motherlode.api.dublin_core import ELEMENTS, TERMS, find_dublin_core


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("title", ("elements", ELEMENTS + "title")),
        ("type", ("elements", ELEMENTS + "type")),
        ("abstract", ("terms", TERMS + "abstract")),
        ("isversionof", ("terms", TERMS + "isVersionOf")),
        ("provenancestatement", ("terms", TERMS + "ProvenanceStatement")),
        ("isVersionOf", None),
        ("viewport", None),
        ("", None),
    ],
)
def test_find_dublin_core_returns_group_and_iri_of_lower_case_names(
    name: str, expected: tuple[str, str] | None
) -> None:
    assert find_dublin_core(name) == expected
