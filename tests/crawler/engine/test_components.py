"""Calls of a crawl to its peers: which links are its own, and when a commit is durable."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from motherlode.crawler import CrawlFolder, Job
from motherlode.crawler.engine.factory import assemble
from motherlode.frontier import FrontierStorage
from motherlode.model import Link, Outcome
from motherlode.www.urls import host_of
from tests.crawler.small_web import HOME, small_web


class Recorder:
    """Owns all hosts but b.example, and records the calls of its methods."""

    def __init__(self, storage: FrontierStorage) -> None:
        self._storage = storage
        self.lines: list[str] = []
        self.sent: list[tuple[str, str]] = []
        self.knows_other_host = False

    def keep_own(self, links: Sequence[Link], parent: Outcome | None) -> Sequence[Link]:
        foreign = [link for link in links if host_of(link.url) == "b.example"]
        self.sent += [(host_of(link.url), "" if parent is None else parent.url) for link in foreign]
        return [link for link in links if link not in foreign]

    def prepare_commit(self, save: Callable[[str, bytes], None]) -> None:
        self.lines.append("prepare")
        save("of a peer", b"prepared")

    def committed(self) -> None:
        self.lines.append("committed")

    def close(self) -> None:
        self.lines.append("close")
        self.knows_other_host = any(self._storage.known_of(["http://b.example/", "https://b.example/"]))


async def test_links_of_peers_are_sent_and_each_commit_is_prepared_first(tmp_path: Path) -> None:
    web = small_web(tmp_path / "web.warc.gz", items=2, plain=1)
    job = Job(seeds=(HOME,), web=str(web), delay=0.0, workers=1, words=False, policy="bfs")
    folder, recorders = CrawlFolder(tmp_path / "crawl"), list[Recorder]()
    folder.create(job)

    def join(storage: FrontierStorage, _reason: Callable[[str], str]) -> Recorder:
        recorders.append(Recorder(storage))
        return recorders[0]

    assembled = assemble(job, folder, join=join)
    visits = 0
    async for _ in assembled.engine.visits(assembled.seeds):
        visits += 1
        if assembled.engine.is_idle:
            assembled.engine.stop()
    folder.unlock()
    (recorder,) = recorders
    assert visits == 7, "home, three pages, two redirects and a gap"
    assert recorder.sent == [("b.example", HOME)]
    assert not recorder.knows_other_host
    assert recorder.lines[-1] == "close"
    turns = recorder.lines[:-1]
    assert turns
    assert turns == ["prepare", "committed"] * (len(turns) // 2)
