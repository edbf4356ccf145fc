"""Everything that users type or read from programs at commit c4f3213, before the redesign, still works.

`inventory.json` lists commands, flags, job-file keys, names of policies, targets and rewards, JSON keys, paths of
`serve` and environment variables. It was generated from the code of that commit and is not edited. `RENAMED` lists the
names that have changed: the old name must give an error that names the new one. JSON keys and paths cannot give an
error, so they have no such table. The environment variables of Ray (RAY_…) are listed and not tested.

The tests use the command line alone, in this process if nothing is fetched. Data: tests/data/folder_v0.tar.gz.
"""

from __future__ import annotations

import dataclasses
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import tomllib
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from motherlode.__main__ import main
from motherlode.crawler import Job

HERE = Path(__file__).parent
INVENTORY = json.loads((HERE / "inventory.json").read_text(encoding="utf-8"))
FOLDERS = HERE.parent / "data" / "folder_v0.tar.gz"
SEED = "http://shop.example/"

RENAMED: dict[str, dict[str, str]] = {
    "command": {},  # "looking": "stats"
    "flag": {"crawl --stop-when-dry": "--stop-after", "crawl --dry-below": "--stop-below"},
    "job key": {  # a key of a table is written "links.old_key"
        "barren_after": "host_stop_after",
        "choosy": "wait_threshold",
        "dry_after": "stop_after",
        "dry_below": "stop_below",
        "patience": "delay_factor",
    },
    "policy": {},  # "old-word": "new-word"
    "target": {},
    "reward": {},
}

SERVICE = 'media_type = "application/pdf", url = "http://127.0.0.1:9/"'
ADDED_JOB_KEYS: dict[str, tuple[str, str]] = {
    "proxy_env": ('proxy_env = ""', ""),
    "max_untried_hosts": ("max_untried_hosts = 5", ""),
    "memory": ('memory = "2GB"', ""),
    "min_rate": ("min_rate = 0", ""),
    "idle_timeout": ("idle_timeout = 5", ""),
    "user_agent_suffix": ('user_agent_suffix = "project-x/1.0"', ""),
    "headers": ('headers = { "a.example" = { Accept-Language = "de" } }', ""),
    "tokens": ("tokens = {}", ""),
    "tokens_env": ('tokens_env = { "a.example" = "HOME" }', ""),
    "signing_key": ('signing_key = ""', ""),
    "signature_agent": ('signature_agent = ""', ""),
    "obey_usage": ('obey_usage = ["train-ai", "train-ai-images", "ai-use", "search", "tdm"]', ""),
    "tdmrep": ("tdmrep = true", ""),
    "describe": ('describe = "all"', ""),
    "response_headers": ('response_headers = ["*"]', ""),
    "log_level": ('log_level = "debug"', ""),
    "pages_per_day": ("pages_per_day = 1000", ""),
    "round_time": ('round_time = "30m"', ""),
    "max_disk": ('max_disk = "50GB"', ""),
    "validate": ('validate = ["schema.org"]', ""),
    "sources": ('sources = [{ name = "A", sitemap = "https://a.example/sitemap.xml" }]', ""),
    "scorer": ('scorer = { seconds = 5, max_bytes = "100kB", workers = 2 }', ""),
    "notices": ('notices = { command = ["true"] }', ""),
    "links.index_query": ('links = { index_query = "SELECT ?o { ?s ?p ?o }" }', ""),
    "transform.strict_jsonld": ("transform = { strict_jsonld = true }", ""),
    "transform.services.own": (f"transform = {{ services = [{{ {SERVICE}, own = true }}] }}", ""),
    "transform.services.retries": (f"transform = {{ services = [{{ {SERVICE}, retries = 1 }}] }}", ""),
}
"""Keys of job files since that commit: a line with the key, and a line that it needs."""


@dataclass(frozen=True, slots=True)
class Result:
    """Output and exit code of a command."""

    code: int
    out: str
    err: str


Run = Callable[..., Result]


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command in this process."""

    def command(*arguments: str) -> Result:
        monkeypatch.setattr(sys, "argv", ["motherlode", *arguments])
        capfd.readouterr()
        code: Any = 0
        try:
            main()
        except SystemExit as ended:
            code = ended.code or 0
        out, err = capfd.readouterr()
        return Result(code, out, err)

    return command


def run_apart(*arguments: str, expect: int = 0) -> Result:
    """Run a command in a process of its own."""
    command = [sys.executable, "-m", "motherlode", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == expect, done.stderr
    return Result(done.returncode, done.stdout, done.stderr)


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Paths by their names in the inventory, where they are in braces."""
    folder = tmp_path_factory.mktemp("inventory")
    with tarfile.open(FOLDERS) as tar:
        tar.extractall(folder, filter="data")
    names = ("crawl", "later", "trace", "new", "bfs", "done", "filtered", "lists")
    made = {name: str(folder / name) for name in names}
    made |= {"model": str(folder / "old.model"), "warc": str(folder / "crawl/warc/crawl-00001.warc.gz")}
    (folder / "lists").mkdir()
    (folder / "lists" / "terms.txt").write_text("rdf\n")
    recorded = ("crawl", SEED, "--web", made["warc"], "--quiet")
    run_apart(*recorded, "--policy", "bfs", "--pages", "3", "-o", made["bfs"])
    run_apart(*recorded, "--pages", "99", "-o", made["done"])
    shutil.copytree(made["later"], made["filtered"])
    run_apart("filter", made["filtered"], "add", "/private")
    return made


def filled(text: str, places: dict[str, str]) -> str:
    """Return the text with `{name}` replaced by the path of that name."""
    return re.sub(r"\{(\w+)\}", lambda match: places.get(match[1], match[0]), text)


def check_renamed(result: Result, new_name: str) -> None:
    """Assert that the old name gave an error with the new one."""
    assert result.code == 2, result.out
    assert re.search(rf"(?<![\w-]){re.escape(new_name)}(?![\w-])", result.err), result.err


# commands and flags


@pytest.mark.parametrize("name", INVENTORY["commands"])
def test_command_shows_help(name: str, run: Run) -> None:
    new_name = RENAMED["command"].get(name)
    result = run(name, "--help")
    if new_name is not None:
        check_renamed(result, new_name)
        return
    assert result.code == 0
    for argument in INVENTORY["commands"][name]["arguments"]:
        assert f"{argument['name']}" in result.out


def test_application_has_version_and_help(run: Run) -> None:
    assert run("--version").out.startswith("motherlode ")
    listed = run("--help").out
    assert all(re.search(rf"^  {name} ", listed, re.MULTILINE) for name in INVENTORY["commands"])


def _uses_of_flags() -> Iterator[Any]:
    for command, parts in INVENTORY["commands"].items():
        for option in parts["options"]:
            for value in option["values"] or [None]:
                arguments = [option["flag"], *([] if value is None else [value])]
                yield pytest.param(command, arguments, option.get("ending", []), id=" ".join([command, *arguments]))


@pytest.mark.parametrize(("command", "arguments", "ending"), list(_uses_of_flags()))
def test_flag_is_read(command: str, arguments: list[str], ending: list[str], run: Run) -> None:
    """A flag is read if the command gets to the error that it also gives without the flag.

    That is a missing argument, or the value of `ending`. An unknown flag and a bad value are found before it.
    """
    without, result = run(command, *ending), run(command, *arguments, *ending)
    assert without.code == 2
    new_name = RENAMED["flag"].get(f"{command} {arguments[0]}")
    if new_name is not None:
        check_renamed(result, new_name)
        return
    assert (result.code, result.err) == (2, without.err)


@pytest.mark.parametrize("command", INVENTORY["commands"])
def test_flag_that_is_unknown_is_named(command: str, run: Run) -> None:
    ending = next((one["ending"] for one in INVENTORY["commands"][command]["options"] if "ending" in one), [])
    assert "--no-such-flag" in run(command, "--no-such-flag", *ending).err


def test_choice_that_is_unknown_is_named(run: Run) -> None:
    assert "no-such-format" in run("export", "--format", "no-such-format").err


def test_flags_of_crawl_reach_the_job_file(places: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "seeds.txt").write_text(f"{SEED}\n")
    (tmp_path / "job.toml").write_text("workers = 1\n")
    flags = {
        "--pages": ("3", "pages", 3),
        "--time": ("30m", "time", 1800.0),
        "--bytes": ("1GB", "bytes", 10**9),
        "--target": ("jsonld", "target", "jsonld"),
        "--policy": ("motherlode", "policy", "motherlode"),
        "--reward": ("statements", "reward", "statements"),
        "--stop-after": ("50", "stop_after", 50),
        "--stop-below": ("0.05", "stop_below", 0.05),
        "--scope": ("pld", "scope", "pld"),
        "--web": (places["warc"], "web", str(Path(places["warc"]).resolve())),
        "--delay": ("0.001", "delay", 0.001),
        "--allow": ("127.0.0.0/8", "allow", ["127.0.0.0/8"]),
        "--contact": ("mailto:me@a.example", "contact", "mailto:me@a.example"),
        "--index": ("later", "index", "later"),
        "--seed": ("7", "seed", 7),
        "--seeds": (str(tmp_path / "seeds.txt"), "seeds", [SEED]),
        "--shards": ("1", "shards", 1),
        "--ray-parsers": ("0", "ray_parsers", 0),
    }
    kept = {flag: use for flag, use in flags.items() if f"crawl {flag}" not in RENAMED["flag"]}
    typed = [word for flag, use in kept.items() for word in (flag, use[0])]
    more = ["--config", str(tmp_path / "job.toml"), "--warc", "--json", "-o", str(tmp_path / "out")]
    assert json.loads(run_apart("crawl", *typed, *more).out)["fetched"] == 3
    job = tomllib.loads((tmp_path / "out" / "job.toml").read_text())
    found = {flag: job[_new_key(key)] for flag, (_, key, _) in kept.items()}
    assert found == {flag: value for flag, (_, _, value) in kept.items()}
    assert (job["warc"], job["workers"]) == (True, 1)


def _new_key(key: str) -> str:
    return RENAMED["job key"].get(key, key)


# job files


def _job_lines() -> Iterator[Any]:
    for entry in INVENTORY["job_keys"]:
        name = f"{entry['table']}.{entry['key']}".lstrip(".")
        for line in entry["lines"]:
            yield pytest.param(name, line, entry["needs"], id=f"{name}: {line}")
    for name, (line, needs) in ADDED_JOB_KEYS.items():
        yield pytest.param(name, line, needs, id=f"{name}: {line}")


def _crawl_with(line: str, run: Run, tmp_path: Path, places: dict[str, str]) -> Result:
    """Run `crawl` with a job file and an output folder that is not empty, the last thing that is checked."""
    (tmp_path / "out").mkdir(exist_ok=True)
    (tmp_path / "out" / "something").touch()
    text = line.replace("WARC", places["warc"]).replace("../old.model", places["model"])
    job = tmp_path / "job.toml"
    job.write_text(text if "seeds" in text.split() else f'seeds = ["{SEED}"]\n{text}', encoding="utf-8")
    return run("crawl", "--config", str(job), "-o", str(tmp_path / "out"))


@pytest.mark.parametrize(("name", "line", "needs"), list(_job_lines()))
def test_job_key_is_read(name: str, line: str, needs: str, run: Run, tmp_path: Path, places: dict[str, str]) -> None:
    without = _crawl_with(needs, run, tmp_path, places)
    assert "something" not in without.err
    assert str(tmp_path / "out") in without.err
    result = _crawl_with(f"{line}\n{needs}\n", run, tmp_path, places)
    new_name = RENAMED["job key"].get(name)
    if new_name is not None:
        check_renamed(result, new_name)
        return
    assert (result.code, result.err) == (2, without.err)


_TOP_KEYS = [entry["key"] for entry in INVENTORY["job_keys"] if not entry["table"]]


@pytest.mark.parametrize("key", [key for key in _TOP_KEYS if key not in RENAMED["job key"]])
def test_job_key_with_a_value_of_another_type_is_named(
    key: str, run: Run, tmp_path: Path, places: dict[str, str]
) -> None:
    wrong = "5" if key in ("simplify", "warc", "words", "sitemaps") else "true"
    result = _crawl_with(f"{key} = {wrong}", run, tmp_path, places)
    assert result.code == 2
    assert re.search(rf"\b{key}\b", result.err), result.err


def test_every_job_key_is_listed_and_documented() -> None:
    listed = {_new_key(key) for key in _TOP_KEYS} | {key for key in ADDED_JOB_KEYS if "." not in key}
    keys = {field.name for field in dataclasses.fields(Job)}
    assert listed == keys
    reference = (HERE.parents[1] / "docs" / "crawl.md").read_text(encoding="utf-8")
    named = {word.replace("-", "_") for word in re.findall(r"`(?:--)?([a-z][a-z_-]*)", reference)}
    assert keys - named == set()


@pytest.mark.parametrize(
    ("line", "table"),
    [
        ("links = { no_such_key = 1 }", "links"),
        ("transform = { no_such_key = 1 }", "transform"),
        (f"transform = {{ services = [{{ {SERVICE}, no_such_key = 1 }}] }}", "transform.services"),
        ('sinks = [{ kind = "nquads", no_such_key = 1 }]', "sinks"),
    ],
)
def test_every_key_of_a_table_is_listed(
    line: str, table: str, run: Run, tmp_path: Path, places: dict[str, str]
) -> None:
    """An error names all keys of the table."""
    message = " ".join(_crawl_with(line, run, tmp_path, places).err.split())
    known = re.search(r"(?:known:|keys are) ([\w, ]+)", message)
    assert known is not None, message
    listed = {entry["key"] for entry in INVENTORY["job_keys"] if entry["table"] == table}
    listed |= {name.rpartition(".")[2] for name in ADDED_JOB_KEYS if name.rpartition(".")[0] == table}
    assert set(known[1].split(", ")) == listed


@pytest.mark.parametrize(
    "line",
    [
        "no_such_key = 1",
        "links = { no_such_key = 1 }",
        "transform = { no_such_key = 1 }",
        'transform = { stylesheets = [{ xslt = "builtin:rss", no_such_key = 1 }] }',
        'transform = { services = [{ media_type = "a/b", url = "http://127.0.0.1:9/", no_such_key = 1 }] }',
        'sinks = [{ kind = "nquads", no_such_key = 1 }]',
    ],
)
def test_job_key_that_is_unknown_is_named(line: str, run: Run, tmp_path: Path, places: dict[str, str]) -> None:
    assert "no_such_key" in _crawl_with(line, run, tmp_path, places).err


def test_job_file_is_kept_in_the_crawl_folder(places: dict[str, str], tmp_path: Path) -> None:
    left_out = {"dry_after", "shards", "ray", "state", "index", "proxy", "model", "policy", "time", "delay", "sinks"}
    entries = [one for one in INVENTORY["job_keys"] if not one["table"] and one["key"] not in left_out]
    entries = [one for one in entries if one["key"] not in RENAMED["job key"]]
    text = "\n".join(one["lines"][0] for one in entries).replace("WARC", places["warc"])
    (tmp_path / "job.toml").write_text(text)
    run_apart("crawl", "--config", str(tmp_path / "job.toml"), "-o", str(tmp_path / "out"), "--quiet")
    asked, job = tomllib.loads(text), tomllib.loads((tmp_path / "out" / "job.toml").read_text())
    sizes = {"bytes": 10**9, "bytes_per_host": 50 * 10**6, "max_body": 10**6}
    assert {key: job[key] for key in asked} == asked | sizes


# names of policies, targets and rewards


def test_policy_names_are_simulated(run: Run, places: dict[str, str]) -> None:
    names = [filled(one["name"], places) for one in INVENTORY["policies"] if one["word"] not in RENAMED["policy"]]
    flags = [word for name in names for word in ("--policy", name)]
    result = run("simulate", places["trace"], *flags, "--pages", "6", "--json")
    assert result.code == 0, result.err
    rows = [json.loads(line) for line in result.out.splitlines()]
    assert [row["policy"] for row in rows] == names
    assert all(row["fetched"] + row["heads"] == 6 for row in rows)


def test_policy_name_of_before_names_the_new_one(run: Run, places: dict[str, str]) -> None:
    for word, new_name in (RENAMED["policy"] | {"bsf": "bfs"}).items():  # a typing error is corrected the same way
        check_renamed(run("simulate", places["trace"], "--policy", word), new_name)


@pytest.mark.parametrize("target", INVENTORY["targets"])
def test_target_finds_the_same_pages(target: str, run: Run, places: dict[str, str]) -> None:
    result = run(
        *("simulate", places["trace"], "--policy", "bfs", "--pages", "9", "--no-missing", "--target", target, "--json"),
    )
    new_name = RENAMED["target"].get(target)
    if new_name is not None:
        check_renamed(result, new_name)
        return
    assert json.loads(result.out)["relevant"] == INVENTORY["targets"][target]


@pytest.mark.parametrize("reward", INVENTORY["rewards"])
def test_reward_is_read(reward: str, run: Run, tmp_path: Path, places: dict[str, str]) -> None:
    without = _crawl_with("", run, tmp_path, places)
    result = _crawl_with(f'reward = "{reward}"', run, tmp_path, places)
    new_name = RENAMED["reward"].get(reward)
    if new_name is not None:
        check_renamed(result, new_name)
        return
    assert (result.code, result.err) == (2, without.err)


def test_name_that_is_unknown_is_an_error(run: Run, tmp_path: Path, places: dict[str, str]) -> None:
    for key in ("policy", "target", "reward"):
        assert "'no-such-name'" in _crawl_with(f'{key} = "no-such-name"', run, tmp_path, places).err


# JSON


def key_paths(value: Any, prefix: str = "") -> set[str]:
    """Return the paths of all keys in a JSON value: `a.b`, `a[].b`, and `a.*` if the keys of `a` are data."""
    found: set[str] = set()
    if isinstance(value, dict):
        for key, inner in value.items():
            path = f"{prefix}.{'*' if prefix in INVENTORY['keyed_by_data'] else key}".lstrip(".")
            found |= {path} | key_paths(inner, path)
    elif isinstance(value, list):
        for inner in value:
            found |= key_paths(inner, f"{prefix}[]")
    return found


_APART = ("crawl", "resume", "query")
"""Commands that start processes."""


@pytest.mark.parametrize("name", INVENTORY["json"])
def test_json_has_the_keys(name: str, run: Run, places: dict[str, str], tmp_path: Path) -> None:
    entry = INVENTORY["json"][name]
    copied = dict(places)
    for used in ("crawl", "done", "later"):
        if f"{{{used}}}" in entry["arguments"]:
            shutil.copytree(places[used], tmp_path / used)
            copied[used] = str(tmp_path / used)
    arguments = [filled(one, copied | {"new": str(tmp_path / "new")}) for one in entry["arguments"]]
    result = (run_apart if arguments[0] in _APART else run)(*arguments)
    assert result.code == 0, result.err
    found = set().union(*(key_paths(json.loads(line)) for line in result.out.splitlines()))
    assert set(entry["keys"]) - found == set()


# formats, actions and sources


@pytest.mark.parametrize(
    ("form", "expected"),
    [("nquads", "<http://shop.example/lamp/1#it>"), ("trig", "http://shop.example/lamp/1"), ("void", "void:triples")],
)
def test_export_prints_statements(form: str, expected: str, run: Run, places: dict[str, str]) -> None:
    assert expected in run("export", places["crawl"], "--format", form).out


def test_export_writes_tables_and_archives(run: Run, places: dict[str, str], tmp_path: Path) -> None:
    assert run("export", places["crawl"], "--format", "parquet", "-o", str(tmp_path / "tables")).code == 0
    assert {one.name for one in (tmp_path / "tables").iterdir()} == {"quads.parquet", "pages.parquet"}
    assert run("export", places["crawl"], "--format", "warc", "-o", str(tmp_path / "all.warc.gz")).code == 0
    assert (tmp_path / "all.warc.gz").read_bytes()[:2] == b"\x1f\x8b"
    assert run("export", places["crawl"], "-o", str(tmp_path / "all.nq.gz")).code == 0
    assert (tmp_path / "all.nq.gz").read_bytes()[:2] == b"\x1f\x8b"


@pytest.mark.parametrize(("form", "expected"), [("csv", "n\r\n4\r\n"), ("tsv", "?n\n4\n"), ("table", None)])
def test_query_prints_solutions(form: str, expected: str | None, places: dict[str, str]) -> None:
    question = "SELECT (COUNT(*) AS ?n) { GRAPH <http://data.example/things.ttl> { ?s ?p ?o } }"
    command = [sys.executable, "-m", "motherlode", "query", places["crawl"], question, "--format", form]
    printed = subprocess.run(command, capture_output=True, timeout=60, check=True).stdout.decode()
    assert printed == expected if expected is not None else re.search(r"\b4\b", printed)


def test_query_prints_triples(places: dict[str, str]) -> None:
    asked = "CONSTRUCT { ?s a ?t } { ?s a ?t }"
    assert len(run_apart("query", places["crawl"], asked, "--format", "nquads").out.splitlines()) == 4


@pytest.mark.parametrize("form", ["nquads", "trig", "turtle", "jsonld"])
def test_extract_prints_statements(form: str, run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.ttl").write_text('<http://a.example/> <http://schema.org/name> "A" .')
    result = run("extract", str(tmp_path / "a.ttl"), "--format", form, "--base", "http://a.example/a.ttl")
    assert (result.code, '"A"' in result.out) == (0, True)


def test_model_actions(run: Run, places: dict[str, str], tmp_path: Path) -> None:
    saved, merged = str(tmp_path / "a.model"), str(tmp_path / "b.model")
    assert run("model", "save", places["crawl"], "-o", saved).code == 0
    assert run("model", "merge", saved, places["model"], "-o", merged).code == 0
    shown = json.loads(run("model", "show", merged, "--json", "--limit", "2").out)
    assert (shown["requests"], shown["crawls"]) == (18, 2)


def test_filter_actions(run: Run, places: dict[str, str], tmp_path: Path) -> None:
    folder = str(tmp_path / "later")
    shutil.copytree(places["later"], folder)
    assert run("filter", folder, "add", "/private").code == 0
    assert run("filter", folder, "add", "--allow", "example").code == 0
    assert run("filter", folder, "remove", "1").code == 0
    assert [one["pattern"] for one in json.loads(run("filter", folder, "list", "--json").out)] == ["example"]


def test_changes_prints_a_patch(run: Run, places: dict[str, str]) -> None:
    assert "TX ." in run("changes", places["crawl"]).out
    assert "TX ." not in run("changes", places["crawl"], "--since", "2100-01-31").out


# environment


def test_xdg_cache_home_holds_the_traces(
    run: Run, places: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert run("simulate", places["warc"], "--policy", "bfs", "--pages", "2", "--json").code == 0
    assert list((tmp_path / "motherlode" / "traces").iterdir())


def test_openblas_num_threads_is_set_unless_given(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "3")
    run("--version")
    assert os.environ["OPENBLAS_NUM_THREADS"] == "3"
    monkeypatch.delenv("OPENBLAS_NUM_THREADS")
    run("--version")
    assert os.environ["OPENBLAS_NUM_THREADS"] == "1"


@pytest.mark.parametrize("key", ["token_env", "password_env"])
def test_variable_that_a_sink_needs_is_named(key: str, run: Run, tmp_path: Path, places: dict[str, str]) -> None:
    line = f'sinks = [{{ kind = "nquads", user = "me", {key} = "NO_SUCH_VARIABLE" }}]'
    assert "NO_SUCH_VARIABLE" in _crawl_with(line, run, tmp_path, places).err


# serve


@pytest.fixture(scope="module")
def site(places: dict[str, str]) -> Iterator[str]:
    """The address of `motherlode serve`."""
    command = [sys.executable, "-m", "motherlode", "serve", places["crawl"], "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as server:
        assert server.stdout is not None
        for line in server.stdout:
            if found := re.search(r"http://127\.0\.0\.1:\d+", line):
                break
        else:
            pytest.fail("the server ended")
        yield found[0]
        server.send_signal(signal.SIGINT)
        server.stdout.read()


@pytest.mark.parametrize("path", INVENTORY["serve"])
def test_served_path_responds(path: str, site: str) -> None:
    with urllib.request.urlopen(site + path, timeout=60) as response:
        assert response.status == 200
        assert response.read()


def test_served_path_that_is_unknown_gives_404(site: str) -> None:
    with pytest.raises(urllib.error.HTTPError, match="404") as raised:
        urllib.request.urlopen(site + "/no-such-path", timeout=60)
    raised.value.close()
