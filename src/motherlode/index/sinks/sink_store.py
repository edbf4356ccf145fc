"""`SinkStore`: a store and its sinks as one store. Also opens the sinks of a job and reports their state."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from motherlode.index.page_record import PageRecord, Store
from motherlode.index.sinks.endpoint import EndpointClient, EndpointSink, Spool, send_graphs, send_update, spool_state
from motherlode.index.sinks.nquads_sink import SegmentSink
from motherlode.index.sinks.sink_settings import SinkKind, SinkSettings


class Sink(Store, Protocol):
    """A further destination of pages. Pages survive the end of the process once `write` has returned."""

    def close(self) -> None: ...


class SinkStore:
    """Writes to a store first and then to its sinks. Sinks get pages and redirects, but no other URLs."""

    def __init__(self, store: Store, sinks: Sequence[Sink]) -> None:
        self.sinks = tuple(sinks)
        self._store = store

    def write(self, records: Sequence[PageRecord]) -> None:
        self._store.write(records)
        pages = [record for record in records if not record.state] if self.sinks else []
        for sink in self.sinks if pages else ():
            sink.write(pages)

    def flush(self) -> None:
        for store in (self._store, *self.sinks):
            store.flush()

    def close(self) -> None:
        """Close the sinks, but not the store. Each may wait for its endpoint (the setting `drain`)."""
        for sink in self.sinks:
            sink.close()


def open_sinks(
    store: Store, settings: Sequence[SinkSettings], folder: Path, *, environment: Mapping[str, str]
) -> SinkStore:
    """Return a store that also writes to the sinks of a job, for a crawl in `folder`. Spools are in `folder/sinks`."""
    return SinkStore(store, [_open_sink(one, folder, number, environment) for number, one in enumerate(settings, 1)])


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
    """Return the state of each sink for `stats`: finished files; or waiting batches, last error and refused pages."""
    states: list[dict[str, Any]] = []
    for number, one in enumerate(settings, 1):
        if one.kind is SinkKind.NQUADS:
            files = len(list((folder / one.path).glob("segment-*.nq.gz")))
            states.append({"kind": one.kind.value, "to": str(folder / one.path), "files": files})
        else:
            states.append({"kind": one.kind.value, "to": one.url, **spool_state(_spool_folder(folder, number))})
    return states
