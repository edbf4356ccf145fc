"""Counters of a crawl and sums over shards."""

from __future__ import annotations

from motherlode.crawler.stats.counters import Counters, Estimate, subtract_counters, sum_of, sum_of_estimates
from motherlode.model import FailureKind, Problem, Syntax, Visit


def _visit(number: int, **more: object) -> Visit:
    return Visit(number=number, url=f"http://a.example/{number}", host="a.example", **more)  # type: ignore[arg-type]


def test_add_sums_up_visits() -> None:
    totals = Counters()
    totals.add(_visit(1, relevant=True, quads=5, size=400, received=100, counts={"jsonld": 4, "page": 1}))
    totals.add(_visit(2, failure=FailureKind.NOT_FOUND))
    totals.add(_visit(3, failure=FailureKind.REDIRECT))
    totals.add(_visit(4, problems=(Problem(syntax=Syntax.JSON_LD, message="trailing comma removed"),)))
    summary = totals.summary()
    assert summary["fetched"] == 4
    assert summary["relevant"] == 1
    assert summary["harvest_rate"] == 0.25
    assert summary["failures"] == {"not-found": 1}
    assert summary["redirects"] == 1
    assert summary["syntaxes"]["jsonld"] == {"pages": 1, "statements": 4}
    assert summary["problems"] == {"jsonld: trailing comma removed": 1}


def test_problems_are_counted_without_their_details() -> None:
    totals = Counters()
    for detail in ("timeout: no answer in time", "not-found: 404"):
        message = f"the service http://localhost:8000/exif: {detail}"
        totals.add(_visit(1, problems=(Problem(syntax=Syntax.OTHER, message=message),)))
    assert totals.summary()["problems"] == {"other: the service http://localhost:8000/exif": 2}


def test_long_curve_is_thinned_and_keeps_its_ends() -> None:
    totals = Counters()
    for number in range(1, 20_001):
        totals.add(_visit(number, relevant=number % 2 == 0))
    assert 200 < len(totals.curve) <= 1024
    assert totals.curve == sorted(totals.curve)
    assert all(abs(relevant - fetched // 2) <= 1 for fetched, relevant in totals.curve)
    assert totals.curve[-1][0] > 19_900


def test_two_counters_do_not_share_dictionaries() -> None:
    first, second = Counters(), Counters()
    first.add(_visit(1, failure=FailureKind.DNS))
    assert second.failures == {}


def test_revisit_subtracts_the_previous_figures_of_the_page() -> None:
    totals = Counters()
    totals.add(_visit(1, relevant=True, quads=3, counts={"rdfa": 3}))
    before = {"relevant_before": True, "quads_before": 3, "counts_before": {"rdfa": 3}}
    totals.add(_visit(2, relevant=True, quads=2, counts={"jsonld": 2}, refresh="changed", **before))
    totals.add(_visit(3, failure=FailureKind.SERVER_ERROR, refresh="failed"))
    assert (totals.quads, totals.relevant, totals.harvest_rate) == (2, 1, 1.0)
    assert totals.syntaxes == {"rdfa": [0, 0], "jsonld": [1, 2]}


def test_outage_seconds_of_shards_are_not_added() -> None:
    whole = sum_of(
        [
            Counters(outages=1, outage_seconds=50.0),
            Counters(outages=2, outage_seconds=20.0, no_network_since=7.0),
            Counters(no_network_since=9.0),
        ]
    )
    assert (whole.outages, whole.outage_seconds, whole.no_network_since) == (3, 50.0, 7.0)
    assert sum_of([]).no_network_since is None


def test_subtract_counters_on_examples_gives_expected_values() -> None:
    assert subtract_counters(Counters(fetched=3, gone=1), Counters(fetched=5, gone=1)).fetched == 2


def test_sum_of_estimates_on_examples_gives_expected_values() -> None:
    assert (
        sum_of_estimates(
            [Estimate(relevant=3, deviation=3, urls=9), Estimate(relevant=2, deviation=4, urls=9)]
        ).deviation
        == 5.0
    )


def test_script_applications_are_counted_at_their_first_visit() -> None:
    totals = Counters()
    totals.add(_visit(1, is_script_application=True))
    totals.add(_visit(2))
    totals.add(_visit(3, is_script_application=True, refresh="unchanged"))
    assert totals.summary()["script_applications"] == 1
    assert sum_of([totals, totals]).script_applications == 2
