"""Request headers and tokens for named hosts, which no other host may see."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from motherlode.crawler.config.job import Job, JobError
from motherlode.crawler.config.job_file import secret_keys
from motherlode.fetch import HttpFetcher, HttpOptions
from motherlode.fetch.http.host_headers import check_header
from motherlode.model import Failure, Page, Request, RequestKind

from ..certificates import issued, saved, server_context
from ..conftest import LIMITS
from ..servers import LastingServer, answer

HOSTS = ("api.example", "x.data.example", "other.example")


async def reply(path: str, before: int, writer: asyncio.StreamWriter) -> None:
    moved = answer(b"", "Location: //other.example/b", status="302 Found")
    writer.write(moved if path == "/moved" else answer(b"hello"))
    await writer.drain()


def new_fetcher(job: Job, port: int) -> HttpFetcher:
    return HttpFetcher(
        HttpOptions(
            user_agent="x",
            limits=LIMITS,
            allow=("127.0.0.0/8",),
            hosts=dict.fromkeys(HOSTS, ("127.0.0.1", port)),
            any_certificate=lambda host: True,
            host_headers=job.host_headers({"THE_TOKEN": "t-env"}),
        )
    )


JOB = Job(
    tokens={"*.data.example": "t-file"},
    tokens_env={"api.example": "THE_TOKEN"},
    headers={"api.example": {"Accept-Language": "de", "X-Api-Key": "k1"}},
)


async def test_token_and_headers_reach_their_host_and_no_other(tmp_path: Path) -> None:
    context = server_context(saved(tmp_path, issued(names=HOSTS)))
    async with LastingServer(reply, tls=context) as server:
        fetcher = new_fetcher(JOB, server.port)
        moved = await fetcher.fetch(Request(url="https://api.example/moved"))
        assert isinstance(moved, Failure) and moved.location == "https://other.example/b"
        for url in (moved.location, "https://x.data.example/", "https://api.example/robots.txt"):
            kind = RequestKind.ROBOTS if url.endswith("robots.txt") else RequestKind.PAGE
            assert isinstance(await fetcher.fetch(Request(url=url, kind=kind)), Page)
        await fetcher.close()
        first, other, data, robots = server.heads
    assert "Authorization: Bearer t-env\r\n" in first
    assert "Accept-Language: de\r\nX-Api-Key: k1\r\n" in first
    assert "Authorization: Bearer t-env\r\n" in robots
    assert "Authorization: Bearer t-file\r\n" in data
    assert "k1" not in data
    assert not any(secret in other for secret in ("Authorization", "t-env", "t-file", "k1", "Accept-Language"))


async def test_token_is_not_sent_without_encryption() -> None:
    async with LastingServer(reply) as server:
        fetcher = new_fetcher(JOB, server.port)
        await fetcher.fetch(Request(url="http://api.example/"))
        await fetcher.close()
    assert "Authorization" not in server.heads[0]
    assert "X-Api-Key: k1" in server.heads[0]


async def test_archived_request_has_no_secret() -> None:
    fetcher = new_fetcher(JOB, 1)
    sent = fetcher.serialize(Request(url="https://api.example/"))
    await fetcher.close()
    assert b"Accept-Language: de" in sent
    assert b"t-env" not in sent and b"k1" not in sent


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"headers": {"a.example": {"Host": "b"}}}, "Host cannot be set"),
        ({"headers": {"a.example": {"Transfer-Encoding": "chunked"}}}, "cannot be set"),
        ({"headers": {"a.example": {"X A": "b"}}}, "not the name of a header"),
        ({"headers": {"a.example": {"X-A": "b\r\nX-B: c"}}}, "printable ASCII"),
        ({"headers": {"a.example": "b"}}, "table of headers"),
        ({"tokens": {"*.co.uk": "b"}}, "hosts of other owners"),
        ({"tokens": {"*": "b"}}, "is not a host name"),
        ({"tokens_env": {"a b": "B"}}, "is not a host name"),
        ({"user_agent_suffix": "a\r\nb"}, "user_agent_suffix"),
    ],
)
def test_job_refuses_headers_and_hosts_that_cannot_be_meant(keys: dict[str, object], message: str) -> None:
    with pytest.raises(JobError, match=message):
        Job(**keys)  # type: ignore[arg-type]


def test_job_with_unset_token_variable_is_refused() -> None:
    with pytest.raises(JobError, match="THE_TOKEN, which tokens_env names, is not set"):
        JOB.host_headers({})


def test_check_header_does_not_repeat_a_secret_value() -> None:
    assert "s3cret" not in check_header("X-Key", "s3cret\n")


def test_tokens_and_headers_are_kept_in_the_secrets_file() -> None:
    assert secret_keys(JOB) == {"tokens", "headers"}
    assert secret_keys(Job(tokens_env={"a.example": "B"})) == set()
