"""Copies: contents seen before, and hosts that mirror others.

Each is a plain value of bounded size: what is forgotten costs a few requests, never a page.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable

import msgspec
import xxhash

from motherlode.www.urls import host_of

MIRROR = "trap: mirror of another host"


class ContentSeen:
    """Remembers where each content was first met.

    >>> seen = ContentSeen()
    >>> body = b"<p>one text" * 20
    >>> seen.first("http://a.example/", body), seen.first("http://b.example/", body)
    ('', 'http://a.example/')
    """

    def __init__(self, *, capacity: int = 200_000, least: int = 64) -> None:
        self._capacity = capacity
        """Contents; the one that was met longest ago is forgotten first."""
        self._least = least
        """Bytes. Bodies that are shorter say nothing: many pages are empty."""
        self._places: OrderedDict[bytes, str] = OrderedDict()

    def __len__(self) -> int:
        return len(self._places)

    def first(self, url: str, body: bytes) -> str:
        """The address at which the same bytes were met before; "" where there is none, or only this one."""
        if len(body) < self._least:
            return ""
        key = xxhash.xxh3_128_digest(body)
        place = self._places.setdefault(key, url)
        self._places.move_to_end(key)
        if len(self._places) > self._capacity:
            self._places.popitem(last=False)
        return "" if place == url else place

    def dump(self) -> list[tuple[bytes, str]]:
        """Plain data from which `load` makes the same memory, the longest ago first."""
        return list(self._places.items())

    def load(self, places: Iterable[tuple[bytes, str]]) -> None:
        self._places = OrderedDict(places)


class Standing(msgspec.Struct, array_like=True):
    """What is known of one host's pages."""

    pages: int = 0
    shared: int = 0
    """Pages that another host has at the same place."""
    others: dict[str, int] = {}
    """Hosts with which it shares pages, and how many."""
    differs: bool = False
    """It has a page of its own where one of those has another."""
    original: str = ""
    """The host whose mirror it is."""


class MirrorHosts:
    """Refuses hosts whose pages were found under the same paths on another host.

    Several mirrors may be crawled side by side, so that each has pages first. A page that is on one host alone tells
    nothing as long as the others have not been asked for it. What tells them apart is a place at which they differ, and
    hosts that only share some pages, as the tenants of one service do, differ at their roots.

    >>> mirrors = MirrorHosts(sample=2)
    >>> for name in ("a", "b"):
    ...     mirrors.fetched(f"http://example.org/{name}", duplicate_of="")
    ...     mirrors.fetched(f"http://www.example.org/{name}", duplicate_of=f"http://example.org/{name}")
    >>> mirrors.reason("http://www.example.org/c"), mirrors.reason("http://example.org/c")
    ('trap: mirror of another host', '')
    """

    def __init__(self, *, sample: int = 20, share: float = 2 / 3, capacity: int = 100_000) -> None:
        self._sample = sample
        """Pages that a mirror must share."""
        self._share = share
        """The least share of its pages that they must be."""
        self._capacity = capacity
        """Hosts, and pages; those that were met longest ago are forgotten first."""
        self._hosts: OrderedDict[str, Standing] = OrderedDict()
        self._pages: OrderedDict[int, bool] = OrderedDict()
        """Hash of an address that was fetched → whether another host is known to have the same there."""
        self._mirrors: set[str] = set()
        """The hosts that are refused."""

    def fetched(self, url: str, *, duplicate_of: str) -> None:
        """A page has been read; `duplicate_of` is what `ContentSeen.first` said of it."""
        host, below = host_of(url), _below_host(url)
        if (page := _page(host, below)) in self._pages:
            return  # it was looked at again
        standing = self._standing(host)
        standing.pages += 1
        other = host_of(duplicate_of) if duplicate_of else ""
        is_shared = bool(other) and other != host and _below_host(duplicate_of) == below
        self._pages[page] = is_shared
        if len(self._pages) > self._capacity:
            self._pages.popitem(last=False)
        if is_shared:
            self._share_page(host, standing, other, below)
        elif any(_page(known, below) in self._pages for known in standing.others):
            standing.differs = True
            self._free(host, standing)

    def _share_page(self, host: str, standing: Standing, other: str, below: str) -> None:
        first = self._standing(other)
        standing.shared += 1
        standing.others[other] = standing.others.get(other, 0) + 1
        first.others[host] = first.others.get(host, 0) + 1
        page = _page(other, below)
        if self._pages.get(page) is False:
            self._pages[page] = True
            first.shared += 1
        root = self._root(max(standing.others, key=standing.others.__getitem__))
        if root != host and self._is_mirror(host, standing, root):
            standing.original = root
            self._mirrors.add(host)

    def _is_mirror(self, host: str, standing: Standing, root: str) -> bool:
        if standing.differs or standing.shared < max(self._sample, self._share * standing.pages):
            return False
        at_root = [self._pages.get(_page(one, "/")) for one in (host, root)]
        return None in at_root or all(at_root)

    def _root(self, host: str) -> str:
        """The host that a host stands for at last; two never stand for each other."""
        while host in self._mirrors:
            host = self._hosts[host].original
        return host

    def _free(self, host: str, standing: Standing) -> None:
        standing.original = ""
        self._mirrors.discard(host)

    def _standing(self, host: str) -> Standing:
        found = self._hosts.get(host)
        if found is None:
            found = self._hosts[host] = Standing()
            if len(self._hosts) > self._capacity:
                forgotten, _ = self._hosts.popitem(last=False)
                self._mirrors.discard(forgotten)
        else:
            self._hosts.move_to_end(host)
        return found

    def reason(self, url: str) -> str:
        return MIRROR if self._mirrors and host_of(url) in self._mirrors else ""

    def dump(self) -> tuple[dict[str, Standing], dict[int, bool]]:
        """As in `ContentSeen`."""
        return dict(self._hosts), dict(self._pages)

    def load(self, hosts: dict[str, Standing], pages: dict[int, bool]) -> None:
        self._hosts, self._pages = OrderedDict(hosts), OrderedDict(pages)
        self._mirrors = {host for host, standing in hosts.items() if standing.original in hosts}


def _page(host: str, below: str) -> int:
    return xxhash.xxh3_64_intdigest(f"{host}{below}".encode())


def _below_host(url: str) -> str:
    return url[url.find("/", 8) :] if url else ""
