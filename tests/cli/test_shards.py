"""`crawl --shards` with and without Ray, and stopped during the crawl."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from motherlode.cli.explain import find_owner
from motherlode.cluster.partitioner import owner_of
from motherlode.cluster.ray_runtime import check_shards
from motherlode.crawler import CrawlFolder, Job, JobError
from tests.cli.crawl_process import wait_for_requests
from tests.support import synthetic_warc

WITHOUT_RAY = (
    "import sys; sys.modules['ray'] = None; from motherlode.cli import main; sys.argv[0] = 'motherlode'; main()"
)


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("web")
    warc, homes = synthetic_warc(folder / "web.warc.gz", pages=1000, seed=4)
    seeds = folder / "seeds.txt"
    seeds.write_text("\n".join(homes))
    return warc, seeds


def start(*arguments: str, without_ray: bool = False) -> subprocess.Popen[str]:
    entry = ["-c", WITHOUT_RAY] if without_ray else ["-m", "motherlode"]
    return subprocess.Popen(
        [sys.executable, *entry, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def flags(web: tuple[Path, Path], output: Path) -> list[str]:
    return ["crawl", "--web", str(web[0]), "--seeds", str(web[1]), "--policy", "bfs", "--json", "-o", str(output)]


def test_shards_without_ray_name_the_package_to_install(web: tuple[Path, Path], tmp_path: Path) -> None:
    refused = start(*flags(web, tmp_path / "two"), "--shards", "2", without_ray=True)
    _, errors = refused.communicate(timeout=120)
    assert refused.returncode == 2
    assert 'pip install "motherlode[ray]"' in " ".join(errors.split())
    assert not (tmp_path / "two").exists(), "no folder is created"
    plain = start(*flags(web, tmp_path / "one"), "--delay", "0", "--pages", "20", "--shards", "1", without_ray=True)
    output, errors = plain.communicate(timeout=120)
    assert plain.returncode == 0, errors
    assert json.loads(output)["fetched"] == 20


def test_ray_parsers_without_ray_name_the_package_to_install(web: tuple[Path, Path], tmp_path: Path) -> None:
    refused = start(*flags(web, tmp_path / "out"), "--ray-parsers", "2", without_ray=True)
    _, errors = refused.communicate(timeout=120)
    assert refused.returncode == 2
    assert 'pip install "motherlode[ray]"' in " ".join(errors.split())
    assert not (tmp_path / "out").exists(), "no folder is created"


def test_ray_parsers_parse_the_pages_of_one_crawl(web: tuple[Path, Path], tmp_path: Path) -> None:
    pytest.importorskip("ray", reason='this test needs Ray: pip install "motherlode[ray]"')
    process = start(*flags(web, tmp_path / "out"), "--pages", "150", "--ray-parsers", "2")
    output, errors = process.communicate(timeout=240)
    assert process.returncode == 0, errors
    found = json.loads(output)
    assert found["fetched"] == 150
    assert found["relevant"] > 0
    assert CrawlFolder(tmp_path / "out").read_job().ray_parsers == 2


def test_ray_flag_without_shards_is_wrong_usage(web: tuple[Path, Path], tmp_path: Path) -> None:
    process = start(*flags(web, tmp_path / "out"), "--ray", "127.0.0.1:1")
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 2
    assert "--shards" in errors


def test_missing_ray_cluster_leaves_no_folder(web: tuple[Path, Path], tmp_path: Path) -> None:
    pytest.importorskip("ray", reason='this test needs Ray: pip install "motherlode[ray]"')
    process = start(*flags(web, tmp_path / "out"), "--shards", "2", "--ray", "127.0.0.1:1")
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 2
    assert "127.0.0.1:1 cannot be joined" in errors
    assert "ray start --head" in errors
    assert not (tmp_path / "out").exists(), "no folder is created"


def test_find_owner_returns_the_folder_of_the_owning_shard(tmp_path: Path) -> None:
    whole = CrawlFolder(tmp_path / "out")
    whole.create(Job(seeds=("http://a.example/",), shards=3))
    whole.unlock()
    url = "http://a.example/x"
    own = owner_of(url, 3)
    shards = [whole.path / "shards" / f"{number:04d}" for number in range(3)]
    for number, shard in enumerate(shards):
        assert find_owner(shard, url) == (None if number == own else shards[own])
    assert find_owner(whole.path, url) is None
    assert find_owner(tmp_path / "shards" / "0001", url) is None, "the folder has no crawl"


def test_resume_accepts_another_ray_cluster(tmp_path: Path) -> None:
    pytest.importorskip("ray", reason='this test needs Ray: pip install "motherlode[ray]"')
    job = Job(seeds=("http://a.example/",), shards=2, ray="127.0.0.1:1")
    folder = CrawlFolder(tmp_path / "out")
    folder.create(job)
    folder.unlock()
    for arguments, asked in (((), "127.0.0.1:1"), (("--ray", "127.0.0.1:2"), "127.0.0.1:2")):
        process = start("resume", str(folder.path), *arguments)
        _, errors = process.communicate(timeout=120)
        assert process.returncode == 2
        assert f"the Ray cluster at {asked} cannot be joined" in errors
    assert folder.read_job() == job, "a wrong address is not saved"


def test_absolute_sink_folder_with_shards_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("ray", reason='this test needs Ray: pip install "motherlode[ray]"')
    check_shards(Job(seeds=("http://a.example/",), shards=2, sinks=({"kind": "nquads", "path": "files"},)))
    with pytest.raises(JobError, match="all shards would write"):
        check_shards(Job(seeds=("http://a.example/",), shards=2, sinks=({"kind": "nquads", "path": str(tmp_path)},)))


def test_sharded_crawl_is_stopped_resumed_and_queried(web: tuple[Path, Path], tmp_path: Path) -> None:
    pytest.importorskip("ray", reason='this test needs Ray: pip install "motherlode[ray]"')
    out = tmp_path / "out"
    process = start(*flags(web, out), "--delay", "2", "--shards", "2")
    wait_for_requests(process, out, 20)
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    stopped = json.loads(output)
    assert 20 <= stopped["fetched"] < 800, "it was stopped in the middle"
    assert not _started_by(process.pid), "all child processes have ended"
    resumed = start("resume", str(out), "--pages", str(stopped["fetched"] + 10), "--json")
    output, errors = resumed.communicate(timeout=120)
    assert resumed.returncode == 0, errors
    assert json.loads(output)["fetched"] == stopped["fetched"] + 10
    asked = start("query", str(out), "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }", "--format", "json")
    output, errors = asked.communicate(timeout=120)
    assert asked.returncode == 0, errors
    assert int(json.loads(output)["results"]["bindings"][0]["n"]["value"]) > 0


def _started_by(process: int) -> list[str]:
    """Return the commands of processes that were started by this process or by its Ray session."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            parent = int(place.joinpath("stat").read_text().rpartition(")")[2].split()[1])
            if parent == process and int(place.name) != os.getpid():
                found.append(place.joinpath("cmdline").read_text())
        except (FileNotFoundError, ProcessLookupError):
            continue
    return found
