"""What came of a URL."""

from __future__ import annotations

from pathlib import Path

import msgspec

from motherlode.crawler.explain.history import chain, treatment, visits_of
from motherlode.frontier import Entry, LmdbStorage, UrlState
from motherlode.frontier.backoff import TREATMENTS
from motherlode.model import FailureKind, Visit


def test_every_kind_of_failure_has_a_sentence() -> None:
    assert all(treatment(kind) for kind in TREATMENTS)
    assert treatment(FailureKind.DNS).startswith("tried again once")


def test_a_recorded_web_is_not_asked_twice() -> None:
    assert not any(treatment(kind, recorded=True).startswith("tried again") for kind in TREATMENTS)
    assert treatment(FailureKind.SERVER_ERROR, recorded=True).startswith("not tried again: in a recorded web")
    assert treatment(FailureKind.NOT_FOUND, recorded=True) == treatment(FailureKind.NOT_FOUND)


def test_visits_are_told_apart_from_those_that_only_mention_a_url(tmp_path: Path) -> None:
    storage = LmdbStorage(tmp_path / "frontier")
    for number, (url, parent) in enumerate([("http://a.example/", ""), ("http://a.example/x", "http://a.example/")]):
        visit = Visit(number=number, url=url, host="a.example", parent_url=parent)
        storage.append_visit(number, msgspec.msgpack.encode(visit))
    assert [visit.number for visit in visits_of(storage, "http://a.example/")] == [0]
    storage.close()


def test_redirects_in_a_circle_end(tmp_path: Path) -> None:
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
    assert chain(storage, found[0], visits_of(storage, urls[0])[-1])
    storage.close()
