"""Where the hosts of a served web live: spread over several loopback addresses, so that hosts share addresses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from motherlode.sim.web.web import SyntheticWeb

ADDRESSES = tuple(f"127.0.0.{last}" for last in range(2, 22))
"""Loopback, and never 127.0.0.1, where other things live."""


class HostsTable(Mapping[str, tuple[str, int]]):
    """Address and port of every host, by name, made when they are asked for."""

    def __init__(self, web: SyntheticWeb, port: int) -> None:
        self._web = web
        self._port = port

    def __getitem__(self, name: str) -> tuple[str, int]:
        number = self._web.host_number(name)
        if number is None:
            raise KeyError(name)
        return ADDRESSES[number % len(ADDRESSES)], self._port

    def __iter__(self) -> Iterator[str]:
        return iter(self._web.hosts())

    def __len__(self) -> int:
        return len(self._web.hosts())


def hosts_table(web: SyntheticWeb, port: int) -> Mapping[str, tuple[str, int]]:
    """What a resolver must know to crawl a web that is served at this port.

    >>> table = hosts_table(SyntheticWeb(pages=1000, seed=1), 8080)
    >>> table["portal-0.example"], "nobody.example" in table
    (('127.0.0.2', 8080), False)
    """
    return HostsTable(web, port)
