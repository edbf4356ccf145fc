"""URLs of proxies, and the environment variables that name them."""

from __future__ import annotations

import pytest

from motherlode.crawler.config.job import Job, JobError
from motherlode.fetch.http.proxy import ENVIRONMENT, Proxy, proxy_chooser
from motherlode.www.urls import parse_origin

VARIABLES = {
    "HTTP_PROXY": "http://upper.example:1",
    "http_proxy": "lower.example:2",
    "ALL_PROXY": "socks5://ann:secret@socks.example",
    "NO_PROXY": "direct.example, .sub.example,ported.example:8080",
}


@pytest.mark.parametrize(
    ("url", "host", "port", "is_socks"),
    [
        ("http://a.example/", "lower.example", 2, False),
        ("https://a.example/", "socks.example", 1080, True),
        ("http://direct.example/", "", 0, False),
        ("https://www.direct.example/", "", 0, False),
        ("http://notdirect.example/", "lower.example", 2, False),
        ("http://x.sub.example/", "", 0, False),
        ("http://ported.example:8080/", "", 0, False),
        ("http://ported.example/", "lower.example", 2, False),
    ],
)
def test_environment_proxy_depends_on_scheme_and_host(url: str, host: str, port: int, *, is_socks: bool) -> None:
    found = proxy_chooser(ENVIRONMENT, VARIABLES)(parse_origin(url))
    if found is None:
        assert not host
    else:
        assert (found.origin.host, found.origin.port, found.is_socks) == (host, port, is_socks)


def test_environment_without_variables_means_no_proxy_and_star_means_none_for_all() -> None:
    origin = parse_origin("http://a.example/")
    assert proxy_chooser(ENVIRONMENT, {})(origin) is None
    assert proxy_chooser(ENVIRONMENT, {**VARIABLES, "NO_PROXY": "*"})(origin) is None
    assert proxy_chooser(None, VARIABLES)(origin) is None, "the environment counts only if the user says so"


def test_proxy_from_url_reads_user_and_password() -> None:
    http, socks = Proxy.from_url("http://ann:s%3Dx@p.example:3128"), Proxy.from_url("socks5h://ann:s%3Dx@p.example:99")
    assert http.headers == {"Proxy-Authorization": "Basic YW5uOnM9eA=="}
    assert (socks.headers, socks.credentials, socks.origin.port) == ({}, ("ann", "s=x"), 99)


@pytest.mark.parametrize("url", ["ftp://a.example", "socks4://a.example", "socks5://", "a.example:80", "http://a:b:c"])
def test_proxy_with_a_wrong_url_is_refused(url: str) -> None:
    with pytest.raises(JobError, match="proxy should look like"):
        Job(proxy=url)


def test_job_with_a_wrong_environment_proxy_is_refused() -> None:
    with pytest.raises(JobError, match="a proxy of the environment"):
        Job(proxy="environment").proxy_url({"HTTPS_PROXY": "gopher://a.example"})
