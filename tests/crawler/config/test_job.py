"""Configuration: file and flags give the same object, and mistakes are answered with what to do."""

from __future__ import annotations

import dataclasses
import re
from contextlib import nullcontext
from pathlib import Path

import pytest

from motherlode.crawler.config.job import Job, JobError
from motherlode.crawler.config.job_file import job_to_toml, read_job_file
from motherlode.crawler.config.passwords import check_secrets
from motherlode.crawler.config.units import parse_size, parse_time


def _file(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "job.toml"
    path.write_text(text)
    return path


def test_a_job_survives_its_file(tmp_path: Path) -> None:
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


def test_units_in_a_job_file(tmp_path: Path) -> None:
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
def test_mistakes_in_a_job_file(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(JobError, match=message):
        read_job_file(_file(tmp_path, text))


@pytest.mark.parametrize("key", ["web", "model", "state"])
def test_a_path_is_seen_from_the_job_file_and_kept_whole(
    tmp_path: Path, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = str(tmp_path / "sub" / "thing")
    assert read_job_file(_file(tmp_path, f"{key} = 'sub/thing'")) == {key: place}
    assert read_job_file(_file(tmp_path, f"{key} = '{place}'")) == {key: place}
    monkeypatch.chdir(tmp_path)
    (tmp_path / "out").mkdir()
    kept = _file(tmp_path / "out", job_to_toml(Job(**{key: "sub/thing"})))  # type: ignore[arg-type]
    assert read_job_file(kept)[key] == place


def test_what_is_no_path_stays_as_it_is(tmp_path: Path) -> None:
    values = read_job_file(_file(tmp_path, "model = ''\nstate = 's3://bucket/crawl'"))
    assert values == {"model": "", "state": "s3://bucket/crawl"}


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(JobError, match="cannot be read: No such file"):
        read_job_file(tmp_path / "none.toml")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"pages": 0}, "pages must be greater than 0"),
        ({"delay": -1.0}, "delay must be a finite number from 0 on; got -1.0$"),
        ({"delay": float("nan")}, "delay must be a finite number from 0 on; got nan$"),
        ({"timeout": float("inf")}, "timeout must be greater than 0 and finite; got inf$"),
        ({"contact": "me\r\nX-Evil: 1"}, "contact is a part of a line of HTTP, and can have no line breaks"),
        ({"proxy": "127.0.0.1:3128"}, "proxy should look like"),
        ({"proxy": "http://"}, "proxy should look like"),
        ({"stop_below": 3.0}, "stop_below must be a share above 0 and up to 1; got 3.0$"),
        ({"stop_after": 0}, "stop_after must be greater than 0; got 0$"),
        ({"shards": 0}, "shards must be greater than 0; got 0$"),
        ({"policy": "bandit:success-rat"}, "did you mean bandit:success-rate"),
        ({"policy": "bandit:success-rate:x"}, "λ and m are numbers"),
        ({"policy": "bandit:success-rate:7"}, "from 0 to 1"),
        ({"target": "microdat"}, "did you mean microdata"),
        ({"target": "ASK { ?s }"}, "not a SPARQL ASK"),
        (
            {"target": "ASK { ?s foo:x ?o }"},
            r"column 10: the prefix foo: is not known\n.*\n +\| +\^\nhint: did you mean",
        ),
    ],
)
def test_mistakes_in_a_job(values: dict[str, object], message: str) -> None:
    with pytest.raises(JobError, match=message):
        Job(**values)  # type: ignore[arg-type]


@pytest.mark.parametrize("place", ["127.0.0.1", "localhost:80", "127.0.0.1:99999", "127.0.0.1:0", "[::1]", ":80"])
def test_a_place_is_an_address_and_a_port(place: str) -> None:
    with pytest.raises(JobError, match="should be an address"):
        Job(hosts={"a.example": place}).host_endpoints()


def test_an_address_of_version_6_is_written_as_in_urls() -> None:
    assert Job(hosts={"a.example": "[::1]:8080"}).host_endpoints() == {"a.example": ("::1", 8080)}


def test_names_of_hosts_are_spelled_as_in_urls() -> None:
    hosts = {"bücher.test": "127.0.0.1:81", "Example.ORG.": "127.0.0.2:82", "xn--bcher-kva.example": "127.0.0.3:83"}
    assert Job(hosts=hosts).host_endpoints() == {
        "xn--bcher-kva.test": ("127.0.0.1", 81),
        "example.org": ("127.0.0.2", 82),
        "xn--bcher-kva.example": ("127.0.0.3", 83),
    }


@pytest.mark.parametrize("name", ["a.example:81", "http://a.example", "a.example/x", "", "a b"])
def test_what_names_no_host_is_told(name: str) -> None:
    with pytest.raises(JobError, match="should be the name of a host"):
        Job(hosts={name: "127.0.0.1:81"}).host_endpoints()


def test_sizes_and_times() -> None:
    assert [parse_size(text) for text in ("10", "1.5k", "2 MB", "1GiB")] == [10, 1500, 2_000_000, 1_000_000_000]
    assert [parse_time(text) for text in ("10", "1.5h", "2d")] == [10.0, 5400.0, 172800.0]
    with pytest.raises(JobError):
        parse_size("many")


def test_a_recorded_web_has_no_delay_unless_one_is_asked_for() -> None:
    assert Job(seeds=("http://a.example/",)).host_delay == 1.0
    assert Job(seeds=("http://a.example/",), web="web.warc.gz").host_delay == 0.0
    assert Job(seeds=("http://a.example/",), web="web.warc.gz", delay=0.6).host_delay == 0.6


@pytest.mark.parametrize("wait_threshold", [-0.1, 1.1])
def test_how_choosy_a_crawl_is_is_a_share(wait_threshold: float) -> None:
    with pytest.raises(JobError, match="wait_threshold"):
        Job(seeds=("http://a.example/",), wait_threshold=wait_threshold)


def test_every_key_is_documented() -> None:
    text = (Path(__file__).parents[3] / "docs" / "crawl.md").read_text()
    names = [made.name for made in dataclasses.fields(Job)]
    assert [name for name in names if not re.search(rf"`(--)?{name}\b", text)] == []


def test_a_proxy_may_come_from_the_environment() -> None:
    job = Job(proxy_env="MY_PROXY")
    assert job.proxy_url({"MY_PROXY": "http://ann:s=cret@127.0.0.1:3128"}) == "http://ann:s=cret@127.0.0.1:3128"
    assert Job(proxy="http://127.0.0.1:3128").proxy_url({}) == "http://127.0.0.1:3128"
    assert Job().proxy_url({"MY_PROXY": "http://127.0.0.1:3128"}) is None
    with pytest.raises(JobError, match="environment variable MY_PROXY, which proxy_env names, is not set"):
        job.proxy_url({})
    with pytest.raises(JobError, match="MY_PROXY should look like") as caught:
        job.proxy_url({"MY_PROXY": "gopher://ann:s=cret@127.0.0.1"})
    assert "s=cret" not in str(caught.value)
    with pytest.raises(JobError, match="leave out proxy"):
        Job(proxy="http://127.0.0.1:3128", proxy_env="MY_PROXY")


@pytest.mark.parametrize(
    ("text", "mode", "refused"),
    [
        ('proxy = "http://ann:s=cret@127.0.0.1:3128"', 0o644, True),
        ('proxy = "http://ann:s=cret@127.0.0.1:3128"', 0o640, True),
        ('proxy = "http://ann:s=cret@127.0.0.1:3128"', 0o600, False),
        ('proxy = "http://127.0.0.1:3128"', 0o644, False),
        ('contact = "mailto:ann@example.org"', 0o644, False),
    ],
)
def test_a_job_file_with_a_password_is_for_its_owner_alone(
    tmp_path: Path, text: str, mode: int, *, refused: bool
) -> None:
    path = tmp_path / "job.toml"
    path.write_text(text)
    path.chmod(mode)
    with pytest.raises(JobError, match="chmod 600") if refused else nullcontext():
        check_secrets(path)
