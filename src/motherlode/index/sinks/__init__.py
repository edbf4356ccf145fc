"""Sinks: further destinations of the quads while the crawl runs, besides its own store.

`sink_store` wraps the store: it writes every batch to the store first and then to the sinks. A sink is either a folder
of N-Quads files (`nquads_sink`) or an endpoint (`endpoint`) that takes SPARQL 1.1 Update or the Graph Store Protocol.
Pages for an endpoint wait in a spool on disk until the endpoint has accepted them, so that nothing is lost if the
endpoint is down or the crawl is killed. A page may be sent twice then, which is harmless, because it replaces itself.
"""
