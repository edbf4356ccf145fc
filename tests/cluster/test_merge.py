"""Merging the folders of shards into one crawl folder."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pyoxigraph as ox

from motherlode.cluster import merge_shards
from motherlode.crawler import Counters, CrawlFolder, Job, read_stats, read_visits
from motherlode.frontier import Entry, HostRecord, LmdbStorage, UrlState
from motherlode.index.fulltext import WordIndex
from motherlode.index.page_record import CLUSTERS, PageRecord
from motherlode.index.quad_store import QuadStore
from motherlode.model import Visit


def add_page(part: CrawlFolder, name: str, number: int, *, at: float) -> None:
    """Add a fetched page to the store and the frontier of one shard."""
    url = f"http://{name}.example/{number}"
    store = QuadStore(part.store)
    triple = f'<{url}> <http://p.example/> "text of {name}"'
    record = PageRecord(url=url, fetched_at=at, status=200, graph_quads=f"{triple} <{url}> .\n".encode(), quads=1)
    store.write([record])
    store.flush()
    store.close()
    storage = LmdbStorage(part.frontier)
    saved = storage.note("totals")
    totals = msgspec.msgpack.decode(saved, type=Counters) if saved else Counters()
    visit = Visit(number=totals.fetched + 1, url=url, host=f"{name}.example", at=at, relevant=True, quads=1, size=10)
    totals.add(visit)
    totals.seconds = at
    storage.append_visit(visit.number, msgspec.msgpack.encode(visit))
    storage.finish(Entry(url=url, arm=name, score=1.0, sequence=number), UrlState.DONE, "")
    storage.add(Entry(url=f"{url}/next", arm=name, score=0.5, sequence=number))
    storage.put_host(HostRecord(name=f"{name}.example", fetched=totals.fetched))
    state = {"known_urls": 2 * totals.fetched, "sequence": 0, "refused": {"out of scope": totals.fetched}}
    storage.put_note("totals", msgspec.msgpack.encode(totals))
    storage.put_note("frontier", msgspec.msgpack.encode(state))
    storage.commit()
    storage.close()


def make_sharded_folder(path: Path) -> CrawlFolder:
    folder = CrawlFolder(path)
    job = Job(seeds=("http://a.example/",), shards=2)
    folder.create(job)
    folder.unlock()
    for number, name in enumerate(("a", "b")):
        part = CrawlFolder(path / "shards" / f"{number:04d}")
        part.create(job)
        part.unlock()
        add_page(part, name, 1, at=10.0 + number)
        add_page(part, name, 2, at=20.0 + number)
    return folder


def test_merged_folder_contains_pages_visits_and_totals_of_all_shards(tmp_path: Path) -> None:
    folder = make_sharded_folder(tmp_path / "crawl")
    before = read_stats(folder)
    assert (before.totals.fetched, before.known_urls, len(before.hosts)) == (4, 8, 2), (
        "the sums over the shards, before the merge"
    )
    assert merge_shards(folder)
    stats = read_stats(folder)
    assert stats.totals.fetched == 4 and stats.totals.quads == 4 and stats.totals.seconds == 21.0
    assert stats.refused == {"out of scope": 4}
    assert [visit.url[7] for visit in read_visits(folder)] == ["a", "b", "a", "b"], "in order of time"
    assert [visit.number for visit in read_visits(folder)] == [1, 2, 3, 4]
    assert stats.totals.curve[-1] == (4, 4)
    storage = LmdbStorage(folder.frontier, read_only=True)
    states = {
        url: found[1] for url in ("http://a.example/1", "http://b.example/2/next") if (found := storage.find(url))
    }
    assert states == {"http://a.example/1": UrlState.DONE, "http://b.example/2/next": UrlState.WAITING}
    storage.close()
    store = QuadStore(folder.store, read_only=True)
    assert bool(store.query('ASK { <http://a.example/1> ?p "text of a" . <http://b.example/1> ?p "text of b" }'))
    store.close()
    assert not WordIndex(folder.words).is_new


def test_url_waiting_in_two_shards_waits_once_after_the_merge(tmp_path: Path) -> None:
    folder = make_sharded_folder(tmp_path / "crawl")
    for part in folder.shard_folders():
        storage = LmdbStorage(part.frontier)
        storage.add(Entry(url="http://both.example/", arm="both", score=1.0, sequence=9))
        storage.commit()
        storage.close()
    assert merge_shards(folder, words=False)
    merged = LmdbStorage(folder.frontier, read_only=True)
    assert sum(entry.url == "http://both.example/" for entry, _, _ in merged.entries()) == 1
    assert [count for arm, _, count in merged.waiting() if arm == "both"] == [1]
    merged.close()


def test_merge_is_repeated_only_if_a_shard_has_changed(tmp_path: Path) -> None:
    folder = make_sharded_folder(tmp_path / "crawl")
    assert merge_shards(folder, words=False)
    assert not merge_shards(folder, words=False)
    add_page(folder.shard_folders()[1], "b", 3, at=30.0)
    assert merge_shards(folder, words=False)
    assert read_stats(folder).totals.fetched == 5


def test_repeated_merge_keeps_the_derived_graphs(tmp_path: Path) -> None:
    folder = make_sharded_folder(tmp_path / "crawl")
    merge_shards(folder)
    node = ox.NamedNode("http://a.example/")
    quad = ox.Quad(node, node, node, ox.NamedNode(CLUSTERS))
    store = QuadStore(folder.store)
    store.update_graph(CLUSTERS, added=[quad])
    store.save_graph(CLUSTERS)
    del store
    add_page(CrawlFolder(folder.path / "shards" / "0000"), "a", 3, at=30.0)
    assert merge_shards(folder)
    assert list(QuadStore(folder.store, read_only=True).match(graph=f"<{CLUSTERS}>")) == [quad]


def test_merge_after_an_interrupted_merge_succeeds(tmp_path: Path) -> None:
    folder = make_sharded_folder(tmp_path / "crawl")
    (folder.path / "merging" / "store").mkdir(parents=True)
    (folder.path / "merging" / "store" / "partial").write_text("incomplete")
    assert merge_shards(folder, words=False)
    assert read_stats(folder).totals.fetched == 4
    assert not (folder.path / "merging").exists()


def test_merge_of_a_crawl_without_shards_returns_false(tmp_path: Path) -> None:
    folder = CrawlFolder(tmp_path / "crawl")
    folder.create(Job(seeds=("http://a.example/",)))
    folder.unlock()
    assert not merge_shards(folder)
