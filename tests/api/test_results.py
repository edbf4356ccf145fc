"""`motherlode.open`: queries, search, pages, statistics, explanations and exports of a crawl."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

import motherlode as ml
from motherlode.api.visit_buffer import VisitBuffer
from tests.api.webs import HOME, write_shop


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> ml.CrawlResult:
    folder = tmp_path_factory.mktemp("crawl")
    shop = write_shop(folder / "shop.warc.gz", pages=8)
    return ml.crawl([HOME], output=folder / "out", web=shop, target="type:schema:Product", warc=True).run()


def test_open_folder_without_a_crawl_raises_job_error(tmp_path: Path) -> None:
    with pytest.raises(ml.JobError, match="has no crawl"):
        ml.open(tmp_path)


def test_query_select_has_rows_in_the_order_of_the_query(result: ml.CrawlResult) -> None:
    rows = result.query("SELECT * { ?thing schema:sku ?number ; schema:name ?name } ORDER BY ?number LIMIT 2")
    assert rows.columns == ("thing", "number", "name")
    assert [row["name"] for row in rows] == ["Lemon cake 1", "Lemon cake 2"]
    assert str(rows.terms[0][2]) == '"Lemon cake 1"'


def test_query_other_forms_name_the_method_to_use(result: ml.CrawlResult) -> None:
    with pytest.raises(ValueError, match=r"use ask\(\) for ASK"):
        result.query("ASK { ?s ?p ?o }")
    assert result.ask("ASK { ?s a schema:Product }")
    assert not result.ask("ASK { ?s a schema:Recipe }")
    assert len(result.construct("CONSTRUCT { ?s a schema:Product } WHERE { ?s a schema:Product }")) == 7


def test_query_broken_raises_an_error_with_the_position(result: ml.CrawlResult) -> None:
    with pytest.raises(ValueError, match="at line 1"):
        result.query("SELECT ?s { ?s ?p }")


def test_search_returns_rows_with_labels(result: ml.CrawlResult) -> None:
    found = result.search("lemon cake", limit=3)
    assert len(found) == 3
    assert all(str(row["label"]).startswith("Lemon cake") for row in found)
    with pytest.raises(ValueError, match="type"):
        result.search("cake", type="no iri")


def test_pages_filters_by_failure_relevance_problems_and_host(result: ml.CrawlResult) -> None:
    everything = result.pages()
    failed = result.pages(failed=True)
    assert {row["failure"] for row in failed} == {"not-found"}
    assert len(everything) == len(failed) + len(result.pages(failed=False))
    assert len(result.pages(relevant=True)) == 7
    assert [row["url"] for row in result.pages(problems=True)] == [HOME]
    assert len(result.pages(host="shop.example")) == len(everything)
    assert not len(result.pages(host="other.example"))


def test_stats_agree_with_pages(result: ml.CrawlResult) -> None:
    stats = result.stats()
    assert stats["fetched"] == len(result.pages())
    assert stats["relevant"] == 7


def test_explain_tells_the_state_of_a_url(result: ml.CrawlResult) -> None:
    assert result.explain(f"{HOME}p1").state == "fetched"


@pytest.mark.parametrize("name", ["all.nq", "all.nq.gz", "all.trig", "about.ttl", "all.warc.gz", "tables"])
def test_export_format_follows_the_name(result: ml.CrawlResult, tmp_path: Path, name: str) -> None:
    count = result.export(tmp_path / name)
    assert count > 0
    written = tmp_path / name
    if name == "all.nq.gz":
        assert gzip.decompress(written.read_bytes()).count(b"\n") == count
    if name == "tables":
        assert {path.name for path in written.iterdir()} == {"quads.parquet", "pages.parquet"}


def test_result_while_this_process_crawls_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(VisitBuffer.__init__, "__defaults__", (1,))  # so that the crawl waits for us
    shop = write_shop(tmp_path / "shop.warc.gz", pages=8)
    with ml.crawl([HOME], output=tmp_path / "out", web=shop) as crawl:
        visits = iter(crawl)
        next(visits)
        for read in (crawl.result.stats, crawl.result.pages, lambda: crawl.result.explain(HOME)):
            with pytest.raises(RuntimeError, match=r"use crawl\.totals now"):
                read()
        list(visits)
        assert crawl.result.stats()["fetched"] == crawl.totals.fetched


def test_index_later_is_indexed_by_the_first_query(tmp_path: Path) -> None:
    shop = write_shop(tmp_path / "shop.warc.gz", pages=4)
    result = ml.crawl([HOME], output=tmp_path / "out", web=shop, index="later").run()
    assert len(result.query("SELECT ?s { ?s a schema:Product }")) == 3
