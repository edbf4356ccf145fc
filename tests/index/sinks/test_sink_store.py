"""Tests of `SinkStore`, and of opening the sinks of a job."""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from pathlib import Path

import pytest

from motherlode.index.page_record import PageRecord
from motherlode.index.quad_store import QuadStore
from motherlode.index.sinks.endpoint import EndpointSink
from motherlode.index.sinks.nquads_sink import SegmentSink
from motherlode.index.sinks.sink_settings import sink_settings
from motherlode.index.sinks.sink_store import SinkStore, open_sinks, sink_states
from tests.index.fakes import union

from .records import P, record

PAGE = record("http://a.example/", ("<http://x.example/>", P, '"1"'))
NQUADS = sink_settings({"kind": "nquads", "path": "out", "provenance": False})
NOWHERE = sink_settings({"kind": "update", "url": "http://127.0.0.1:9/update", "drain": 0})


class Log:
    """A store or sink that records its calls, and fails if it should."""

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


def test_sink_store_writes_store_first_then_sinks() -> None:
    told: list[str] = []
    store = SinkStore(Log("store", told), [Log("one", told), Log("two", told)])
    store.write([PAGE, PAGE])
    store.flush()
    store.close()
    assert told == [
        *("store write 2", "one write 2", "two write 2"),
        *("store flush", "one flush", "two flush"),
        *("one close", "two close"),
    ]


def test_sink_store_write_error_of_store_skips_sinks() -> None:
    told: list[str] = []
    store = SinkStore(Log("store", told, full=True), [Log("sink", told)])
    with pytest.raises(OSError, match="No space"):
        store.write([PAGE])
    assert told == ["store write 1"]


def test_sink_files_equal_store(tmp_path: Path) -> None:
    quads = QuadStore(tmp_path / "store")
    sinks = open_sinks(quads, [NQUADS], tmp_path, environment={})
    sinks.write([PAGE])
    sinks.flush()
    assert sink_states([NQUADS], tmp_path) == [{"kind": "nquads", "to": str(tmp_path / "out"), "files": 0}]
    sinks.close()
    assert sink_states([NQUADS], tmp_path)[0]["files"] == 1
    (path,) = (tmp_path / "out").iterdir()
    assert gzip.decompress(path.read_bytes()).decode() == f'<http://x.example/> {P} "1" <http://a.example/> .\n'
    assert union(quads) == [f'<http://x.example/> {P} "1"']


def test_open_sinks_opens_each_kind_with_own_spool(tmp_path: Path) -> None:
    tables = [NQUADS, NOWHERE, NOWHERE]
    sinks = open_sinks(Log("store", []), tables, tmp_path, environment={})
    assert [type(sink) for sink in sinks.sinks] == [SegmentSink, EndpointSink, EndpointSink]
    sinks.sinks[2].write([PAGE])
    sinks.close()
    assert [state.get("waiting") for state in sink_states(tables, tmp_path)] == [None, 0, 1]
    assert [path.name for path in sorted((tmp_path / "sinks").iterdir())] == ["2", "3"], "as numbered in the job"


def test_open_sinks_with_missing_secret_raises(tmp_path: Path) -> None:
    guarded = sink_settings({"kind": "update", "url": "http://127.0.0.1:9/", "token_env": "TOKEN"})
    with pytest.raises(ValueError, match="TOKEN"):
        open_sinks(Log("store", []), [guarded], tmp_path, environment={})
    assert not (tmp_path / "sinks").exists()


def test_sink_states_of_unused_sinks_are_empty(tmp_path: Path) -> None:
    assert sink_states([NQUADS, NOWHERE], tmp_path) == [
        {"kind": "nquads", "to": str(tmp_path / "out"), "files": 0},
        {"kind": "update", "to": "http://127.0.0.1:9/update", "waiting": 0, "refused": 0, "trouble": ""},
    ]
