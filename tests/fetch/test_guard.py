"""The address guard: which addresses are public, and that names cannot bypass it."""

from __future__ import annotations

import socket

import pytest

from motherlode.fetch import AddressGuard
from motherlode.fetch.dns import GuardedResolver
from motherlode.fetch.guard import GuardRefusedError

from .fake_names import FakeNames

PUBLIC = ["93.184.215.14", "1.1.1.1", "2606:4700:4700::1111", "::ffff:8.8.8.8", "64:ff9b::8.8.8.8", "192.0.0.9"]
INSIDE = [
    *("127.0.0.1", "127.255.255.254", "0.0.0.0", "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1"),
    *("169.254.169.254", "100.64.0.1", "192.0.0.1", "192.0.2.1", "198.18.0.1", "198.51.100.1", "203.0.113.1"),
    *("192.0.0.8", "192.88.99.1", "2002:c058:6301::1"),
    *("224.0.0.1", "239.255.255.255", "224.0.1.1", "240.0.0.1", "255.255.255.255"),
    *("::", "::1", "fe80::1", "fe80::1%eth0", "fc00::1", "fd12:3456::1", "fec0::1", "ff02::1", "ff0e::1"),
    *("2001:db8::1", "100::1", "3fff::1", "5f00::1", "64:ff9b:1::1"),
    *("::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254", "::ffff:c0a8:101", "::127.0.0.1"),
    *("2002:0a00:0001::1", "2002:7f00:1::", "2001:0:5ef5:79fb:0:0:f5ff:fffe", "64:ff9b::10.0.0.1", "64:ff9b::7f00:1"),
]


@pytest.mark.parametrize("address", PUBLIC)
def test_guard_allows_public_address(address: str) -> None:
    assert AddressGuard().refusal(address) == ""


@pytest.mark.parametrize("address", INSIDE)
def test_guard_refuses_private_address(address: str) -> None:
    assert AddressGuard().refusal(address) == f"{address} is not a public address"


@pytest.mark.parametrize("address", ["", "example.org", "127.1", "0x7f000001", "127.0.0.1:80", "[::1]", "010.0.0.1"])
def test_guard_refuses_non_address(address: str) -> None:
    assert "is not an address" in AddressGuard().refusal(address)


@pytest.mark.parametrize(
    ("allow", "address", "passes"),
    [
        ("127.0.0.0/8", "127.0.0.1", True),
        ("127.0.0.0/8", "::ffff:127.0.0.1", True),
        ("127.0.0.0/8", "::1", False),
        ("127.0.0.0/8", "10.0.0.1", False),
        ("127.0.0.1", "127.0.0.1", True),
        ("127.0.0.1", "127.0.0.2", False),
        ("10.1.2.3/16", "10.1.99.99", True),
        ("::1/128", "::1", True),
        ("fd00::/8", "fd00::5%eth1", True),
        ("fd00::/8", "8.8.8.8", True),
    ],
)
def test_guard_allows_ranges_of_user(allow: str, address: str, *, passes: bool) -> None:
    assert (AddressGuard(allow=[allow]).refusal(address) == "") == passes


def test_guard_invalid_range_raises_value_error() -> None:
    with pytest.raises(ValueError, match=r"'localhost' is not an address range such as 127\.0\.0\.0/8"):
        AddressGuard(allow=["localhost"])


async def test_resolver_table_entry_needs_no_dns() -> None:
    table = {"a.example": ("93.184.215.14", 8080), "b.example": ("2606:4700:4700::1111", 443)}
    resolver = GuardedResolver(AddressGuard(), table)
    assert await resolver.resolve("a.example", 80) == resolver.known_address("a.example", 80) == ("93.184.215.14", 8080)
    assert await resolver.renew("b.example") == "2606:4700:4700::1111"


def test_resolver_private_table_entry_is_refused() -> None:
    with pytest.raises(GuardRefusedError, match=r"10\.0\.0\.1 is not a public address"):
        GuardedResolver(AddressGuard(), {"a.example": ("10.0.0.1", 80)}).known_address("a.example", 80)


async def resolved(*addresses: str) -> tuple[str, int]:
    return await GuardedResolver(AddressGuard(), names=FakeNames(addresses)).resolve("a.example", 80)


async def test_resolver_leaves_refused_addresses_out() -> None:
    assert await resolved("10.0.0.1", "93.184.215.14", "::1") == ("93.184.215.14", 80)


async def test_resolver_name_with_only_private_addresses_is_refused() -> None:
    with pytest.raises(GuardRefusedError, match=r"10\.0\.0\.1 is not .*; ::1 is not"):
        await resolved("10.0.0.1", "::1")


async def test_resolver_name_without_addresses_is_refused() -> None:
    with pytest.raises(socket.gaierror):
        await resolved()
