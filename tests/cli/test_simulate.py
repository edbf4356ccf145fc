"""The commands `record` and `simulate`."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from motherlode.cli import COMMANDS, application, progress
from motherlode.crawler import CrawlFolder, Job
from motherlode.sim import runner as matrix
from motherlode.sim.trace.files import VERSION
from tests.sim.fakes import HTML, recorded_graph
from tests.support import write_warc

CONTRACT = {
    "policy", "target", "seed", "fetched", "relevant", "harvest_rate", "recall", "select_us_mean", "wall_seconds",
    "curve", "heads",
}  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("simulating")
    recorded_graph(folder / "w.warc.gz")
    links = "".join(f'<a href="/gone/{number}">gone</a>' for number in range(40))
    write_warc(folder / "dead.warc.gz", [("https://dead.example/", 200, HTML, links.encode())])
    return folder


def run(folder: Path, *words: str) -> Result:
    return CliRunner().invoke(application(COMMANDS), list(words), env={"XDG_CACHE_HOME": str(folder / "cache")})


def told(result: Result) -> str:
    """Return the output without line breaks, which depend on the terminal."""
    return " ".join((result.output).split())


def test_record_and_simulate_write_trace_and_report(folder: Path) -> None:
    trace = str(folder / "trace")
    made = run(folder, "record", str(folder / "w.warc.gz"), "-o", trace)
    assert made.exit_code == 0
    assert "180 responses" in told(made)
    seeds = folder / "seeds.txt"
    seeds.write_text("# comment\nhttp://h0.example/\nh1.example/2\n")
    arguments = ["--policy", "bfs", "--policy", "bandit:success-rate", "--repeat", "2", "--share", "0.3"]
    found = run(folder, "simulate", trace, "--seeds", str(seeds), *arguments, "--json", "-o", str(folder / "out"))
    assert found.exit_code == 0, found.output
    rows = [json.loads(line) for line in found.stdout.splitlines()]
    assert [(row["policy"], row["seed"]) for row in rows] == [
        ("bfs", 0), ("bfs", 1), ("bandit:success-rate", 0), ("bandit:success-rate", 1),
    ]  # fmt: skip
    assert all(set(row) >= CONTRACT for row in rows)
    assert rows[0]["curve"][-1] == [rows[0]["fetched"], rows[0]["relevant"]]
    assert (folder / "out" / "report.html").exists()


def test_simulate_reads_a_warc_with_one_seed(folder: Path) -> None:
    found = run(
        folder, "simulate", str(folder / "w.warc.gz"), "--seeds", "http://h0.example/", "--pages", "10", "--json"
    )
    assert found.exit_code == 0, found.output
    assert json.loads(found.stdout.splitlines()[0])["fetched"] == 10


def test_simulate_keeps_dead_links_unless_told_otherwise(folder: Path) -> None:
    found = {}
    for words in (("--missing",), (), ("--dead", "0.5"), ("--no-missing",)):
        shown = run(
            folder, "simulate", str(folder / "dead.warc.gz"), "--policy", "bfs", "--pages", "99", *words, "--json"
        )
        assert shown.exit_code == 0, shown.output
        found[words] = json.loads(shown.stdout.splitlines()[0])["failures"].get("not-found", 0)
    assert found[()] == found["--missing",] == 40
    assert 0 < found["--dead", "0.5"] < 40
    assert found["--no-missing",] == 0


def test_simulate_compares_in_pairs(folder: Path) -> None:
    words = ["simulate", "synthetic:500", "--compare", "bfs", "pld", "--repeat", "3", "--pages", "60"]
    rows = [json.loads(line) for line in run(folder, *words, "--json").stdout.splitlines()]
    first, second = ([row["harvest_rate"] for row in rows if row.get("policy") == name] for name in ("bfs", "pld"))
    assert rows[-1]["compare"] == ["bfs", "pld"]
    assert rows[-1]["harvest_rate"]["pairs"] == 3
    difference = sum(other - one for one, other in zip(first, second, strict=True)) / 3
    assert rows[-1]["harvest_rate"]["difference"] == pytest.approx(difference, abs=1e-5)
    assert rows[-1]["harvest_rate"]["standard_error"] > 0
    assert "difference in 3 pairs" in told(run(folder, *words))


def test_table_does_not_cut_policy_names(folder: Path) -> None:
    found = run(folder, "simulate", "synthetic:500", "--policy", "bandit:success-rate:0.25:1000", "--pages", "50")
    assert "bandit:success-rate:0.25:1000" in found.stdout


def test_table_with_timing_has_relevant_pages_per_hour(folder: Path) -> None:
    found = run(
        folder, "simulate", "synthetic:500", "--pages", "50", "--in-flight", "8", "--latency", "1", "--delay", "1"
    )
    assert found.exit_code == 0, found.output
    assert "relevant/hour" in found.stdout


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["simulate", "synthetic:abc"], "'synthetic:abc' should look like synthetic:100000"),
        (
            ["simulate", "no-such-file"],
            "no-such-file does not exist: give a trace, a WARC file, synthetic:PAGES or",
        ),
        (["simulate", "{folder}"], "holds no trace: make one with `motherlode record"),
        (["simulate", "{folder}/empty.warc.gz"], "no HTTP response could be read in"),
        (["simulate", "{folder}/old"], f"is a trace of version 0, but {VERSION} is needed: make it again"),
        (["simulate", "synthetic:500", "--policy", "bsf"], "unknown policy 'bsf' (did you mean bfs?)"),
        (["simulate", "synthetic:500", "--target", "anny"], "unknown target 'anny' (did you mean any?)"),
        (["simulate", "synthetic:500", "--target", "ASK {{ ?s foo:x ?o }}"], "hint: did you mean foaf:?"),
        (["simulate", "synthetic:500", "--pages", "0"], "a budget of 0 requests is too small"),
        (["simulate", "synthetic:500", "--pages", "5", "--share", "0.5"], "not both"),
        (
            ["simulate", "synthetic:500", "--share", "inf"],
            "--share inf is no number that a crawl",
        ),
        (["simulate", "synthetic:500", "--share", "nan"], "--share nan is no number"),
        (
            ["simulate", "synthetic:500", "--share", "12"],
            "--share 12 is more than all pages: 12 % of them is --share 0.12",
        ),
        (["simulate", "synthetic:500:x"], "'synthetic:500:x' should look like synthetic:100000"),
        (["simulate", "synthetic:500", "--no-missing", "--dead", "0.5"], "give one of the two"),
        (["simulate", "synthetic:500", "--delay", "inf"], "--delay inf is no number"),
        (["simulate", "synthetic:500", "--latency", "inf"], "--latency inf is no number"),
        (["simulate", "synthetic:500", "--seeds", "nowhere.txt"], "the seed file nowhere.txt cannot be read"),
        (["simulate", "synthetic:500", "--seeds", "http://nowhere.example/"], "none of the 1 seeds is in this web"),
        (["simulate", "synthetic:500", "--seeds", "{folder}/no-seeds.txt"], "has no URL"),
        (["record", "no-such.warc.gz", "-o", "{folder}/t"], "no-such.warc.gz cannot be read"),
        (["record", "{folder}/empty.warc.gz", "-o", "{folder}/t"], "no HTTP response could be read in"),
        (["record", "{folder}/w.warc.gz", "-o", "{folder}/w.warc.gz"], "cannot be written"),
    ],
)
def test_wrong_input_gives_a_message(folder: Path, words: list[str], sentence: str) -> None:
    (folder / "empty.warc.gz").touch()
    (folder / "no-seeds.txt").write_text("# nothing\n")
    (folder / "old").mkdir(exist_ok=True)
    (folder / "old" / "trace.json").write_text('{"version": 0, "parts": []}')
    found = run(folder, *(word.format(folder=folder) for word in words))
    assert found.exit_code == 2, found.output
    assert sentence.replace(" ", "") in found.output.replace(" ", "").replace("\n", "")
    assert "Traceback" not in found.output


def test_truncated_warc_is_used_up_to_the_damage(folder: Path) -> None:
    whole = (folder / "w.warc.gz").read_bytes()
    (folder / "cut.warc.gz").write_bytes(whole[:-100])
    found = run(folder, "record", str(folder / "cut.warc.gz"), "-o", str(folder / "cut"))
    assert found.exit_code == 0, found.output
    assert "1 broken records skipped" in told(found)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--pages", "100000"], "larger than the web"),
        (["--target", "type:schema:Unicorn"], "there is nothing to find"),
    ],
)
def test_doubtful_input_gives_a_warning(folder: Path, words: list[str], sentence: str) -> None:
    found = run(folder, "simulate", "synthetic:300", "--policy", "bfs", *words)
    assert found.exit_code == 0, found.output
    assert sentence in told(found)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_unreadable_folder_gives_a_message(folder: Path, tmp_path: Path) -> None:
    tmp_path.chmod(0)
    try:
        found = run(folder, "simulate", str(tmp_path))
        assert found.exit_code == 2
        assert "Traceback" not in found.output
    finally:
        tmp_path.chmod(0o700)


def test_simulate_without_terminal_draws_no_bar(folder: Path) -> None:
    made = run(folder, "record", str(folder / "w.warc.gz"), "-o", str(folder / "barless"))
    assert made.stderr.startswith("180 responses")


@pytest.mark.parametrize("json_wanted", [False, True])
def test_simulate_without_terminal_logs_progress_to_stderr(
    folder: Path, monkeypatch: pytest.MonkeyPatch, *, json_wanted: bool
) -> None:
    monkeypatch.setattr(progress, "_LOG_SECONDS", 0.0)
    monkeypatch.setattr(os, "cpu_count", lambda: 1)
    matrix._graphs.clear()
    words = ["simulate", "synthetic:500", "--policy", "bfs", "--repeat", "2", "--pages", "100"]
    found = run(folder, *words, *(["--json"] if json_wanted else []))
    assert found.exit_code == 0, found.output
    assert "looking through the web · 0 of 500 pages" in found.stderr
    assert "oracle (seed 0) looks at the whole web, " in found.stderr
    assert "simulating, 3 of 4 runs ended · 350 of 400 requests · left 0:0" in found.stderr
    assert "bfs (seed 1) 50 of 100" in found.stderr
    assert "runs ended" not in found.stdout


def _children(process: int) -> list[str]:
    return [child for path in Path(f"/proc/{process}/task").glob("*/children") for child in path.read_text().split()]


def test_ctrl_c_ends_the_simulation_and_its_processes() -> None:
    command = [sys.executable, "-m", "motherlode", "simulate", "synthetic:100000", "--pages", "100000"]
    running = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    deadline = time.monotonic() + 120
    while not _children(running.pid):
        assert running.poll() is None and time.monotonic() < deadline, "no worker has started"
        time.sleep(0.05)
    os.killpg(running.pid, signal.SIGINT)  # a terminal also signals the workers
    out, errors = running.communicate(timeout=120)
    assert (running.returncode, out) == (130, "")
    assert errors.splitlines()[-1] == "stopped: nothing is saved of an unfinished simulation"
    assert "Traceback" not in errors
    assert _are_gone(running.pid)


def _are_gone(group: int) -> bool:
    """Return whether all processes of a group have ended. The init process may take seconds to reap them."""
    for _ in range(1200):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.1)
    return False


def test_table_has_all_figures(folder: Path) -> None:
    found = run(folder, "simulate", "synthetic:500", "--policy", "bfs", "--repeat", "2", "--pages", "50")
    heads = ("relevant", "harvest", "focus", "area focus", "recall", "fetched", "pick µs", "pages/s", "±")
    assert all(head in found.stdout for head in heads)


@pytest.mark.parametrize("name", ["bandit", "bandit:xyz"])
def test_unknown_policy_lists_the_known_ones(folder: Path, name: str) -> None:
    found = run(folder, "simulate", "synthetic:500", "--policy", name)
    assert found.exit_code == 2
    assert "success-best-score" in told(found)
    assert "docs/policies.md" in told(found)


def test_unusable_output_is_refused_before_reading(folder: Path, tmp_path: Path) -> None:
    crawl = CrawlFolder(tmp_path / "out")
    crawl.create(Job(seeds=("http://a.example/",)))
    crawl.unlock()
    before = sorted(crawl.path.iterdir())
    done = run(folder, "record", str(folder / "w.warc.gz"), "-o", str(crawl.path))
    assert (done.exit_code, "has a crawl: a trace needs a folder of its own" in done.output) == (2, True)
    assert sorted(crawl.path.iterdir()) == before
    done = run(folder, "simulate", "synthetic:200", "--pages", "5", "-o", str(crawl.path / "job.toml"))
    assert (done.exit_code, done.stdout) == (2, "")
