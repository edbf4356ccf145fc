"""What one shard sends to another: links of its hosts, page by page, with what a policy may know of each page."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import zstandard

from motherlode.frontier import Entry
from motherlode.model import Link, Parent

_LEVEL = 1
_MOST_BYTES = 256 << 20
"""Of a batch when unpacked; more is no batch of ours."""


class FoundOn(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The page on which links were found, as far as their depth, urgency and redirects follow from it."""

    url: str
    depth: int
    score: float
    hops: int

    def entry(self) -> Entry:
        return Entry(url=self.url, arm="", score=self.score, sequence=0, depth=self.depth, hops=self.hops)


class Parcel(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Links that one page has for one shard. The parent travels without its links: the parcel's own are given back."""

    links: Sequence[Link]
    parent: Parent | None
    found_on: FoundOn | None

    def unpacked_parent(self) -> Parent | None:
        return None if self.parent is None else msgspec.structs.replace(self.parent, links=self.links)


class Letter(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A batch as it lies in the sender's ledger until the receiver has made it lasting."""

    to: int
    links: int
    batch: bytes


def parcel_of(links: Sequence[Link], parent: Parent | None, entry: Entry | None) -> Parcel:
    found_on = None if entry is None else FoundOn(entry.url, entry.depth, entry.score, entry.hops)
    return Parcel(links, None if parent is None else msgspec.structs.replace(parent, links=()), found_on)


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(list[Parcel])


def pack(parcels: Sequence[Parcel]) -> bytes:
    """A batch, compressed: URLs of one page resemble each other."""
    return zstandard.compress(_encoder.encode(parcels), _LEVEL)


def unpack(batch: bytes) -> list[Parcel]:
    return _decoder.decode(zstandard.decompress(batch, max_output_size=_MOST_BYTES))
