"""Sinks: where quads go while the crawl runs, beside its own store.

`SinkStore` stands in the store's place and hands every batch to the store first and to the sinks next. A sink is either
a folder of N-Quads files (`segments`) or an endpoint elsewhere (`endpoint`), spoken to by SPARQL 1.1 Update or by the
Graph Store Protocol (`protocols`, over the plain client in `client`). What is meant for an endpoint lies in a `spool`
on disk until the endpoint has taken it: it may go away for a night, the crawl may be killed, and nothing is lost. A
page may be sent twice then, and replaces itself, so that twice is the same as once.
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
