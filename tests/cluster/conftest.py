"""Fixtures: Ray nodes on this machine, and a small recorded web with the result of a crawl by one process."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
import uvloop

from motherlode.crawler import CrawlFolder, Job, read_visits
from motherlode.crawler.engine.factory import assemble
from motherlode.index.page_record import PROVENANCE
from motherlode.index.quad_store import QuadStore
from tests.support import synthetic_warc

PAGES = 300


def pages_of(folder: CrawlFolder) -> set[str]:
    return {visit.url for visit in read_visits(folder) if visit.failure is None}


def quads_of(folder: CrawlFolder) -> set[str]:
    """Return all quads of the store, without provenance that depends on time, process or referrer."""
    store = QuadStore(folder.store, read_only=True)
    varying = ("generatedAtTime", "referrer", "wasGeneratedBy", "startedAtTime", "endedAtTime", "score", "seconds")
    found = {
        str(quad)
        for quad in store.quads()
        if quad.graph_name.value != PROVENANCE
        or (quad.subject.value.startswith("http") and not quad.predicate.value.endswith(varying))
    }
    store.close()
    return found


@dataclass(frozen=True)
class RecordedSite:
    """A recorded web, and the pages and quads of a crawl by one process without Ray."""

    warc: Path
    seeds: tuple[str, ...]
    pages: set[str]
    quads: set[str]

    def job(self, **changes: object) -> Job:
        settings: dict[str, object] = {"seeds": self.seeds, "web": str(self.warc), "policy": "bfs", "delay": 0.0}
        settings |= {"workers": 1, "words": False, **changes}
        return Job(**settings)  # type: ignore[arg-type]


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> RecordedSite:
    folder = tmp_path_factory.mktemp("site")
    warc, homes = synthetic_warc(folder / "web.warc.gz", pages=PAGES, seed=3)
    single = CrawlFolder(folder / "single")
    unvisited = RecordedSite(warc, tuple(homes), set(), set())

    async def crawl() -> None:
        job = unvisited.job()
        single.create(job)
        assembled = assemble(job, single)
        async for _ in assembled.engine.visits(assembled.seeds):
            pass
        single.unlock()

    uvloop.run(crawl())
    recorded = RecordedSite(warc, tuple(homes), pages_of(single), quads_of(single))
    assert len(recorded.pages) > PAGES / 2
    return recorded


class Nodes:
    """A Ray cluster of several nodes on this machine, made by `ray.cluster_utils`."""

    def __init__(self) -> None:
        from ray.cluster_utils import Cluster

        self._cluster = Cluster(
            initialize_head=True,
            head_node_args={"num_cpus": 0, "include_dashboard": False, "object_store_memory": 80 << 20},
        )
        self._workers: list[object] = []
        self.address: str = self._cluster.address

    def add(self) -> None:
        self._workers.append(self._cluster.add_node(num_cpus=8, object_store_memory=80 << 20))

    def ensure(self, count: int) -> None:
        while len(self._workers) < count:
            self.add()
        self._cluster.wait_for_nodes()

    def node_ids(self) -> list[str]:
        return [node.node_id for node in self._workers]  # type: ignore[attr-defined]

    def remove(self, node_id: str) -> None:
        node = next(node for node in self._workers if node.node_id == node_id)  # type: ignore[attr-defined]
        self._workers.remove(node)
        self._cluster.remove_node(node, allow_graceful=False)

    def shutdown(self) -> None:
        self._cluster.shutdown()


@contextmanager
def running_nodes(count: int) -> Iterator[Nodes]:
    """Run a Ray cluster with this number of nodes that have processors."""
    pytest.importorskip("ray", reason='these tests need Ray: pip install "motherlode[ray]"')
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        patch.setenv("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
        cluster = Nodes()
        try:
            cluster.ensure(count)
            yield cluster
        finally:
            cluster.shutdown()


@pytest.fixture(scope="module")
def nodes() -> Iterator[Nodes]:
    with running_nodes(2) as cluster:
        yield cluster
