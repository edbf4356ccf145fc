"""The resolver against name servers on loopback: TTLs, errors, families, several servers, and a real server."""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from motherlode.fetch import AddressGuard, HttpFetcher, HttpOptions, dns
from motherlode.fetch.dns import Answer, GuardedResolver, NameServers, read_hosts_file, sort_addresses
from motherlode.model import Failure, FailureKind
from tests.name_server import REFUSED, SERVFAIL, Name, NameServer, serving_names

from .fake_names import FakeNames

PUBLIC, OTHER = "93.184.215.14", "93.184.215.15"


class FakeTime:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


@asynccontextmanager
async def asking(*servers: NameServer) -> AsyncIterator[NameServers]:
    names = NameServers([server.endpoint for server in servers], hosts_file=Path("/nonexistent"))
    try:
        yield names
    finally:
        await names.close()


async def code_of(names: NameServers, host: str) -> int | None:
    with pytest.raises(socket.gaierror) as raised:
        await names.look_up(host)
    return raised.value.errno


async def test_look_up_follows_aliases_and_returns_smallest_ttl() -> None:
    known = {
        "a.example": Name(alias="b.example", ttl=77),
        "b.example": Name(alias="c.example", ttl=500),
        "c.example": Name((PUBLIC, OTHER), ttl=99),
    }
    async with serving_names(NameServer(known)) as server, asking(server) as names:
        assert await names.look_up("a.example") == Answer((PUBLIC, OTHER), 77)


@pytest.mark.parametrize(
    ("name", "code"),
    [
        (Name(), socket.EAI_NONAME),
        (Name(code=SERVFAIL), socket.EAI_AGAIN),
        (Name(code=REFUSED), socket.EAI_AGAIN),
    ],
    ids=["no-data", "servfail", "refused"],
)
async def test_look_up_without_address_tells_permanent_from_temporary(name: Name, code: int) -> None:
    async with serving_names(NameServer({"a.example": name})) as server, asking(server) as names:
        assert await code_of(names, "a.example") == code


@pytest.mark.parametrize("host", ["nobody.example", "a" * 64 + ".org", "a..b"])
async def test_look_up_unknown_or_invalid_name_is_permanent(host: str) -> None:
    async with serving_names() as server, asking(server) as names:
        assert await code_of(names, host) == socket.EAI_NONAME


async def test_look_up_of_silent_server_is_temporary(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dns, "LOOKUP_SECONDS", 0.2)
    async with serving_names(NameServer({"a.example": Name(silent=True)})) as server, asking(server) as names:
        assert await code_of(names, "a.example") == socket.EAI_AGAIN


async def test_look_up_one_family_silent_never_means_no_such_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """c-ares itself reports "no data" if one family has none and the other had no answer."""
    monkeypatch.setattr(dns, "LOOKUP_SECONDS", 0.3)
    monkeypatch.setattr(dns, "has_ipv6", lambda: True)

    class HalfDeaf(NameServer):
        def datagram_received(self, data: bytes, address: tuple[str, int]) -> None:
            if data[-3] == 28:  # AAAA
                super().datagram_received(data, address)

    async with serving_names(HalfDeaf({"a.example": Name()})) as server, asking(server) as names:
        assert await code_of(names, "a.example") == socket.EAI_AGAIN


async def test_look_ups_wait_for_slow_server_at_the_same_time() -> None:
    slow = NameServer(find=lambda name: Name((PUBLIC,), delay=1.0))
    async with serving_names(slow) as server, asking(server) as names:
        began = time.monotonic()
        found = await asyncio.gather(*(names.look_up(f"h{number}.example") for number in range(100)))
        assert {answer.addresses for answer in found} == {(PUBLIC,)}
        assert time.monotonic() - began < 15, "one after the other they would take 100 s"


async def test_look_up_with_one_of_two_servers_dead_succeeds() -> None:
    known = {f"h{number}.example": Name((PUBLIC,)) for number in range(20)}
    dead, alive = NameServer(known, is_silent=True), NameServer(known)
    async with serving_names(dead), serving_names(alive), asking(dead, alive) as names:
        found = await asyncio.gather(*map(names.look_up, known))
        assert len(found) == 20


async def test_hosts_file_comes_before_name_servers(tmp_path: Path) -> None:
    file = tmp_path / "hosts"
    file.write_text("# comment\n192.0.2.1 A.example b.example # more\nnot-an-address c.example\n::1 a.example\n\n")
    assert read_hosts_file(file) == {"a.example": ("192.0.2.1", "::1"), "b.example": ("192.0.2.1",)}
    names = NameServers(["127.0.0.1:1"], hosts_file=file)
    assert (await names.look_up("b.example")).addresses == ("192.0.2.1",)
    assert (await names.look_up("localhost")).addresses[0] == "127.0.0.1"
    await names.close()


def test_sort_addresses_puts_routable_ipv6_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dns, "_has_route", lambda address: address != "2001:db8::2")
    assert sort_addresses([PUBLIC, "2001:db8::2", "2001:db8::1"]) == ("2001:db8::1", PUBLIC, "2001:db8::2")


async def test_resolver_looks_up_again_after_ttl_and_keeps_address_that_is_still_there() -> None:
    clock, names = FakeTime(), FakeNames([OTHER], [PUBLIC, OTHER], [PUBLIC], ttl=300)
    resolver = GuardedResolver(AddressGuard(), names=names, clock=clock)
    assert await resolver.renew("a.example") == OTHER
    assert not resolver.is_stale("a.example")
    clock.now += 299
    assert (await resolver.renew("a.example"), names.asked) == (OTHER, 1)
    clock.now += 2
    assert resolver.is_stale("a.example")
    assert resolver.known_address("a.example", 80) == (OTHER, 80), "between lease and connection nothing changes"
    assert (await resolver.renew("a.example"), names.asked) == (OTHER, 2)
    clock.now += 301
    assert await resolver.renew("a.example") == PUBLIC, "the name has moved"


@pytest.mark.parametrize(("ttl", "lasts"), [(0.0, dns.MIN_TTL_SECONDS), (10.0**9, 6 * 3600.0)])
async def test_resolver_ttl_is_kept_within_limits(ttl: float, lasts: float) -> None:
    clock = FakeTime()
    resolver = GuardedResolver(AddressGuard(), names=FakeNames([PUBLIC], ttl=ttl), clock=clock)
    await resolver.renew("a.example")
    clock.now += lasts - 1
    assert not resolver.is_stale("a.example")
    clock.now += 1
    assert resolver.is_stale("a.example")


async def fail_to_renew(resolver: GuardedResolver, *, times: int) -> None:
    for _ in range(times):
        with pytest.raises(socket.gaierror):
            await resolver.renew("a.example")


async def test_resolver_unknown_name_is_confirmed_once_and_then_not_asked_for_a_minute() -> None:
    clock, names = FakeTime(), FakeNames([], [], [PUBLIC])
    resolver = GuardedResolver(AddressGuard(), names=names, clock=clock)
    await fail_to_renew(resolver, times=1)
    assert names.asked == 1
    await fail_to_renew(resolver, times=3)
    assert names.asked == 2, "the retry asks again, because otherwise it could not succeed"
    clock.now += 61
    assert await resolver.renew("a.example") == PUBLIC


async def test_resolver_unknown_name_that_exists_at_the_retry_is_resolved() -> None:
    names = FakeNames([], [PUBLIC])
    resolver = GuardedResolver(AddressGuard(), names=names)
    await fail_to_renew(resolver, times=1)
    assert await resolver.renew("a.example") == PUBLIC


async def test_resolver_unknown_name_looked_up_ahead_is_asked_again_only_by_the_retry() -> None:
    names = FakeNames([])
    resolver = GuardedResolver(AddressGuard(), names=names)
    resolver.look_up_ahead("a.example")
    await asyncio.gather(
        *(task for task in asyncio.all_tasks() if task is not asyncio.current_task()), return_exceptions=True
    )
    await fail_to_renew(resolver, times=1)
    assert names.asked == 1, "the first request uses the look-up ahead of time"
    resolver.look_up_ahead("a.example")
    await fail_to_renew(resolver, times=2)
    assert names.asked == 2


async def test_resolver_keeps_expired_address_while_no_server_answers() -> None:
    clock = FakeTime()
    async with serving_names(NameServer({"a.example": Name((PUBLIC,), ttl=60)})) as server, asking(server) as names:
        resolver = GuardedResolver(AddressGuard(), names=names, clock=clock)
        await resolver.renew("a.example")
        server.names["a.example"] = Name(code=SERVFAIL)
        clock.now += 61
        await asyncio.sleep(0)
        assert await resolver.renew("a.example") == PUBLIC
        assert not resolver.is_stale("a.example")


async def test_resolver_shares_one_look_up_and_survives_cancelled_callers() -> None:
    known = {"a.example": Name((PUBLIC,), delay=0.2)}
    async with serving_names(NameServer(known)) as server, asking(server) as names:
        resolver = GuardedResolver(AddressGuard(), names=names)
        impatient, patient = (asyncio.ensure_future(resolver.renew("a.example")) for _ in range(2))
        await asyncio.sleep(0.01)
        impatient.cancel()
        assert await patient == PUBLIC
        assert server.asked("a.example") == 1


async def test_resolver_look_up_ahead_makes_renew_immediate() -> None:
    names = FakeNames([PUBLIC])
    resolver = GuardedResolver(AddressGuard(), names=names)
    resolver.look_up_ahead("a.example")
    await asyncio.gather(*(task for task in asyncio.all_tasks() if task is not asyncio.current_task()))
    await asyncio.sleep(0)  # the callbacks of the look-up
    assert resolver.known_address("a.example", 80) == (PUBLIC, 80)
    assert (await resolver.renew("a.example"), names.asked) == (PUBLIC, 1)
    assert resolver.lookups_free == dns.MAX_AHEAD


async def test_fetcher_failing_name_server_is_not_the_hosts_failure() -> None:
    async with serving_names(NameServer({"a.example": Name(code=SERVFAIL)})) as server:
        fetcher = HttpFetcher(HttpOptions(user_agent="test", name_servers=[server.endpoint]))
        found = await fetcher.resolve("http://a.example/")
        await fetcher.close()
    assert isinstance(found, Failure)
    assert found.kind is FailureKind.NO_DNS


UNBOUND = shutil.which("unbound") or shutil.which("unbound", path="/usr/sbin:/sbin")


@pytest.mark.skipif(UNBOUND is None and "CI" not in os.environ, reason="unbound is not installed")
async def test_look_up_at_unbound_reads_addresses_aliases_and_ttl(tmp_path: Path) -> None:
    assert UNBOUND is not None, "the tests need unbound: apt-get install unbound"
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    config = tmp_path / "unbound.conf"
    config.write_text(
        f'server:\n interface: 127.0.0.1@{port}\n chroot: ""\n username: ""\n pidfile: ""\n use-syslog: no\n'
        f' directory: "{tmp_path}"\n do-daemonize: no\n module-config: "iterator"\n'
        ' local-zone: "box.example." static\n'
        f' local-data: "a.box.example. 120 IN A {PUBLIC}"\n local-data: "a.box.example. 120 IN A {OTHER}"\n'
        ' local-data: "six.box.example. 50 IN AAAA 2001:db8::1"\n'
        "remote-control:\n control-enable: no\n"
    )
    process = await asyncio.create_subprocess_exec(UNBOUND, "-dd", "-c", str(config), stderr=asyncio.subprocess.PIPE)
    names = NameServers([f"127.0.0.1:{port}"], hosts_file=Path("/nonexistent"))
    try:
        async with asyncio.timeout(20):
            assert process.stderr is not None
            while b"start of service" not in await process.stderr.readline():
                pass
        found = await names.look_up("a.box.example")
        assert (set(found.addresses), found.ttl) == ({PUBLIC, OTHER}, 120)
        assert await names.look_up("six.box.example") == Answer(("2001:db8::1",), 50)
        assert await code_of(names, "nobody.box.example") == socket.EAI_NONAME
    finally:
        await names.close()
        process.terminate()
        await process.wait()


async def test_look_ups_of_many_names_wait_for_their_turn_but_not_for_silent_names(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With one turn at a time, a name without an answer gives its turn away although its look-up goes on."""
    monkeypatch.setattr(dns, "_MAX_YOUNG_LOOKUPS", 1)
    monkeypatch.setattr(dns, "_YOUNG_SECONDS", 0.05)
    server = NameServer({"silent.example": Name(silent=True)}, find=lambda name: Name((PUBLIC,)))
    async with serving_names(server), asking(server) as names:
        silent = asyncio.ensure_future(names.look_up("silent.example"))
        async with asyncio.timeout(20):
            found = await asyncio.gather(*(names.look_up(f"{number}.example") for number in range(20)))
        assert {answer.addresses for answer in found} == {(PUBLIC,)}
        assert not silent.done()
        silent.cancel()
