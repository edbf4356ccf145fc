"""A crawl folder, a trace and a model file of commit c4f3213, before the redesign, can be used.

tests/data/folder_v0.tar.gz holds
- `crawl/`: a crawl of `old_folder_site` with `--warc`, 7 requests, then `crawl --refresh --pages 2`. Six pages were
  fetched, one URL waits for a retry after a 500, eleven more wait, and four pages wait for a revisit;
- `later/`: a crawl of the same site with `--index later`, 4 requests;
- `trace/`: `motherlode record crawl/warc/*.warc.gz -o trace`;
- `old.model`: `motherlode model save crawl -o old.model`.

tests/data/folder_v0.json holds what the commands of c4f3213 printed about them. Sentences and times are not compared.
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest
from tests.contract.old_folder_site import ADDRESS, Site, serve

DATA = Path(__file__).parents[1] / "data"
EXPECTED = json.loads((DATA / "folder_v0.json").read_text(encoding="utf-8"))
_VOLATILE = frozenset({"disk", "store_bytes", "select_us_mean", "wall_seconds", "made_at", "version", "bytes_on_disk"})
"""Keys whose values depend on the machine, the time or the version."""
_SENTENCES = frozenset({"because", "notes", "says", "detail", "about", "name", "title", "treatment", "arm"})
"""Keys whose values are written for people."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with tarfile.open(DATA / "folder_v0.tar.gz") as tar:
        tar.extractall(tmp_path, filter="data")
    return tmp_path


def motherlode(folder: Path, *arguments: str) -> str:
    command = [sys.executable, "-m", "motherlode", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def differences(expected: Any, found: Any, path: str = "") -> list[str]:
    """Return the paths at which a JSON value differs from the expected one; keys that are new do not count."""
    if isinstance(expected, dict) and isinstance(found, dict):
        keys = [key for key in expected if key not in _VOLATILE | _SENTENCES]
        return [line for key in keys for line in differences(expected[key], found.get(key), f"{path}.{key}")]
    if isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        pairs = enumerate(zip(expected, found, strict=True))
        return [line for n, (one, other) in pairs for line in differences(one, other, f"{path}[{n}]")]
    if isinstance(expected, float) and isinstance(found, (int, float)):
        return [] if math.isclose(expected, found, rel_tol=1e-6, abs_tol=1e-12) else [f"{path}: {expected} → {found}"]
    return [] if expected == found else [f"{path}: {expected!r} → {found!r}"]


RATING = ("prior", "posterior", "value", "reasons")
"""Keys whose values the policy computes from the learned counts. A later version may compute other numbers."""
MIN_GAP = 0.1
"""Probabilities that differ by at least this must keep their order."""


def without_rating(explanation: dict[str, Any]) -> dict[str, Any]:
    """Return an explanation without the numbers that the policy computes again. The learned counts stay."""
    rated = explanation.get("explanation") or {}
    return explanation | {"explanation": {key: value for key, value in rated.items() if key not in RATING}}


def connect_to(folder: Path, crawl: str, port: int) -> None:
    """Let the job file of a crawl send requests for all hosts to this port of 127.0.0.1."""
    job = folder / crawl / "job.toml"
    text = job.read_text(encoding="utf-8")
    assert ADDRESS in text
    job.write_text(text.replace(ADDRESS, f"127.0.0.1:{port}"), encoding="utf-8")


def test_differences_are_found() -> None:
    assert differences({"a": [1, 2.0], "disk": 1}, {"a": [1, 2.0], "disk": 2, "b": 3}) == []
    assert differences({"a": [1, 2.0]}, {"a": [1, 2.1]}) == [".a[1]: 2.0 → 2.1"]
    assert differences({"a": [1]}, {}) == [".a: [1] → None"]


@pytest.mark.parametrize("crawl", ["crawl", "later"])
def test_stats_of_old_folder_are_the_same(crawl: str, folder: Path) -> None:
    expected = EXPECTED[crawl]["stats"]
    assert differences(expected, json.loads(motherlode(folder, "stats", crawl, "--json"))) == []


@pytest.mark.parametrize("url", EXPECTED["crawl"]["explain"])
def test_explain_of_old_folder_is_the_same(url: str, folder: Path) -> None:
    """State, history, rank and learned counts are compared. Checks that were added later do not count."""
    expected = without_rating(EXPECTED["crawl"]["explain"][url])
    assert expected["explanation"]["record"]["host_tries"] > 0
    found = without_rating(json.loads(motherlode(folder, "explain", "crawl", url, "--json")))
    names = {check["name"] for check in expected["checks"]}
    found["checks"] = [check for check in found["checks"] if check["name"] in names]
    assert differences(expected, found) == []


def test_ratings_of_old_folder_keep_their_order(folder: Path) -> None:
    """The policy of today reads what the old one learned, and has the same opinion of pages that differ clearly."""
    before = {url: one["explanation"]["posterior"] for url, one in EXPECTED["crawl"]["explain"].items()}
    after = {
        url: json.loads(motherlode(folder, "explain", "crawl", url, "--json"))["explanation"]["posterior"]
        for url in before
    }
    assert all(0 <= probability <= 1 for probability in after.values())
    pairs = [(one, other) for one in before for other in before if before[one] >= before[other] + MIN_GAP]
    assert len(pairs) > 5
    assert [(one, other) for one, other in pairs if after[one] <= after[other]] == []


@pytest.mark.parametrize("crawl", ["crawl", "later"])
def test_query_of_old_folder_is_the_same(crawl: str, folder: Path) -> None:
    found = json.loads(motherlode(folder, "query", crawl, EXPECTED["asked"], "--format", "json"))
    assert found["results"] == EXPECTED[crawl]["query"]["results"]


def test_export_of_old_folder_is_the_same(folder: Path) -> None:
    assert sorted(motherlode(folder, "export", "crawl", "--format", "nquads").splitlines()) == EXPECTED["nquads"]


def test_changes_of_old_folder_are_the_same(folder: Path) -> None:
    assert motherlode(folder, "changes", "crawl") == EXPECTED["changes"]


def test_search_of_old_folder_finds_the_same(folder: Path) -> None:
    found = json.loads(motherlode(folder, "search", "crawl", "lamp", "--json"))
    assert {hit["subject"] for hit in found["results"]} == {hit["subject"] for hit in EXPECTED["search"]["results"]}


def test_resume_of_old_folder_without_a_network_keeps_what_waits(folder: Path) -> None:
    """All hosts refuse the connection. The crawl ends with its budget of time and loses nothing."""
    before = EXPECTED["crawl"]["stats"]
    budget = before["seconds"] + 2
    after = json.loads(motherlode(folder, "resume", "crawl", "--time", f"{budget:.1f}s", "--pages", "12", "--json"))
    kept = ("relevant", "quads", "known_urls", "changed", "unchanged", "gone", "syntaxes")
    assert {key: after[key] for key in kept} == {key: before[key] for key in kept}
    assert before["fetched"] <= after["fetched"] <= 12
    found = json.loads(motherlode(folder, "explain", "crawl", "http://shop.example/list/7", "--json"))
    assert found["state"] == "waits"


def test_resume_of_old_folder_fetches_all_that_waits(folder: Path) -> None:
    """The site is there again, the page that failed is repaired, and prices have changed once more."""
    site = Site()
    site.edition, site.flaky_status = 3, 200
    with serve(site) as port:
        connect_to(folder, "crawl", port)
        after = json.loads(motherlode(folder, "resume", "crawl", "--pages", "200", "--json"))
    requested = set(site.requests)
    waiting = {f"http://shop.example/list/{number}" for number in range(2, 10)} | {"http://shop.example/flaky"}
    revisited = {"http://shop.example/lamp/1", "http://shop.example/lamp/2"}
    assert waiting | revisited <= requested
    assert not any("/private" in url for url in requested)
    assert len(site.requests) == after["fetched"] - EXPECTED["crawl"]["stats"]["fetched"]
    assert after["known_urls"] > EXPECTED["crawl"]["stats"]["known_urls"]


def test_resume_of_old_folder_with_index_later_goes_on(folder: Path) -> None:
    site = Site()
    with serve(site) as port:
        connect_to(folder, "later", port)
        after = json.loads(motherlode(folder, "resume", "later", "--pages", "9", "--json"))
    assert (after["fetched"], len(site.requests)) == (9, 5)


def test_old_trace_is_simulated_with_the_same_result(folder: Path) -> None:
    """The picks of `bfs` are the same. The default policy may pick in another order, and finds as much."""
    policies = ("--policy", "bfs", "--policy", "motherlode")
    simulated = ("simulate", "trace", *policies, "--pages", "5", "--no-missing", "--json")
    bfs, ours = (json.loads(line) for line in motherlode(folder, *simulated).splitlines())
    expected = {row["policy"]: row for row in EXPECTED["simulate"]}
    assert differences(expected["bfs"], bfs) == []
    kept = ("policy", "target", "seed", "fetched", "heads", "known_urls", "failures", "virtual_seconds")
    assert differences({key: expected["motherlode"][key] for key in kept}, ours) == []
    assert ours["relevant"] >= expected["motherlode"]["relevant"]
    assert len(ours["curve"]) == len(expected["motherlode"]["curve"])


def test_old_model_starts_a_crawl(folder: Path) -> None:
    shown = json.loads(motherlode(folder, "model", "show", "old.model", "--json"))
    assert differences({key: EXPECTED["model"][key] for key in ("requests", "finds", "target")}, shown) == []
    warc = "crawl/warc/crawl-00001.warc.gz"
    crawl = ("crawl", "http://shop.example/", "--web", warc, "--model", "old.model", "--pages", "3", "-o", "new")
    assert json.loads(motherlode(folder, *crawl, "--json"))["fetched"] == 3
