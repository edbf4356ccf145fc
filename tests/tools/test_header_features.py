"""The table of the header features of LDCOC."""

from __future__ import annotations

from tests.sim.fakes import everyone_linked
from tools.header_features import CLASSES, VARIANTS, redirected_urls, table

from motherlode.model import FailureKind
from motherlode.sim.web_protocol import SimPage


def test_table_has_a_row_for_each_class_and_charges_heads_to_the_budget() -> None:
    rows = [
        line.strip("| ").split(" | ") for line in table(everyone_linked(hosts=6, pages=40), budget=150).splitlines()
    ]
    assert [(row[0], row[1]) for row in rows[2:]] == [(name, kind) for name in VARIANTS for kind in (*CLASSES, "all")]
    without, with_heads = (row for row in rows if row[1] == "all")
    assert without[2:4] == ["0", "150"]
    assert int(with_heads[2]) > 0
    assert int(with_heads[2]) + int(with_heads[3]) == 150


def test_redirected_urls_are_sources_and_targets_of_redirects() -> None:
    class Web:
        def everything(self) -> list[SimPage]:
            return [SimPage(url="a", failure=FailureKind.REDIRECT, location="b"), SimPage(url="c")]

    assert redirected_urls(Web()) == {"a", "b"}  # type: ignore[arg-type]
