"""Tests of the settings of a sink."""

from __future__ import annotations

import pytest

from motherlode.crawler import Job, JobError
from motherlode.index.sinks.sink_settings import SinkKind, sink_settings

URL = "http://127.0.0.1:1/update"


def test_sink_settings_from_table() -> None:
    made = sink_settings({"kind": "update", "url": URL, "user": "ann", "password_env": "PW"})
    assert made.kind is SinkKind.UPDATE
    assert made.headers({"PW": "x"}) == {"Authorization": "Basic YW5uOng="}
    with pytest.raises(ValueError, match="PW"):
        made.headers({})


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({}, "kind must be"),
        ({"kind": "kafka"}, "kind must be"),
        ({"kind": "update"}, "needs the url"),
        ({"kind": "update", "url": "ftp://a/"}, "needs the url"),
        ({"kind": "update", "url": "http://ann:pw@a.example/"}, "holds no password"),
        ({"kind": "nquads", "sise": 3}, "unknown key 'sise'"),
        ({"kind": "nquads", "size": 0}, "greater than 0"),
        ({"kind": "nquads", "size": True}, "cannot be True"),
        ({"kind": "nquads", "provenance": 1}, "cannot be 1"),
    ],
)
def test_sink_settings_invalid_table_is_refused(table: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        sink_settings(table)


def test_job_names_invalid_sink_table_and_parses_sizes() -> None:
    job = Job(sinks=({"kind": "nquads", "size": "2MB"}, {"kind": "update"}))
    with pytest.raises(JobError, match="number 2"):
        job.sink_settings()
    assert Job(sinks=({"kind": "nquads", "size": "2MB"},)).sink_settings()[0].size == 2_000_000


def test_sink_settings_on_examples_gives_expected_values() -> None:
    assert not sink_settings({"kind": "graphstore", "url": "http://127.0.0.1:7878/store"}).provenance
