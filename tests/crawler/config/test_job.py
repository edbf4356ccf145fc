"""The `Job`: checks of its values, and what is derived from them."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest

from motherlode.crawler.config.job import Job, JobError
from motherlode.fetch.http.signatures import new_key


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"pages": 0}, "pages must be greater than 0"),
        ({"delay": -1.0}, "delay must be a finite number from 0 on; got -1.0$"),
        ({"delay": float("nan")}, "delay must be a finite number from 0 on; got nan$"),
        ({"timeout": float("inf")}, "timeout must be greater than 0 and finite; got inf$"),
        ({"contact": "me\r\nX-Evil: 1"}, "contact is sent in an HTTP header and cannot have line breaks"),
        ({"proxy": "127.0.0.1:3128"}, "proxy should look like"),
        ({"proxy": "http://"}, "proxy should look like"),
        ({"signing_key": "a.pem"}, "signing_key and signature_agent need each other"),
        ({"signature_agent": "https://a.example"}, "signing_key and signature_agent need each other"),
        ({"signing_key": "a.pem", "signature_agent": "a.example"}, "signature_agent: 'a.example' should be an https"),
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
def test_wrong_value_in_a_job_is_described(values: dict[str, object], message: str) -> None:
    with pytest.raises(JobError, match=message):
        Job(**values)  # type: ignore[arg-type]


@pytest.mark.parametrize("place", ["127.0.0.1", "localhost:80", "127.0.0.1:99999", "127.0.0.1:0", "[::1]", ":80"])
def test_endpoint_without_address_or_port_is_refused(place: str) -> None:
    with pytest.raises(JobError, match="should be an address"):
        Job(hosts={"a.example": place}).host_endpoints()


def test_ipv6_endpoint_is_written_in_brackets() -> None:
    assert Job(hosts={"a.example": "[::1]:8080"}).host_endpoints() == {"a.example": ("::1", 8080)}


def test_hosts_table_is_normalized() -> None:
    hosts = {"bücher.test": "127.0.0.1:81", "Example.ORG.": "127.0.0.2:82", "xn--bcher-kva.example": "127.0.0.3:83"}
    assert Job(hosts=hosts).host_endpoints() == {
        "xn--bcher-kva.test": ("127.0.0.1", 81),
        "example.org": ("127.0.0.2", 82),
        "xn--bcher-kva.example": ("127.0.0.3", 83),
    }


@pytest.mark.parametrize("name", ["a.example:81", "http://a.example", "a.example/x", "", "a b"])
def test_wrong_name_in_hosts_table_is_refused(name: str) -> None:
    with pytest.raises(JobError, match="should be the name of a host"):
        Job(hosts={name: "127.0.0.1:81"}).host_endpoints()


def test_recorded_web_has_no_delay_by_default() -> None:
    assert Job(seeds=("http://a.example/",)).host_delay == 1.0
    assert Job(seeds=("http://a.example/",), web="web.warc.gz").host_delay == 0.0
    assert Job(seeds=("http://a.example/",), web="web.warc.gz", delay=0.6).host_delay == 0.6


@pytest.mark.parametrize("wait_threshold", [-0.1, 1.1])
def test_wait_threshold_outside_0_to_1_is_refused(wait_threshold: float) -> None:
    with pytest.raises(JobError, match="wait_threshold"):
        Job(seeds=("http://a.example/",), wait_threshold=wait_threshold)


def test_every_job_key_is_documented() -> None:
    text = (Path(__file__).parents[3] / "docs" / "crawl.md").read_text()
    names = [made.name for made in dataclasses.fields(Job)]
    assert [name for name in names if not re.search(rf"`(--)?{name}\b", text)] == []


def test_proxy_url_is_read_from_the_environment() -> None:
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


def test_own_hosts_without_contact_are_refused() -> None:
    with pytest.raises(JobError, match="contact"):
        Job(own_hosts=("example.org",))


def test_unknown_sitemaps_option_is_refused() -> None:
    with pytest.raises(JobError, match="usual"):
        Job(sitemaps="all")


def test_request_signer_needs_a_key_that_only_its_owner_can_read(tmp_path: Path) -> None:
    path = tmp_path / "crawler.pem"
    job = Job(signing_key=str(path), signature_agent="https://crawler.example.org")
    with pytest.raises(JobError, match="cannot be read: No such file"):
        job.request_signer()
    path.write_bytes(new_key())
    path.chmod(0o640)
    with pytest.raises(JobError, match="must be readable by its owner alone: chmod 600"):
        job.request_signer()
    path.chmod(0o600)
    assert job.request_signer() is not None
    path.write_text("no key")
    with pytest.raises(JobError, match=r"signing_key: .*crawler.pem: not a private key"):
        job.request_signer()
    assert Job().request_signer() is None
