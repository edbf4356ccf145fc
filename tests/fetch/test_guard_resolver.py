"""A host keeps its address until it is renewed, so that requests go to the address whose delay they waited for."""

from __future__ import annotations

import asyncio
import socket
from typing import Any

import pytest

from motherlode.fetch import AddressGuard, HttpFetcher, HttpOptions
from motherlode.fetch.guard import GuardedResolver
from motherlode.model import Failure, FailureKind, Page, Request

from .servers import LastingServer, answer


class Names:
    """DNS with different results from one lookup to the next."""

    def __init__(self, *answers: list[str]) -> None:
        self._answers = list(answers)
        self.asked = 0

    async def __call__(self, host: str, port: int, **_: Any) -> list[Any]:
        self.asked += 1
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        if not answer:
            raise socket.gaierror(socket.EAI_NONAME, "no such host")
        return [(socket.AF_INET, socket.SOCK_STREAM, 0, "", (address, port)) for address in answer]


@pytest.fixture
def use(monkeypatch: pytest.MonkeyPatch) -> Any:
    async def give(*answers: list[str]) -> Names:
        names = Names(*answers)
        monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", names, raising=False)
        return names

    return give


async def test_resolver_keeps_first_address_for_any_port(use: Any) -> None:
    names = await use(["93.184.215.14", "93.184.215.15"], ["93.184.215.99"])
    resolver = GuardedResolver(AddressGuard())
    assert resolver.known_address("a.example", 80) is None
    assert await resolver.resolve("a.example", 80) == ("93.184.215.14", 80)
    assert (
        await resolver.resolve("a.example", 443) == resolver.known_address("a.example", 443) == ("93.184.215.14", 443)
    )
    assert names.asked == 1


async def test_resolver_renew_moves_to_next_address(use: Any) -> None:
    await use(["93.184.215.14", "93.184.215.15"])
    resolver = GuardedResolver(AddressGuard())
    found = [await resolver.renew("a.example") for _ in range(3)]
    assert found == ["93.184.215.14", "93.184.215.15", "93.184.215.14"]
    assert resolver.known_address("a.example", 80) == (found[-1], 80)


async def test_resolver_never_keeps_private_address(use: Any) -> None:
    await use(["10.0.0.1", "93.184.215.14"])
    assert await GuardedResolver(AddressGuard()).renew("a.example") == "93.184.215.14"


@pytest.mark.parametrize(
    ("answer", "kind"), [(["10.0.0.1"], FailureKind.GUARD), ([], FailureKind.DNS)], ids=["guard", "dns"]
)
async def test_fetcher_resolve_reports_failure_kind(use: Any, answer: list[str], kind: FailureKind) -> None:
    await use(answer)
    fetcher = HttpFetcher(HttpOptions(user_agent="test"))
    found = await fetcher.resolve("http://a.example/x")
    await fetcher.close()
    assert isinstance(found, Failure)
    assert (found.kind, found.url) == (kind, "http://a.example/x")


async def test_fetcher_resolve_needs_no_dns_for_addresses_and_table(use: Any) -> None:
    names = await use([])
    table = {"b.example": ("127.0.0.9", 8080)}
    fetcher = HttpFetcher(HttpOptions(user_agent="test", hosts=table, allow=("127.0.0.0/8",)))
    assert await fetcher.resolve("http://93.184.215.14:8080/") == "93.184.215.14"
    assert await fetcher.resolve("http://[2606:4700::1]/") == "2606:4700::1"
    assert await fetcher.resolve("http://b.example/") == "127.0.0.9"
    await fetcher.close()
    assert names.asked == 0


async def test_normalize_address_has_one_spelling(use: Any) -> None:
    """Otherwise the host would get requests at twice the allowed rate."""
    await use(["::ffff:93.184.215.14"])
    fetcher = HttpFetcher(HttpOptions(user_agent="test"))
    for url in ("http://93.184.215.14/", "http://[::ffff:93.184.215.14]/", "http://a.example/"):
        assert await fetcher.resolve(url) == "93.184.215.14"
    await fetcher.close()


async def test_fetcher_does_not_reuse_connection_to_old_address(use: Any) -> None:
    async def hello(path: str, before: int, writer: asyncio.StreamWriter) -> None:
        writer.write(answer(b"hello"))

    await use(["127.0.0.1"], ["127.0.0.2"], ["10.0.0.1"])
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


async def test_fetcher_unreachable_address_of_several_is_elsewhere(use: Any) -> None:
    async def hello(path: str, before: int, writer: asyncio.StreamWriter) -> None:
        writer.write(answer(b"hello"))

    await use(["127.0.0.2", "127.0.0.3", "127.0.0.1"])
    fetcher = HttpFetcher(HttpOptions(user_agent="test", allow=("127.0.0.0/8",)))
    async with LastingServer(hello) as server:
        request = Request(url=f"http://a.example:{server.port}/")
        for address in ("127.0.0.2", "127.0.0.3"):
            assert await fetcher.resolve(request.url) == address
            found = await fetcher.fetch(request)
            assert isinstance(found, Failure)
            assert (found.kind, found.elsewhere) == (FailureKind.CONNECT, True)
        await fetcher.resolve(request.url)
        assert isinstance(await fetcher.fetch(request), Page)
        await fetcher.close()


async def test_fetcher_all_addresses_unreachable_is_failure_until_renewed(use: Any) -> None:
    await use(["127.0.0.2", "127.0.0.3"])
    fetcher = HttpFetcher(HttpOptions(user_agent="test", allow=("127.0.0.0/8",)))
    request = Request(url="http://a.example:1/")
    told = []
    for _ in range(4):
        await fetcher.resolve(request.url)
        found = await fetcher.fetch(request)
        assert isinstance(found, Failure)
        told.append(found.elsewhere)
    await fetcher.close()
    assert told == [True, False, True, False]


async def test_fetcher_single_address_is_not_elsewhere(use: Any) -> None:
    await use(["127.0.0.2"])
    fetcher = HttpFetcher(HttpOptions(user_agent="test", allow=("127.0.0.0/8",)))
    found = await fetcher.fetch(Request(url="http://a.example:1/"))
    await fetcher.close()
    assert isinstance(found, Failure)
    assert not found.elsewhere
