from __future__ import annotations

from itertools import combinations

import pytest

from motherlode.transform.jsonld import term_definitions as mappings
from motherlode.transform.jsonld.errors import ErrorCode, JsonLdError
from motherlode.transform.jsonld.processor_options import CONTAINERS

GRAPH_MAPS = [["@graph", "@id"], ["@graph", "@index"], ["@graph", "@id", "@set"], ["@graph", "@index", "@set"]]
WITH_SET = [[keyword, "@set"] for keyword in ("@graph", "@id", "@index", "@language", "@type")]


def allowed(entries: list[str]) -> bool:
    try:
        mappings.parse_container(entries, is_1_1=True)
    except JsonLdError as error:
        assert error.code is ErrorCode.INVALID_CONTAINER_MAPPING
        return False
    return True


def test_containers_combine_as_the_specification_lists_them() -> None:
    found = [set(c) for size in (1, 2, 3) for c in combinations(sorted(CONTAINERS), size) if allowed(list(c))]
    listed = [{keyword} for keyword in sorted(CONTAINERS)] + [set(c) for c in [*GRAPH_MAPS, *WITH_SET]]
    assert sorted(map(sorted, found)) == sorted(map(sorted, listed))


def test_containers_are_not_said_twice() -> None:
    with pytest.raises(JsonLdError):
        mappings.parse_container(["@set", "@set"], is_1_1=True)


def test_protection_may_be_lifted_for_one_term() -> None:
    assert mappings.parse_protected({}, True, is_1_1=True)
    assert not mappings.parse_protected({"@protected": False}, True, is_1_1=True)
