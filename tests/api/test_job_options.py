"""The typed options of `crawl` are the fields of a job."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

import motherlode as ml
from motherlode.api.job_options import JobOptions
from motherlode.crawler.config.job_file import job_to_toml, read_job_file

WIDER = {"time", "bytes", "bytes_per_host", "max_body", "round_time", "max_disk", "memory", "web", "model"}
"""Options that also take texts with units, or paths."""


def test_job_options_are_the_fields_of_a_job_with_their_types() -> None:
    fields = {one.name: one.type for one in dataclasses.fields(ml.Job) if one.name != "seeds"}
    options = {name: getattr(kind, "__forward_arg__", kind) for name, kind in JobOptions.__annotations__.items()}
    assert options.keys() == fields.keys()
    assert {name for name in fields if fields[name] != options[name]} == WIDER


def test_job_is_the_same_as_its_job_file(tmp_path: Path) -> None:
    job = ml.Job(seeds=["https://example.org/"], pages=1000, time="30m", bytes="1GB", allow=["127.0.0.0/8"])  # type: ignore[arg-type]
    path = tmp_path / "job.toml"
    path.write_text(
        'seeds = ["https://example.org/"]\npages = 1000\ntime = "30m"\nbytes = "1GB"\nallow = ["127.0.0.0/8"]\n'
    )
    assert ml.Job(**read_job_file(path)) == job
    path.write_text(job_to_toml(job))
    assert ml.Job(**read_job_file(path)) == job


@pytest.mark.parametrize("name", ["seeds", "allow", "own_hosts"])
def test_job_text_instead_of_a_list_is_an_error(name: str) -> None:
    with pytest.raises(ml.JobError, match=f"{name} must be a list"):
        ml.Job(**{name: "example.org"})  # type: ignore[arg-type]
