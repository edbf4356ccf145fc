"""The store and its sinks as one store: the quads go to our own first, then to every sink."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from motherlode.index.page_record import PageRecord, Store
from motherlode.index.sinks.endpoint import EndpointClient, EndpointSink, Spool, spool_counts, spool_error
from motherlode.index.sinks.nquads_sink import SegmentSink
from motherlode.index.sinks.protocols import send_graphs, send_update
from motherlode.index.sinks.sink_settings import SinkKind, SinkSettings


class Sink(Protocol):
    """Takes pages beside the store. What `write` has taken survives the end of the process."""

    def write(self, records: Sequence[PageRecord]) -> None: ...

    def flush(self) -> None: ...

    def close(self) -> None: ...


class Sinks:
    """All sinks of a crawl."""

    def __init__(self, sinks: Sequence[Sink]) -> None:
        self.all = tuple(sinks)

    def wrap(self, store: Store) -> Store:
        return SinkStore(store, self.all) if self.all else store

    def close(self) -> None:
        """End each, which may take as long as its endpoint is waited for."""
        for sink in self.all:
            sink.close()


class SinkStore:
    """A store with sinks beside it."""

    def __init__(self, store: Store, sinks: Sequence[Sink]) -> None:
        self._store = store
        self._sinks = sinks

    def write(self, records: Sequence[PageRecord]) -> None:
        self._store.write(records)
        for sink in self._sinks:
            sink.write(records)

    def flush(self) -> None:
        self._store.flush()
        for sink in self._sinks:
            sink.flush()


def open_sinks(settings: Sequence[SinkSettings], folder: Path, *, environment: Mapping[str, str]) -> Sinks:
    """The sinks that a job names, for a crawl in `folder`; their spools lie in `folder/sinks`."""
    return Sinks([_open_sink(one, folder, number, environment) for number, one in enumerate(settings, 1)])


def _open_sink(settings: SinkSettings, folder: Path, number: int, environment: Mapping[str, str]) -> Sink:
    if settings.kind is SinkKind.NQUADS:
        return SegmentSink(folder / settings.path, size=settings.size, provenance=settings.provenance)
    client = EndpointClient(settings.url, timeout_seconds=settings.timeout, headers=settings.headers(environment))
    is_update = settings.kind is SinkKind.UPDATE
    return EndpointSink(
        Spool(_spool_folder(folder, number), max_bytes=settings.spool),
        client,
        partial(send_update if is_update else send_graphs, provenance=settings.provenance),
        drain_seconds=settings.drain,
        pages_per_request=None if is_update else 1,
    )


def _spool_folder(folder: Path, number: int) -> Path:
    return folder / "sinks" / str(number)


def sink_states(settings: Sequence[SinkSettings], folder: Path) -> list[dict[str, Any]]:
    """What `stats` tells of each sink: complete files, or batches that wait, why, and pages that were refused."""
    states: list[dict[str, Any]] = []
    for number, one in enumerate(settings, 1):
        if one.kind is SinkKind.NQUADS:
            files = len(list((folder / one.path).glob("segment-*.nq.gz")))
            states.append({"kind": one.kind.value, "to": str(folder / one.path), "files": files})
        else:
            spool = _spool_folder(folder, number)
            waiting, refused = spool_counts(spool)
            trouble = spool_error(spool) if waiting else ""
            state = {"kind": one.kind.value, "to": one.url, "waiting": waiting, "refused": refused, "trouble": trouble}
            states.append(state)
    return states
