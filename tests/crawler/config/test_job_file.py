"""Job files: reading, writing, and the description of mistakes."""

from __future__ import annotations

from pathlib import Path

import pytest

from motherlode.crawler.config.job import Job, JobError
from motherlode.crawler.config.job_file import (
    _FIELDS,
    _TOML_TYPES,
    _outer_type,
    job_to_toml,
    make_paths_absolute,
    read_job_file,
    read_seeds,
)


def _file(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "job.toml"
    path.write_text(text)
    return path


def test_job_written_and_read_is_equal(tmp_path: Path) -> None:
    job = Job(
        seeds=("http://example.org/", 'http://example.org/"q"\\x'),
        pages=10,
        time=90.5,
        target='ASK { ?s ?p "x\\ny" }',
        policy="bandit:success-rate:0.3:100",
        delay=0.0,
        allow=("127.0.0.0/8",),
        hosts={"a.example": "127.0.0.2:81"},
    )
    assert Job(**read_job_file(_file(tmp_path, job_to_toml(job)))) == job


def test_job_file_values_with_units_are_converted(tmp_path: Path) -> None:
    values = read_job_file(_file(tmp_path, 'time = "30m"\nbytes = "1GB"\nmax_body = "2MB"\ndelay = 2\n'))
    assert values == {"time": 1800.0, "bytes": 10**9, "max_body": 2 * 10**6, "delay": 2}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("polcy = 'bfs'", r"unknown key 'polcy' \(did you mean policy\?\)"),
        ("stop-when-dry = 5", "the key 'stop-when-dry' is now called stop_after: rename it"),
        ("choosy = 0.5", "the key 'choosy' is now called wait_threshold: rename it"),
        ("pages-per-host = 5", r"unknown key 'pages-per-host' \(did you mean pages_per_host\?\)"),
        ("output = 'out'", r"job.toml: output is for the command line alone: --output"),
        ("max_body = '1XB'", r"job.toml, max_body: size '1XB' should look like"),
        ("pages = 'ten'", 'pages should be a whole number, not "ten"'),
        ("pages = true", "pages should be a whole number, not true"),
        ("delay = '1'", "delay should be a number"),
        ("policy = 1", "policy should be a text in quotes"),
        ("warc = 1", "warc should be true or false"),
        ("links = 1", "links should be a table"),
        ("seeds = 'http://a/'", "seeds should be a list of URLs"),
        ("seeds = ['http://a/', 7]", "seeds should be a list of URLs"),
        ("hosts = 'a.example'", "hosts should be a table of names and addresses"),
        ("hosts = { 'a.example' = 80 }", "hosts should be a table of names and addresses"),
        ("time = []", "time should be a time such as"),
        ("sinks = ['x']", "sinks should be a list of tables"),
        ("pages = [", "is not TOML"),
        ("time = 'soon'", "should look like 90s"),
    ],
)
def test_mistake_in_a_job_file_is_described(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(JobError, match=message):
        read_job_file(_file(tmp_path, text))


@pytest.mark.parametrize("key", ["web", "model", "state"])
def test_relative_path_is_relative_to_the_job_file(tmp_path: Path, key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    place = str(tmp_path / "sub" / "thing")
    assert read_job_file(_file(tmp_path, f"{key} = 'sub/thing'")) == {key: place}
    assert read_job_file(_file(tmp_path, f"{key} = '{place}'")) == {key: place}
    monkeypatch.chdir(tmp_path)
    (tmp_path / "out").mkdir()
    kept = _file(tmp_path / "out", job_to_toml(Job(**{key: "sub/thing"})))  # type: ignore[arg-type]
    assert read_job_file(kept)[key] == place


def test_value_that_is_no_path_is_unchanged(tmp_path: Path) -> None:
    values = read_job_file(_file(tmp_path, "model = ''\nstate = 's3://bucket/crawl'"))
    assert values == {"model": "", "state": "s3://bucket/crawl"}


def test_missing_job_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(JobError, match="cannot be read: No such file"):
        read_job_file(tmp_path / "none.toml")


@pytest.mark.parametrize(
    ("name", "value", "found"),
    [
        ("web", "sub/web.warc.gz", "{}/sub/web.warc.gz"),
        ("model", "/elsewhere/a.model", "/elsewhere/a.model"),
        ("state", "s3://bucket/crawl", "s3://bucket/crawl"),
        ("model", "", ""),
        ("target", "any", "any"),
    ],
)
def test_paths_are_made_absolute(tmp_path: Path, name: str, value: str, found: str) -> None:
    assert make_paths_absolute(name, value, tmp_path) == found.format(tmp_path)


def test_stylesheet_paths_are_made_absolute_except_built_in_ones(tmp_path: Path) -> None:
    table = {"stylesheets": [{"xslt": "a.xsl"}], "grddl": {"http://a.example/": "builtin:feed"}}
    assert make_paths_absolute("transform", table, tmp_path) == {
        "stylesheets": [{"xslt": str(tmp_path / "a.xsl")}],
        "grddl": {"http://a.example/": "builtin:feed"},
    }


def test_seed_file_with_comments_and_byte_order_mark_gives_urls(tmp_path: Path) -> None:
    file = tmp_path / "seeds.txt"
    lines = ("http://a/ ", "# all", "  #", "http://b/#part", "http://c/ # why", "http://d/\t#", "", "http://e/ é")
    file.write_text("\ufeff" + "\r\n".join(lines), encoding="utf-8")
    assert read_seeds(file) == ("http://a/", "http://b/#part", "http://c/", "http://d/", "http://e/ é")


@pytest.mark.parametrize("text", ["", "\n", "# none yet\n"])
def test_seed_file_without_url_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "seeds.txt"
    file.write_text(text)
    with pytest.raises(JobError, match=r"seeds\.txt has no URL: write one per line"):
        read_seeds(file)


def test_outer_type_on_examples_gives_expected_values() -> None:
    assert (_outer_type("tuple[str, ...]"), _outer_type("int | None")) == ("tuple", "int")


def test_every_job_key_has_a_type_that_a_job_file_can_have() -> None:
    assert {_outer_type(declared) for declared in _FIELDS.values()} <= _TOML_TYPES.keys()
