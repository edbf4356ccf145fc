"""The data files of Anthelion: reading, the web made of them, and the command."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from motherlode.cli import application
from motherlode.model import FailureKind
from motherlode.sim.anthelion_web import (
    ANTHELION,
    DEFAULT_ROOT,
    AnthelionWeb,
    convert,
    find_files,
    open_converted,
    prepare,
)
from motherlode.sim.trace.files import TraceError

INDEX = "30\thttp://b.example/data/3\n10\thttp://a.example/\n20\tHTTP://A.example/list#top\n40\tb.example/x?a=1\n\n"
NETWORK = "10\t20\t30\n20\t10\t30\t999\t30\n888\t10\n10\t40\n"
LABEL = "30\tmicrodata\t7\n999\n"


def write(folder: Path, *, zipped: bool = False, **texts: str) -> Path:
    folder.mkdir(exist_ok=True)
    for name, text in ({"index": INDEX, "network": NETWORK, "label": LABEL} | texts).items():
        path = folder / (f"{name}.tsv.gz" if zipped else name)
        path.write_bytes(gzip.compress(text.encode()) if zipped else text.encode())
    return folder


def silent(done: int, total: int) -> None:
    pass


def opened(folder: Path, options: str = "") -> AnthelionWeb:
    return open_converted(prepare(f"{ANTHELION}{folder}{options}", folder / "cache", silent), "any")


@pytest.mark.parametrize("zipped", [False, True])
def test_files_become_pages_links_and_labels(tmp_path: Path, *, zipped: bool) -> None:
    web = opened(write(tmp_path / "data", zipped=zipped))
    assert web.page_count == 4
    assert dict(web.labels()) == {
        "http://a.example/": False,
        "http://a.example/list": False,
        "http://b.example/data/3": True,
        "http://b.example/x?a=1": False,
    }
    home = web.page("http://a.example/")
    assert [link.url for link in home.links] == [
        "http://a.example/list",
        "http://b.example/data/3",
        "http://b.example/x?a=1",
    ], "links of both lines"
    assert [link.url for link in web.page("http://a.example/list").links] == [
        "http://a.example/",
        "http://b.example/data/3",
    ], "unknown ids and repeated links are left out"
    assert web.page("http://b.example/data/3").relevant
    assert web.page("http://c.example/").failure is FailureKind.NOT_FOUND
    assert sum(len(page.links) for page in web.everything()) == 5


def test_crawl_starts_at_the_root_or_at_every_host(tmp_path: Path) -> None:
    folder = write(tmp_path / "data")
    assert opened(folder).home_pages() == ["http://a.example/", "http://b.example/x?a=1"]
    assert opened(folder, ":root=20").home_pages() == ["http://a.example/list"]
    with pytest.raises(TraceError, match="no page with the id 999, which was given as root"):
        opened(folder, ":root=999")
    write(folder, index=f"{INDEX}{DEFAULT_ROOT}\thttp://dmoz.example/\n")
    assert opened(folder).home_pages() == ["http://dmoz.example/"], "the changed index is read again"


def test_other_label_file_is_named_by_option(tmp_path: Path) -> None:
    folder = write(tmp_path / "data", label_microdata="40\n")
    with pytest.raises(TraceError, match=r"has 2 files \(label, label_microdata\) whose name starts with 'label'"):
        find_files(f"{ANTHELION}{folder}")
    web = opened(folder, ":label=label_microdata")
    assert [url for url, relevant in web.labels() if relevant] == ["http://b.example/x?a=1"]


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ({"index": "x\thttp://a.example/\n"}, "index, line 1: ids are whole numbers"),
        ({"index": "1\thttp://a.example/\n1\thttp://b.example/\n"}, "the same id in two lines"),
        ({"index": ""}, "has no page"),
        ({"network": "10\t20\n10\tother\n"}, "network, line 2: ids are whole numbers"),
        ({"label": "ten\n"}, "label, line 1"),
    ],
)
def test_damaged_files_raise_error_with_line_and_leave_nothing(
    tmp_path: Path, texts: dict[str, str], message: str
) -> None:
    folder = write(tmp_path / "data", **texts)
    with pytest.raises(TraceError, match=message):
        convert(find_files(f"{ANTHELION}{folder}"), tmp_path / "made")
    assert [path.name for path in tmp_path.iterdir()] == ["data"]


def test_cut_gzip_file_raises_error(tmp_path: Path) -> None:
    folder = write(tmp_path / "data", zipped=True)
    (folder / "network.tsv.gz").write_bytes((folder / "network.tsv.gz").read_bytes()[:-12])
    with pytest.raises(TraceError, match="is damaged"):
        convert(find_files(f"{ANTHELION}{folder}"), tmp_path / "made")


@pytest.mark.parametrize(
    ("options", "message"),
    [(":root=home", "root is the numeric id"), (":pages=3", "unknown option pages"), (":label=none", "is not a file")],
)
def test_wrong_options_raise_error(tmp_path: Path, options: str, message: str) -> None:
    with pytest.raises(TraceError, match=message):
        find_files(f"{ANTHELION}{write(tmp_path / 'data')}{options}")


def test_many_links_are_read_in_chunks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("motherlode.sim.anthelion_web._CHUNK_LINKS", 7)
    pages = range(1, 60)
    folder = write(
        tmp_path / "data",
        index="".join(f"{number}\thttp://h{number % 5}.example/{number}\n" for number in pages),
        network="".join(f"{number}\t" + "\t".join(map(str, range(1, number))) + "\n" for number in pages),
        label="".join(f"{number}\n" for number in pages if number % 3 == 0),
    )
    web = opened(folder)
    assert [len(web.page(f"http://h{number % 5}.example/{number}").links) for number in pages] == list(range(59))
    assert sum(relevant for _, relevant in web.labels()) == 19


def test_simulate_command_crawls_the_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = write(tmp_path / "data", zipped=True)
    command = ["simulate", f"anthelion:{folder}:root=10", "--policy", "nb-online", "--policy", "bfs", "--pages", "4"]
    result = CliRunner().invoke(application(["simulate"]), [*command, "--json"])
    assert result.exit_code == 0, result.output
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    assert [(row["policy"], row["fetched"], row["relevant"], row["recall"]) for row in rows] == [
        ("nb-online", 4, 1, 1.0),
        ("bfs", 4, 1, 1.0),
    ]
    refused = CliRunner().invoke(application(["simulate"]), [*command, "--target", "rdf"])
    assert refused.exit_code == 2
    assert "name another label file" in refused.output
