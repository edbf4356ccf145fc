"""The command `clusters`: which descriptions on several pages are of one thing, as RDF beside the data."""

from pathlib import Path
from typing import Annotated

import msgspec
import pyoxigraph as ox

from motherlode.cli.index import update_index
from motherlode.cli.options import OUTPUT, AsJson, IdleCrawlDir, open_crawl, option
from motherlode.cli.terminal import print_json, say, stop
from motherlode.crawler import CrawlFolder
from motherlode.crawler.clusters import update_clusters
from motherlode.crawler.config.values import format_count
from motherlode.index.page_record import CLUSTERS
from motherlode.index.quad_store import QuadStore
from motherlode.model.terms import PREFIXES

_FORMATS = {".nq": ox.RdfFormat.N_QUADS, ".nt": ox.RdfFormat.N_TRIPLES, ".ttl": ox.RdfFormat.TURTLE}


def clusters(
    folder: IdleCrawlDir,
    *,
    output: Annotated[
        Path | None, option("FILE", "Write the clusters to a file as well: .nq, .nt or .ttl.", *OUTPUT)
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Join descriptions of one thing over pages and hosts.

    Descriptions are joined if they share an identifier (GTIN, ISBN, DOI, ORCID, ROR, sameAs, URL, telephone, e-mail),
    have compatible types, and their names agree. The clusters and the reasons of their joins are in the graph
    urn:motherlode:clusters of the store. A second run reads only pages that are new or have changed. The crawl must not
    be running. More in docs/tables.md.

    \b
    Examples:
      motherlode clusters out
      motherlode clusters out -o clusters.ttl
      motherlode query out 'SELECT ?thing { GRAPH <urn:motherlode:clusters> { ?cluster ml:member ?thing } }'
    """
    if output is not None and output.suffix.lower() not in _FORMATS:
        stop(f"-o {output}: the name of the file must end with one of {', '.join(_FORMATS)}")
    crawl = open_crawl(folder)
    update_index(crawl)
    counts = update_clusters(crawl)
    if output is not None:
        _export(crawl, output)
    if as_json:
        print_json(msgspec.to_builtins(counts))
        return
    say(
        f"{format_count(counts.clusters, 'cluster')} of {counts.members:,} descriptions among {counts.things:,}; "
        f"{counts.described:,} read, {counts.written:,} clusters written, {counts.removed:,} removed"
    )


def _export(crawl: CrawlFolder, output: Path) -> None:
    """Write the graph of the clusters to a file."""
    form = _FORMATS[output.suffix.lower()]
    store = QuadStore(crawl.store, read_only=True)
    try:
        quads = store.match(graph=f"<{CLUSTERS}>")
        statements = quads if form == ox.RdfFormat.N_QUADS else (quad.triple for quad in quads)
        prefixes = {"ml": PREFIXES["ml"]} if form == ox.RdfFormat.TURTLE else None
        with output.open("wb") as file:
            ox.serialize(statements, file, form, prefixes=prefixes)
    finally:
        store.close()
