from __future__ import annotations

import json
from pathlib import Path

import pytest

from motherlode.sim.runner import prepared
from motherlode.sim.trace.files import TraceError, existing_parts
from tests.sim.fakes import recorded_graph


def silent(done: int, of: int) -> None:
    pass


def test_warc_source_is_recorded_once(tmp_path: Path) -> None:
    warc = recorded_graph(tmp_path / "w.warc.gz", hosts=2, pages=3)[0]
    trace = Path(prepared(str(warc), tmp_path / "cache", silent))
    table = next(trace.glob("*.pages.parquet"))
    made = table.stat().st_mtime_ns
    assert prepared(str(warc), tmp_path / "cache", silent) == str(trace)
    assert table.stat().st_mtime_ns == made


def test_cached_trace_of_older_version_is_made_again(tmp_path: Path) -> None:
    warc = recorded_graph(tmp_path / "w.warc.gz", hosts=2, pages=3)[0]
    trace = Path(prepared(str(warc), tmp_path / "cache", silent))
    (trace / "trace.json").write_text(json.dumps({"version": 0, "parts": []}))
    prepared(str(warc), tmp_path / "cache", silent)
    assert existing_parts(trace)[0].pages == 6


def test_other_web_names_are_unchanged(tmp_path: Path) -> None:
    assert prepared("synthetic:1000", tmp_path, silent) == "synthetic:1000"
    assert prepared(str(tmp_path), tmp_path / "cache", silent) == str(tmp_path)


def test_missing_web_source_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match="does not exist: give a trace, a WARC file or synthetic:PAGES"):
        prepared(str(tmp_path / "nothing"), tmp_path / "cache", silent)


def test_unwritable_trace_cache_is_an_error_with_advice(tmp_path: Path) -> None:
    warc = recorded_graph(tmp_path / "w.warc.gz", hosts=2, pages=3)[0]
    (tmp_path / "cache").touch()
    with pytest.raises(TraceError, match=r"`motherlode record .* -o TRACE` makes a trace elsewhere"):
        prepared(str(warc), tmp_path / "cache", silent)
