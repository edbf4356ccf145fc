"""The store and its sinks as one store: order, ends, and what a job's tables open."""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from pathlib import Path

import pytest

from motherlode.index import PageRecord, QuadStore
from motherlode.index.sinks import EndpointSink, SegmentSink, SinkStore, open_sinks, sink_settings, sink_states
from motherlode.index.sinks.sink_store import Sinks
from tests.index.fakes import union

from .records import P, record

PAGE = record("http://a.example/", ("<http://x.example/>", P, '"1"'))
NQUADS = sink_settings({"kind": "nquads", "path": "out", "provenance": False})
NOWHERE = sink_settings({"kind": "update", "url": "http://127.0.0.1:9/update", "drain": 0})


class Log:
    """A store or a sink that tells what was asked of it, and fails where it should."""

    def __init__(self, name: str, told: list[str], *, full: bool = False) -> None:
        self._name, self._told, self._full = name, told, full

    def write(self, records: Sequence[PageRecord]) -> None:
        self._told.append(f"{self._name} write {len(records)}")
        if self._full:
            raise OSError(28, "No space left on device")

    def flush(self) -> None:
        self._told.append(f"{self._name} flush")

    def close(self) -> None:
        self._told.append(f"{self._name} close")


def test_the_store_comes_first_and_each_sink_after_it() -> None:
    told: list[str] = []
    sinks = Sinks([Log("one", told), Log("two", told)])
    store = sinks.wrap(Log("store", told))
    store.write([PAGE, PAGE])
    store.flush()
    sinks.close()
    assert told == [
        *("store write 2", "one write 2", "two write 2"),
        *("store flush", "one flush", "two flush"),
        *("one close", "two close"),
    ]


def test_what_the_store_could_not_take_no_sink_is_told() -> None:
    told: list[str] = []
    store = SinkStore(Log("store", told, full=True), [Log("sink", told)])
    with pytest.raises(OSError, match="No space"):
        store.write([PAGE])
    assert told == ["store write 1"]


def test_without_sinks_the_store_is_left_as_it_is(tmp_path: Path) -> None:
    store = QuadStore(tmp_path / "store")
    sinks = open_sinks([], tmp_path, environment={})
    assert sinks.wrap(store) is store


def test_store_and_files_hold_the_same(tmp_path: Path) -> None:
    quads = QuadStore(tmp_path / "store")
    sinks = open_sinks([NQUADS], tmp_path, environment={})
    store = sinks.wrap(quads)
    store.write([PAGE])
    store.flush()
    assert sink_states([NQUADS], tmp_path) == [{"kind": "nquads", "to": str(tmp_path / "out"), "files": 0}]
    sinks.close()
    assert sink_states([NQUADS], tmp_path)[0]["files"] == 1
    (path,) = (tmp_path / "out").iterdir()
    assert gzip.decompress(path.read_bytes()).decode() == f'<http://x.example/> {P} "1" <http://a.example/> .\n'
    assert union(quads) == [f'<http://x.example/> {P} "1"']


def test_each_table_opens_its_kind_and_each_endpoint_has_a_spool_of_its_own(tmp_path: Path) -> None:
    tables = [NQUADS, NOWHERE, NOWHERE]
    sinks = open_sinks(tables, tmp_path, environment={})
    assert [type(sink) for sink in sinks.all] == [SegmentSink, EndpointSink, EndpointSink]
    sinks.all[2].write([PAGE])
    sinks.close()
    assert [state.get("waiting") for state in sink_states(tables, tmp_path)] == [None, 0, 1]
    assert [path.name for path in sorted((tmp_path / "sinks").iterdir())] == ["2", "3"], "as numbered in the job"


def test_a_secret_that_is_not_in_the_environment_opens_nothing(tmp_path: Path) -> None:
    guarded = sink_settings({"kind": "update", "url": "http://127.0.0.1:9/", "token_env": "TOKEN"})
    with pytest.raises(ValueError, match="TOKEN"):
        open_sinks([guarded], tmp_path, environment={})
    assert not (tmp_path / "sinks").exists()


def test_states_of_sinks_that_never_ran_are_empty(tmp_path: Path) -> None:
    assert sink_states([NQUADS, NOWHERE], tmp_path) == [
        {"kind": "nquads", "to": str(tmp_path / "out"), "files": 0},
        {"kind": "update", "to": "http://127.0.0.1:9/update", "waiting": 0, "refused": 0, "trouble": ""},
    ]
