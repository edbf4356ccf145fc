"""The table of the header features of LDCOC."""

from __future__ import annotations

import doctest

from tests.sim.fakes import everyone_linked
from tools.header_features import CLASSES, REDIRECT, SEE_OTHER, VARIANTS, class_of, redirected_urls, table

from motherlode.model import FailureKind
from motherlode.sim.web_protocol import SimPage
from tools import header_features


def test_table_has_a_row_for_each_class_and_charges_heads_to_the_budget() -> None:
    written = table(everyone_linked(hosts=6, pages=40), target="any", budget=150)
    rows = [line.strip("| ").split(" | ") for line in written.splitlines()]
    assert [(row[0], row[1]) for row in rows[2:]] == [(name, kind) for name in VARIANTS for kind in (*CLASSES, "all")]
    without, with_heads = (row for row in rows if row[1] == "all")
    assert without[2:4] == ["0", "150"]
    assert int(with_heads[2]) > 0
    assert int(with_heads[2]) + int(with_heads[3]) == 150


def test_redirected_urls_are_sources_and_targets_of_redirects_by_their_status() -> None:
    class Web:
        def page(self, url: str) -> SimPage:
            if url == "a":
                return SimPage(url="a", failure=FailureKind.REDIRECT, status=303, location="b")
            if url == "d":
                return SimPage(url="d", failure=FailureKind.REDIRECT, status=301, location="e")
            return SimPage(url=url)

    found = redirected_urls(Web(), ["a", "b", "c", "d"])  # type: ignore[arg-type]
    assert found == {"a": SEE_OTHER, "b": SEE_OTHER, "d": REDIRECT, "e": REDIRECT}
    assert class_of("b", found) == SEE_OTHER
    assert class_of("c", found) == "without an extension"


def test_header_features_docstring_examples_pass() -> None:
    assert doctest.testmod(header_features).failed == 0
