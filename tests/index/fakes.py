"""Helpers that make pages for tests of the index, and that damage stores."""

from __future__ import annotations

import os
from pathlib import Path

import pyoxigraph as ox

from motherlode.index.page_record import PageRecord, serialize_page
from motherlode.index.quad_store import QuadStore
from motherlode.model import Extraction, Statement, Syntax, TransformResult

_FOOTER_BYTES = 200
"""More than the footers of a file, which are read when an index is opened."""
A, B = "http://a.example/", "http://b.example/"
P, Q = "<http://ex.org/p>", "<http://ex.org/q>"


def facts(*statements: Statement, syntax: Syntax = Syntax.JSON_LD) -> TransformResult:
    return TransformResult(extractions=(Extraction(syntax=syntax, statements=statements),))


def says(name: str, value: str, *, predicate: str = P, graph: str = "") -> Statement:
    return (f"<http://ex.org/{name}>", predicate, f'"{value}"', graph)


def record(url: str, *statements: Statement, at: float = 1_000_000.0, status: int = 200) -> PageRecord:
    graph_quads, quads, graphs = serialize_page(url, facts(*statements))
    return PageRecord(
        url=url,
        fetched_at=at,
        status=status,
        graph_quads=graph_quads,
        quads=quads,
        graphs=graphs,
        media_type="text/html",
        kind="html",
        syntaxes=("jsonld",),
        content_hash=f"sha256:{len(graph_quads)}",
        size=len(graph_quads),
    )


def everything(store: QuadStore) -> set[str]:
    """Return every quad, including the union."""
    found = {str(quad) for quad in store.quads()}
    return found | {f"{row} <urn:union>" for row in union(store)}


def rows(store: QuadStore, sparql: str) -> list[ox.QuerySolution]:
    found = store.query(sparql)
    assert isinstance(found, ox.QuerySolutions)
    return list(found)


def union(store: QuadStore) -> list[str]:
    return sorted(f"{row['s']} {row['p']} {row['o']}" for row in rows(store, "SELECT ?s ?p ?o { ?s ?p ?o }"))


def graph(store: QuadStore, name: str) -> list[str]:
    sparql = f"SELECT ?s ?p ?o {{ GRAPH <{name}> {{ ?s ?p ?o }} }}"
    return sorted(f"{row['s']} {row['p']} {row['o']}" for row in rows(store, sparql))


def spoil(store: Path) -> None:
    """Overwrite every data file of a store, so that the store cannot be opened."""
    for file in store.glob("*.sst"):
        file.write_text("x")


def spoil_inside(store: Path) -> None:
    """Corrupt blocks of the larger data files, so that the store opens but cannot be read."""
    for file in store.glob("*.sst"):
        data = bytearray(file.read_bytes())
        if len(data) > 20_000:
            for offset in range(100, len(data) // 3, 500):
                data[offset] ^= 0xFF
            file.write_bytes(data)


def spoil_words(words: Path, *, is_noticed_at_open: bool) -> None:
    """Damage an index of words: cut its lists of words, or invert their bytes except for the last ones."""
    for file in words.glob("*.term"):
        if is_noticed_at_open:
            os.truncate(file, file.stat().st_size // 2)
        else:
            content = file.read_bytes()
            file.write_bytes(bytes(byte ^ 255 for byte in content[:-_FOOTER_BYTES]) + content[-_FOOTER_BYTES:])
