"""Seeds, host names and host patterns as users write them."""

from __future__ import annotations

import pytest

from motherlode.crawler.config.host_patterns import (
    canonical_seeds,
    compile_own_hosts,
    compile_untrusted_hosts,
    complete_url,
    normalize_host,
    parse_endpoint,
)
from motherlode.crawler.config.values import JobError


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("Example.ORG", "example.org"),
        ("example.org.", "example.org"),
        ("faß.example", "xn--fa-hia.example"),
        ("例え.テスト", "xn--r8jz45g.xn--zckzah"),
        ("_srv.example", "_srv.example"),
        ("127.1", "127.0.0.1"),
        ("[0:0::1]", "[::1]"),
    ],
)
def test_host_name_is_normalized(given: str, name: str) -> None:
    assert normalize_host(given) == name


@pytest.mark.parametrize(
    "given",
    ["", "*", "*.example", "a b", "a/b", "a?b", "a#b", "a:80", "ann@a", "a%2eb", "a\\b", "[::1", "[::1]:80", "ü*"],
)
def test_text_that_is_no_host_name_gives_none(given: str) -> None:
    assert normalize_host(given) is None


@pytest.mark.parametrize(
    "name",
    ["*", "*.com", "*.co.uk", "*.рф", "http://example.org/", "", "a b", "ann@example.org", "example.org:x", ":80"],
)
def test_own_hosts_pattern_of_a_public_suffix_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="own_hosts"):
        compile_own_hosts([name])


def test_own_hosts_match_whole_names_and_ports() -> None:
    own = compile_own_hosts(["Example.org", "127.0.0.1:81", "[::1]"])
    assert own("example.org:8080")
    assert own("127.0.0.1:81")
    assert own("[::1]")
    assert own("[::1]:99")
    assert not own("127.0.0.1")
    assert not own("evil-example.org")


def test_own_hosts_match_international_names() -> None:
    own = compile_own_hosts(["Bücher.example", "*.XN--bcher-kva.example", "*.пример.рф:8080"])
    assert own("xn--bcher-kva.example:81")
    assert own("shop.xn--bcher-kva.example")
    assert own("a.xn--e1afmkfd.xn--p1ai:8080")
    assert not own("a.xn--e1afmkfd.xn--p1ai"), "the pattern has a port"
    assert not own("bucher.example")


def test_normalize_host_on_examples_gives_expected_values() -> None:
    assert (normalize_host("Bücher.Example"), normalize_host("[::1]")) == ("xn--bcher-kva.example", "[::1]")
    assert (normalize_host("a.example:80"), normalize_host("a.example/b")) == (None, None)


def test_parse_endpoint_on_examples_gives_expected_values() -> None:
    assert (parse_endpoint("127.0.0.2:8080"), parse_endpoint("[::1]:80"), parse_endpoint("localhost:80")) == (
        ("127.0.0.2", 8080),
        ("::1", 80),
        None,
    )


def test_complete_url_on_examples_gives_expected_values() -> None:
    assert (complete_url("a.example/x"), complete_url("HTTP://A.example"), complete_url("mailto:ann@a.example")) == (
        "https://a.example/x",
        "http://a.example/",
        None,
    )


def test_compile_untrusted_hosts_on_examples_gives_expected_values() -> None:
    is_untrusted = compile_untrusted_hosts(["*.lab.example"])
    assert (
        is_untrusted("a.lab.example:8443"),
        is_untrusted("lab.example"),
        compile_untrusted_hosts(["*"])("lab.example"),
    ) == (True, False, True)


def test_canonical_seeds_are_in_canonical_form_without_repetitions() -> None:
    given = ("HTTP://A.example:80/x/../y#z", "a.example/y", "https://a.example/y", "//b.example", "localhost:8080")
    assert canonical_seeds(given) == (
        "http://a.example/y",
        "https://a.example/y",
        "https://b.example/",
        "https://localhost:8080/",
    )


@pytest.mark.parametrize("seed", ["/md3", "./seeds.txt", "../seeds", "~/seeds.txt", "C:\\seeds.txt", "\\\\host\\seeds"])
def test_canonical_seeds_with_a_path_raise_an_error_that_names_the_option(seed: str) -> None:
    with pytest.raises(JobError, match=r"is a path and no URL; .*--seeds FILE"):
        canonical_seeds((seed,))


@pytest.mark.parametrize("seed", ["ftp://a.example/", "mailto:ann@a.example", "http://", "a b"])
def test_canonical_seeds_with_a_text_that_is_no_url_raise_an_error_that_names_it(seed: str) -> None:
    with pytest.raises(JobError, match="is not an http or https URL") as caught:
        canonical_seeds(("http://good.example/", seed))
    assert repr(seed) in str(caught.value)


def test_canonical_seeds_with_a_tab_raise_an_error() -> None:
    with pytest.raises(JobError, match="has a tab in it: one URL a line"):
        canonical_seeds(("http://a.example/\tscore=2.5",))


def test_canonical_seeds_with_a_long_url_raise_an_error_that_shows_its_start() -> None:
    with pytest.raises(JobError, match=r"xxx'… is longer than the 4096 characters") as caught:
        canonical_seeds(("http://a.example/" + 5000 * "x",))
    assert len(str(caught.value)) < 200
