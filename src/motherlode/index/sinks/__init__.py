"""Sinks: further destinations of the quads while the crawl runs: folders of N-Quads files, and SPARQL endpoints.

Pages for an endpoint wait in a spool on disk until it has accepted them, so that nothing is lost. A page that is sent
twice after a kill replaces itself.
"""
