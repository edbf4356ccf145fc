"""The history of a URL."""

from __future__ import annotations

from pathlib import Path

import msgspec

from motherlode.crawler.explain.history import describe_treatment, find_redirects, find_visits
from motherlode.frontier import Entry, LmdbStorage, UrlState
from motherlode.frontier.leases import TREATMENTS
from motherlode.model import FailureKind, Visit


def test_every_kind_of_failure_has_a_treatment_phrase() -> None:
    assert all(describe_treatment(kind) for kind in TREATMENTS)
    assert describe_treatment(FailureKind.DNS).startswith("retried once")


def test_failure_in_a_recorded_web_is_not_retried() -> None:
    assert not any(describe_treatment(kind, recorded=True).startswith("retried") for kind in TREATMENTS)
    assert describe_treatment(FailureKind.SERVER_ERROR, recorded=True).startswith("not retried: in a recorded web")
    assert describe_treatment(FailureKind.NOT_FOUND, recorded=True) == describe_treatment(FailureKind.NOT_FOUND)


def test_visits_of_other_urls_are_not_found(tmp_path: Path) -> None:
    storage = LmdbStorage(tmp_path / "frontier")
    for number, (url, parent) in enumerate([("http://a.example/", ""), ("http://a.example/x", "http://a.example/")]):
        visit = Visit(number=number, url=url, host="a.example", parent_url=parent)
        storage.append_visit(number, msgspec.msgpack.encode(visit))
    assert [visit.number for visit in find_visits(storage, "http://a.example/")] == [0]
    storage.close()


def test_redirect_loop_gives_a_finite_chain(tmp_path: Path) -> None:
    storage = LmdbStorage(tmp_path / "frontier")
    urls = ("http://a.example/1", "http://a.example/2")
    for number, (url, other) in enumerate(zip(urls, reversed(urls), strict=True)):
        entry = Entry(url=url, arm="a", score=0.0, sequence=number, source="redirect", parent_url=other)
        storage.finish(entry, UrlState.DONE, "redirect")
        visit = Visit(
            number=number, url=url, host="a.example", failure=FailureKind.REDIRECT, location=other, parent_url=other
        )
        storage.append_visit(number, msgspec.msgpack.encode(visit))
    found = storage.find(urls[0])
    assert found is not None
    assert find_redirects(storage, found[0], find_visits(storage, urls[0])[-1])
    storage.close()


def test_describe_treatment_on_examples_gives_expected_values() -> None:
    assert (describe_treatment(FailureKind.NOT_FOUND), describe_treatment(FailureKind.TIMEOUT)) == (
        "not retried",
        "retried up to 2 times; the host is snoozed; counts against the host",
    )
