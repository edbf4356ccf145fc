"""A host keeps its address until it is renewed, so that requests go to the address whose delay they waited for."""

from __future__ import annotations

import asyncio

import pytest

from motherlode.fetch import AddressGuard, HttpFetcher, HttpOptions
from motherlode.fetch.dns import GuardedResolver
from motherlode.model import Failure, FailureKind, Page, Request

from .fake_names import use_names
from .servers import LastingServer, answer


async def test_resolver_keeps_first_address_for_any_port(monkeypatch: pytest.MonkeyPatch) -> None:
    names = use_names(monkeypatch, ["93.184.215.14", "93.184.215.15"], ["93.184.215.99"])
    resolver = GuardedResolver(AddressGuard())
    assert resolver.known_address("a.example", 80) is None
    assert await resolver.resolve("a.example", 80) == ("93.184.215.14", 80)
    assert (
        await resolver.resolve("a.example", 443) == resolver.known_address("a.example", 443) == ("93.184.215.14", 443)
    )
    assert names.asked == 1


async def test_resolver_renew_moves_to_next_address_after_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    use_names(monkeypatch, ["93.184.215.14", "93.184.215.15"])
    resolver = GuardedResolver(AddressGuard())
    found = []
    for _ in range(3):
        found.append(await resolver.renew("a.example"))
        assert await resolver.renew("a.example") == found[-1], "it stays while it works"
        resolver.mark_failed("a.example")
    assert found == ["93.184.215.14", "93.184.215.15", "93.184.215.14"]
    assert resolver.known_address("a.example", 80) == (found[-1], 80)


async def test_resolver_never_keeps_private_address(monkeypatch: pytest.MonkeyPatch) -> None:
    use_names(monkeypatch, ["10.0.0.1", "93.184.215.14"])
    assert await GuardedResolver(AddressGuard()).renew("a.example") == "93.184.215.14"


@pytest.mark.parametrize(
    ("answer", "kind"), [(["10.0.0.1"], FailureKind.GUARD), ([], FailureKind.DNS)], ids=["guard", "dns"]
)
async def test_fetcher_resolve_reports_failure_kind(
    monkeypatch: pytest.MonkeyPatch, answer: list[str], kind: FailureKind
) -> None:
    use_names(monkeypatch, answer)
    fetcher = HttpFetcher(HttpOptions(user_agent="test"))
    found = await fetcher.resolve("http://a.example/x")
    await fetcher.close()
    assert isinstance(found, Failure)
    assert (found.kind, found.url) == (kind, "http://a.example/x")


async def test_fetcher_resolve_needs_no_dns_for_addresses_and_table(monkeypatch: pytest.MonkeyPatch) -> None:
    names = use_names(monkeypatch, [])
    table = {"b.example": ("127.0.0.9", 8080)}
    fetcher = HttpFetcher(HttpOptions(user_agent="test", hosts=table, allow=("127.0.0.0/8",)))
    assert await fetcher.resolve("http://93.184.215.14:8080/") == "93.184.215.14"
    assert await fetcher.resolve("http://[2606:4700::1]/") == "2606:4700::1"
    assert await fetcher.resolve("http://b.example/") == "127.0.0.9"
    await fetcher.close()
    assert names.asked == 0


async def test_normalize_address_has_one_spelling(monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise the host would get requests at twice the allowed rate."""
    use_names(monkeypatch, ["::ffff:93.184.215.14"])
    fetcher = HttpFetcher(HttpOptions(user_agent="test"))
    for url in ("http://93.184.215.14/", "http://[::ffff:93.184.215.14]/", "http://a.example/"):
        assert await fetcher.resolve(url) == "93.184.215.14"
    await fetcher.close()


async def test_fetcher_does_not_reuse_connection_to_old_address(monkeypatch: pytest.MonkeyPatch) -> None:
    async def hello(path: str, before: int, writer: asyncio.StreamWriter) -> None:
        writer.write(answer(b"hello"))

    use_names(monkeypatch, ["127.0.0.1"], ["127.0.0.2"], ["10.0.0.1"], ttl=0.0)
    fetcher = HttpFetcher(HttpOptions(user_agent="test", allow=("127.0.0.0/8",)))
    async with LastingServer(hello) as server:
        request = Request(url=f"http://a.example:{server.port}/")
        assert isinstance(await fetcher.fetch(request), Page)
        assert await fetcher.resolve(request.url) == "127.0.0.2"
        moved = await fetcher.fetch(request)
        assert isinstance(moved, Failure)
        assert moved.kind is FailureKind.CONNECT, "nobody listens there"
        inside = await fetcher.resolve(request.url)
        assert isinstance(inside, Failure)
        assert inside.kind is FailureKind.GUARD
        await fetcher.close()
        assert (server.connections, len(server.heads)) == (1, 1)


async def test_fetcher_unreachable_address_of_several_is_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    async def hello(path: str, before: int, writer: asyncio.StreamWriter) -> None:
        writer.write(answer(b"hello"))

    use_names(monkeypatch, ["127.0.0.2", "127.0.0.3", "127.0.0.1"])
    fetcher = HttpFetcher(HttpOptions(user_agent="test", allow=("127.0.0.0/8",)))
    async with LastingServer(hello) as server:
        request = Request(url=f"http://a.example:{server.port}/")
        assert await fetcher.resolve(request.url) == "127.0.0.2"
        found = await fetcher.fetch(request)
        assert isinstance(found, Failure)
        assert (found.kind, found.has_other_address) == (FailureKind.TIMEOUT, True)
        assert await fetcher.resolve(request.url) == "127.0.0.1", "the one that connected"
        assert isinstance(await fetcher.fetch(request), Page)
        assert server.connections == 1
        await fetcher.close()


async def test_fetcher_many_addresses_unreachable_is_failure_when_all_were_tried(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    use_names(monkeypatch, [f"127.0.0.{number}" for number in range(2, 8)])
    fetcher = HttpFetcher(HttpOptions(user_agent="test", allow=("127.0.0.0/8",)))
    request = Request(url="http://a.example:1/")
    told = []
    for _ in range(4):
        await fetcher.resolve(request.url)
        found = await fetcher.fetch(request)
        assert isinstance(found, Failure)
        told.append(found.has_other_address)
    await fetcher.close()
    assert told == [True, False, True, False], "one request connects to at most four addresses"


async def test_fetcher_single_address_is_not_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    use_names(monkeypatch, ["127.0.0.2"])
    fetcher = HttpFetcher(HttpOptions(user_agent="test", allow=("127.0.0.0/8",)))
    found = await fetcher.fetch(Request(url="http://a.example:1/"))
    await fetcher.close()
    assert isinstance(found, Failure)
    assert not found.has_other_address
