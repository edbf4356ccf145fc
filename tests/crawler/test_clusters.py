"""Clusters of a real crawl: the graph of clusters, its evidence, and later runs."""

import json
import shutil
from pathlib import Path

import pytest

import motherlode as ml
from motherlode.crawler.clusters import update_clusters
from motherlode.crawler.folder import CrawlFolder
from motherlode.crawler.index_later import index_log
from motherlode.crawler.verification import verify
from motherlode.index.page_record import CLUSTERS, PageRecord
from motherlode.index.quad_store import QuadStore
from tests.docs.shop import serve_pages

GTIN = "4006381333931"


def page(name: str, **more: str) -> str:
    data = {"@context": "https://schema.org/", "@type": "Product", "name": name, **more}
    return f'<title>{name}</title><script type="application/ld+json">{json.dumps(data)}</script>'


PAGES = {
    "/": "".join(f'<a href="/{path}">{path}</a>' for path in ("1", "2", "3")),
    "/1": page("Lemon cake", gtin13=GTIN),
    "/2": page("Lemon Cake fresh", gtin13=GTIN),
    "/3": page("Oak table"),
}


@pytest.fixture
def crawl(tmp_path: Path) -> CrawlFolder:
    with serve_pages(PAGES) as address:
        ml.crawl([address + "/"], output=tmp_path / "out", allow=["127.0.0.0/8"], delay=0.0).run()
    return CrawlFolder(tmp_path / "out")


EVIDENCE = """SELECT ?name ?kind ?value ?similarity ?size {
  GRAPH <urn:motherlode:clusters> {
    ?cluster a ml:Cluster ; ml:size ?size ; ml:member ?thing ; ml:join ?join .
    ?join ml:member ?thing ; ml:identifierKind ?kind ; ml:identifier ?value ; ml:nameSimilarity ?similarity }
  GRAPH ?page { ?thing schema:name|<https://schema.org/name> ?name }
} ORDER BY ?name"""


def test_clusters_are_queryable_with_the_evidence_of_each_join(crawl: CrawlFolder) -> None:
    counts = update_clusters(crawl)
    assert (counts.clusters, counts.members, counts.written) == (1, 2, 1)
    rows = ml.open(crawl.path).query(EVIDENCE)
    assert [(row["name"], row["kind"], row["value"], row["size"]) for row in rows] == [
        ("Lemon Cake fresh", "gtin", "0" + GTIN, 2),
        ("Lemon cake", "gtin", "0" + GTIN, 2),
    ]
    assert rows[0]["similarity"] == 100


def test_clusters_of_an_unchanged_crawl_are_not_read_or_written_again(crawl: CrawlFolder) -> None:
    first = update_clusters(crawl)
    again = update_clusters(crawl)
    assert first.described == first.things > 0
    assert (again.things, again.described, again.written, again.removed) == (first.things, 0, 0, 0)
    assert (again.clusters, again.members) == (1, 2)


def clusters_of(crawl: CrawlFolder) -> set[str]:
    store = QuadStore(crawl.store, read_only=True)
    try:
        return {str(quad) for quad in store.match(graph=f"<{CLUSTERS}>")}
    finally:
        store.close()


def test_store_that_is_built_again_from_the_log_has_the_clusters(crawl: CrawlFolder) -> None:
    update_clusters(crawl)
    before = clusters_of(crawl)
    shutil.rmtree(crawl.store)
    index_log(crawl)
    assert before and clusters_of(crawl) == before


def replace_page(crawl: CrawlFolder) -> None:
    """Store the first product page again, without its GTIN."""
    store = QuadStore(crawl.store)
    [quad] = [quad for quad in store.match(object_=f'"{GTIN}"') if str(quad.graph_name).endswith("/1>")]
    url = str(quad.graph_name)[1:-1]
    line = f'<{url}#it> <http://schema.org/name> "Lemon cake" <{url}> .\n'.encode()
    store.write([PageRecord(url=url, status=200, fetched_at=1.0, quads=1, graph_quads=line)])
    store.flush()
    store.close()


def test_cluster_of_a_page_that_changed_is_removed(crawl: CrawlFolder) -> None:
    update_clusters(crawl)
    replace_page(crawl)
    counts = update_clusters(crawl)
    assert (counts.clusters, counts.removed) == (0, 1)
    store = QuadStore(crawl.store, read_only=True)
    assert list(store.match(graph=f"<{CLUSTERS}>")) == []
    store.close()


def test_verify_and_table_are_the_same_with_clusters(crawl: CrawlFolder) -> None:
    before = len(ml.open(crawl.path).table("Product"))
    update_clusters(crawl)
    assert verify(crawl).is_good
    assert len(ml.open(crawl.path).table("Product")) == before == 3
