"""The commands `crawl`, `resume`, `stats`, `query` and `export`, run as processes."""

from __future__ import annotations

import asyncio
import json
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.crawl_process import wait_for_requests
from tests.crawler.changing_web import ChangingWeb, Document, serving
from tests.crawler.offspring import Offspring
from tests.support import shared, synthetic_warc

POLICIES = ("bfs", "dfs", "random", "bandit:success-rate", "bandit:success-rate:0.5:100")


def motherlode(*arguments: str, expect: int = 0) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, "-m", "motherlode", *arguments], capture_output=True, text=True, timeout=250, check=False
    )
    assert done.returncode == expect, done.stderr
    return done


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cli")
    warc, homes = synthetic_warc(folder / "web.warc.gz", pages=400, seed=4)
    (folder / "seeds.txt").write_text("# the homes\n" + "\n".join(homes) + "\n")
    motherlode(
        *("crawl", "--web", str(warc), "--seeds", str(folder / "seeds.txt"), "--delay", "0", "--pages", "150"),
        *("-o", str(folder / "out"), "--json"),
    )
    return folder


def test_stats_json_has_the_documented_keys(crawled: Path) -> None:
    stats = json.loads(motherlode("stats", str(crawled / "out"), "--json").stdout)
    promised = {"fetched", "relevant", "harvest_rate", "quads", "hosts", "known_urls", "failures", "seconds", "bytes"}
    assert promised <= stats.keys()
    assert stats["fetched"] == 150
    assert 0 < stats["relevant"] <= 150
    assert stats["harvest_rate"] == round(stats["relevant"] / 150, 4)


def test_query_prints_each_format(crawled: Path) -> None:
    folder = str(crawled / "out")
    count = "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }"
    rows = json.loads(motherlode("query", folder, count, "--format", "json").stdout)
    union = int(rows["results"]["bindings"][0]["n"]["value"])
    assert union > 100
    assert motherlode("query", folder, count, "--format", "csv").stdout.split() == ["n", str(union)]
    assert str(union) in motherlode("query", folder, count, "--format", "tsv").stdout
    assert str(union) in motherlode("query", folder, count).stdout
    assert motherlode("query", folder, "ASK { ?s a ?t }").stdout.strip() == "yes"
    triples = motherlode("query", folder, "CONSTRUCT WHERE { ?s a ?t }", "--format", "nquads").stdout
    assert all(line.endswith(" .") for line in triples.splitlines())


def test_default_graph_has_no_provenance(crawled: Path) -> None:
    folder = str(crawled / "out")
    assert motherlode("query", folder, "ASK { ?page ml:status ?s }").stdout.strip() == "no"
    asked = "ASK { GRAPH <urn:motherlode:provenance> { ?page ml:status ?s ; prov:generatedAtTime ?t } }"
    assert motherlode("query", folder, asked).stdout.strip() == "yes"


def test_export_writes_the_quads_of_the_store(crawled: Path) -> None:
    folder, file = str(crawled / "out"), crawled / "all.nq"
    motherlode("export", folder, "--format", "nquads", "-o", str(file))
    quads = {line for line in file.read_text().splitlines() if "urn:motherlode:provenance" not in line}
    assert len(quads) == json.loads(motherlode("stats", folder, "--json").stdout)["quads"]
    motherlode("export", folder, "-o", f"{file}.gz")
    assert Path(f"{file}.gz").read_bytes()[:2] == b"\x1f\x8b"


def test_report_is_written(crawled: Path) -> None:
    text = (crawled / "out" / "report.html").read_text()
    assert "<svg" in text
    assert re.search(r"Written by Motherlode [\d.]+ on \d+ \w+ 20\d\d at \d\d:\d\d UTC", text)
    assert "<script" not in text


def test_report_that_cannot_be_written_is_an_error_with_advice(crawled: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    web, seeds = str(crawled / "web.warc.gz"), str(crawled / "seeds.txt")
    motherlode("crawl", "--web", web, "--seeds", seeds, "--pages", "5", "-o", str(folder), "--json")
    (folder / "report.html").unlink()
    (folder / "report.html").mkdir()
    done = motherlode("resume", str(folder), "--pages", "8", "--quiet", expect=1)
    assert re.search(r"error: the report \S+ could not be written: Is a directory.*continues", done.stderr, re.DOTALL)
    assert "Traceback" not in done.stderr
    assert json.loads(motherlode("stats", str(folder), "--json").stdout)["fetched"] == 8


def test_wrong_usage_gives_advice(crawled: Path, tmp_path: Path) -> None:
    new = str(tmp_path / "new")
    cases = [
        (["crawl", "-o", new], "no seeds: name URLs"),
        (["crawl", "--seeds", "none.txt", "-o", new], "none.txt cannot be read: No such file"),
        (["crawl", "--seeds", "http://a/", "-o", new], "give a URL without --seeds"),
        (["crawl", "ftp://a/", "-o", new], "not an http or https URL"),
        (["crawl", "/none", "-o", new], "'/none' is a path and no URL; to start from the URLs in a file: --seeds FILE"),
        (["crawl", str(crawled / "seeds.txt"), "-o", new], "is a file: to start from the URLs in it, write --seeds"),
        (["crawl", "http://a/", "-o", new, "--policy", "bsf"], "did you mean bfs?"),
        (["crawl", "http://a/", "-o", new, "--target", "microdta"], "did you mean microdata?"),
        (["crawl", "http://a/", "-o", new, "--time", "soon"], "should look like 90s"),
        (["crawl", "http://a/", "-o", new, "--scope", "("], "regular expression"),
        (["crawl", "http://a/", "-o", new, "--allow", "home"], "not an address range"),
        (["crawl", "http://a/", "-o", new, "--web", "none.warc.gz"], "none.warc.gz cannot be read"),
        (["crawl", "http://a/", "-o", str(crawled / "out")], "has a crawl already"),
        (["crawl", "http://a/", "-o", new, "--due"], "use it with --refresh"),
        (["crawl", "http://a/", "-o", new, "--stop-below", "0.1"], "use it with --stop-after N"),
        (["crawl", "http://a/", "-o", new, "--target", str(crawled / "seeds.txt")], 'write --target "$(cat '),
        (["query", str(crawled / "out"), str(crawled / "seeds.txt")], "is a file: to run the query in it, write"),
        (["crawl", "http://a/", "-o", new, "--target", "type:foo:Bar"], "the prefix 'foo' is not known"),
        (["crawl", "http://a/", "-o", new, "--target", "ASK { ?s foo:x ?o }"], "hint: did you mean foaf:?"),
        (["crawl", "--seeds", "", "-o", new], "cannot be read"),
        (["resume", new], "has no crawl"),
        (["stats", new], "has no crawl"),
        (["query", str(crawled / "out"), "SELECT {"], "the query cannot be read"),
        (["extract", "none.html"], "cannot be read"),
    ]
    with Offspring() as offspring:
        for arguments, message in cases:
            done = offspring.run(*arguments)
            assert done.returncode in (1, 2), arguments
            assert message in " ".join(done.stderr.split()), (arguments, done.stderr)
            assert "Traceback" not in done.stderr, (arguments, done.stderr)
    assert not Path(new).exists(), "no folder is created"


def test_recorded_web_of_a_job_file_is_relative_to_the_file(crawled: Path, tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "web.warc.gz").symlink_to(crawled / "web.warc.gz")
    seed = (crawled / "seeds.txt").read_text().split("\n")[1]
    job = tmp_path / "job.toml"
    job.write_text(f"seeds = ['{seed}']\nweb = 'sub/web.warc.gz'\npages = 3\ndelay = 0\nwords = false\n")
    out = str(tmp_path / "out")
    motherlode("crawl", "--config", str(job), "-o", out, "--quiet")
    motherlode("resume", out, "--pages", "5", "--quiet")
    assert json.loads(motherlode("crawl", "--refresh", "-o", out, "--json").stdout)["refreshed"] > 0


def test_job_file_configures_a_refresh(crawled: Path, tmp_path: Path) -> None:
    job = tmp_path / "refresh.toml"
    job.write_text("web = 'none.warc.gz'")
    said = motherlode("crawl", "--refresh", "--config", str(job), "-o", str(crawled / "out"), expect=2).stderr
    assert "none.warc.gz cannot be read" in said


def test_end_of_crawl_is_explained_with_the_command_to_continue(crawled: Path, tmp_path: Path) -> None:
    out = str(tmp_path / "a folder")
    job = ("--web", str(crawled / "web.warc.gz"), "--seeds", str(crawled / "seeds.txt"), "-o", out)
    first = motherlode("crawl", *job, "--pages", "5", "--scope", "host")
    assert f"the budget is spent (5 pages); `motherlode resume '{out}' --pages N` continues" in first.stderr
    assert "the budget is spent (5 pages)" in motherlode("resume", out).stderr, "or it would seem to do nothing"
    assert "nothing is left to fetch" in motherlode("resume", out, "--pages", "100000").stderr


def test_crawl_without_network_gives_a_hint(tmp_path: Path) -> None:
    done = motherlode("crawl", "http://nowhere.invalid/", "-o", str(tmp_path / "out"), "--quiet", expect=3)
    assert "error: no page was fetched: " in done.stderr
    assert "is this machine on a network" in done.stderr


async def test_seeds_that_redirect_out_of_scope_give_a_hint(tmp_path: Path) -> None:
    moved = Document(status=301, headers={"Location": "http://localhost:9/"})
    async with serving(ChangingWeb({"/": moved})) as site:
        done = await asyncio.to_thread(
            motherlode,
            *("crawl", f"{site.root}/", "-o", str(tmp_path / "out"), "--scope", "host"),
            *("--allow", "127.0.0.0/8", "--quiet"),
            expect=3,
        )
    assert "no page was fetched: the seeds redirect to URLs out of scope" in done.stderr


def test_ctrl_c_stops_cleanly_and_resume_continues(crawled: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "motherlode", "crawl", "--web", str(crawled / "web.warc.gz"), "--delay", "1"),
            *("--seeds", str(crawled / "seeds.txt"), "-o", str(out)),
        ],
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    wait_for_requests(process, out)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    assert f"motherlode resume {out}" in " ".join(errors.split())
    before = json.loads(motherlode("stats", str(out), "--json").stdout)["fetched"]
    after = json.loads(motherlode("resume", str(out), "--json", "--pages", str(before + 20)).stdout)["fetched"]
    assert after == before + 20


@pytest.mark.parametrize("policy", POLICIES)
def test_recorded_sites_are_crawled_with_every_policy(policy: str, tmp_path: Path) -> None:
    done = motherlode(
        *("crawl", "--web", str(shared("corpus", "sites.warc.gz")), "--seeds", str(shared("corpus", "seeds.txt"))),
        *("--pages", "400", "--delay", "0", "--policy", policy, "-o", str(tmp_path / "out"), "--json"),
    )
    stats = json.loads(done.stdout)
    assert stats["fetched"] == 400
    assert stats["relevant"] > 40
    assert stats["failures"].get("processing", 0) == 0


def test_every_flag_of_crawl_is_documented() -> None:
    text = (Path(__file__).parents[2] / "docs" / "crawl.md").read_text()
    flags = set(re.findall(r"--[a-z-]+", motherlode("crawl", "--help").stdout)) - {"--help"}
    assert sorted(flag for flag in flags if flag not in text) == []
