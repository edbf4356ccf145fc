"""A crawl with sinks in addition to its store: all have the same quads in the end."""

from __future__ import annotations

import gzip
import subprocess
import sys
from pathlib import Path

import pyoxigraph as ox

from motherlode.crawler import CrawlFolder
from motherlode.index.page_record import PROVENANCE
from motherlode.index.quad_store import QuadStore
from motherlode.index.sinks.sink_store import sink_states
from tests.index.sinks.servers import OxigraphServer
from tests.support import write_warc

PAGES = 30


def _web(path: Path) -> Path:
    def body(number: int) -> bytes:
        following = f"<{number + 1}>" if number + 1 < PAGES else "<0>"
        turtle = f"@prefix e: <http://e.example/> . <{number}> e:next {following} ; e:n {number}, [ e:n {number} ] ."
        return turtle.encode()

    pages = ((f"https://web.example/{n}", 200, {"Content-Type": "text/turtle"}, body(n)) for n in range(PAGES))
    return write_warc(path, pages)


def _motherlode(*arguments: str) -> None:
    """Run the command line in a new process, because a store stays open in its process."""
    command = [sys.executable, "-c", "from motherlode.cli import main; main()", *arguments, "--quiet"]
    subprocess.run(command, check=True, capture_output=True, timeout=120)


def _own(folder: CrawlFolder) -> list[ox.Quad]:
    quads = QuadStore(folder.store, read_only=True).quads()
    return [quad for quad in quads if quad.graph_name.value != PROVENANCE]


def test_endpoint_unavailable_for_half_the_crawl_receives_all_quads(tmp_path: Path) -> None:
    server = OxigraphServer(tmp_path / "oxigraph")
    file = tmp_path / "job.toml"
    file.write_text(
        f"""
        seeds = ["https://web.example/0"]
        web = "{_web(tmp_path / "web.warc.gz")}"
        delay = 0
        workers = 1
        words = false
        [[sinks]]
        kind = "update"
        url = "{server.root}/update"
        drain = 0.1
        [[sinks]]
        kind = "nquads"
        path = "out"
        size = "1k"
        """,
        encoding="utf-8",
    )
    folder = CrawlFolder(tmp_path / "crawl")
    _motherlode("crawl", "--config", str(file), "-o", str(folder.path), "--pages", str(PAGES // 2))
    (away, _) = sink_states(folder.read_job().sink_settings(), folder.path)
    assert away["waiting"] > 0, "the endpoint is not available yet"
    server.start()
    try:
        folder.job_file.write_text(
            folder.job_file.read_text(encoding="utf-8").replace('"drain" = 0.1', '"drain" = 60'), encoding="utf-8"
        )
        _motherlode("resume", str(folder.path), "--pages", str(PAGES * 2))
        counts = "SELECT ?g (COUNT(*) AS ?n) { GRAPH ?g { ?s ?p ?o } } GROUP BY ?g"
        found = {row["g"]: int(row["n"]) for row in server.ask(counts) if row["g"] != PROVENANCE}
    finally:
        server.kill()
    own = _own(folder)
    assert len(own) == 4 * PAGES
    assert found == {f"https://web.example/{n}": 4 for n in range(PAGES)}
    text = b"".join(gzip.decompress(path.read_bytes()) for path in sorted((folder.path / "out").glob("*.nq.gz")))
    quads = [quad for quad in ox.parse(text, ox.RdfFormat.N_QUADS) if quad.graph_name.value != PROVENANCE]
    assert set(quads) == set(own)
    assert not list((folder.path / "out").glob("*.part"))
