"""Sinks: further destinations of the quads while the crawl runs, besides its own store.

`SinkStore` wraps the store: it writes every batch to the store first and then to the sinks. A sink is either a folder
of N-Quads files (`nquads_sink`) or an endpoint (`endpoint`) that takes SPARQL 1.1 Update or the Graph Store Protocol
(`protocols`). Pages for an endpoint wait in a spool on disk until the endpoint has accepted them, so that nothing is
lost if the endpoint is down or the crawl is killed. A page may be sent twice then, which is harmless, because it
replaces itself.
"""

from motherlode.index.sinks.endpoint import EndpointSink
from motherlode.index.sinks.nquads_sink import PageChange, SegmentSink, change_from
from motherlode.index.sinks.sink_settings import SinkKind, SinkSettings, sink_settings
from motherlode.index.sinks.sink_store import Sink, Sinks, SinkStore, open_sinks, sink_states

__all__ = [
    "EndpointSink",
    "PageChange",
    "SegmentSink",
    "Sink",
    "SinkKind",
    "SinkSettings",
    "SinkStore",
    "Sinks",
    "change_from",
    "open_sinks",
    "sink_settings",
    "sink_states",
]
