"""The command `export`, on a crawl of a small recorded web."""

from __future__ import annotations

import gzip
import subprocess
import sys
from pathlib import Path

import polars as pl
import pyoxigraph as ox
import pytest
from typer.testing import CliRunner, Result
from warcio.archiveiterator import ArchiveIterator

from motherlode.cli import application
from motherlode.fetch.warc.writer import WarcFile, WarcResponse

PAGE = """<html><head><title>{name}</title><script type="application/ld+json">
{{"@context": "http://schema.org/", "@type": "Product", "@id": "#it", "name": "{name}"}}</script></head>
<body><a href="/2">two</a></body></html>"""


def motherlode(*arguments: str | Path) -> Result:
    app = application([str(arguments[0]), "stats"])  # with one command alone, its name would not be expected
    return CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=False)


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("export")
    web = WarcFile(folder / "web.warc.gz")
    for path, name in (("", "First"), ("2", "Second")):
        body = PAGE.format(name=name).encode()
        web.append(
            WarcResponse(
                url=f"http://a.example/{path}", at=0.0, status=200, headers={"content-type": "text/html"}, body=body
            )
        )
    web.close()
    command = [
        "crawl",
        "http://a.example/",
        "--web",
        f"{folder}/web.warc.gz",
        "-o",
        f"{folder}/out",
        "--warc",
        "--quiet",
    ]
    # in another process, because the store stays open in the process that created it
    subprocess.run([sys.executable, "-c", "from motherlode.cli import main; main()", *command], check=True)
    return folder / "out"


@pytest.mark.parametrize(("form", "parser"), [("nquads", ox.RdfFormat.N_QUADS), ("trig", ox.RdfFormat.TRIG)])
def test_export_of_quads_to_stdout_and_to_a_compressed_file(
    crawl: Path, tmp_path: Path, form: str, parser: ox.RdfFormat
) -> None:
    told = motherlode("export", crawl, "--format", form)
    kept = motherlode("export", crawl, "--format", form, "-o", tmp_path / "all.gz")
    assert (told.exit_code, kept.exit_code) == (0, 0)
    assert gzip.decompress((tmp_path / "all.gz").read_bytes()) == told.stdout_bytes
    quads = list(ox.parse(told.stdout_bytes, parser))
    assert {"http://a.example/", "http://a.example/2"} < {quad.graph_name.value for quad in quads}
    assert f"{len(quads)} quads" in " ".join(kept.stderr.replace(",", "").split())


def test_export_of_parquet_needs_a_folder(crawl: Path, tmp_path: Path) -> None:
    assert motherlode("export", crawl, "--format", "parquet", "-o", tmp_path / "tables").exit_code == 0
    assert pl.read_parquet(tmp_path / "tables" / "pages.parquet").height == 2
    refused = motherlode("export", crawl, "--format", "parquet")
    assert refused.exit_code == 2
    assert "-o FOLDER" in " ".join(refused.stderr.split())
    (tmp_path / "file").touch()
    assert motherlode("export", crawl, "--format", "parquet", "-o", tmp_path / "file").exit_code == 2


@pytest.mark.parametrize("name", ["all.warc.gz", "all.warc"])
def test_export_of_warc_has_all_records(crawl: Path, tmp_path: Path, name: str) -> None:
    assert motherlode("export", crawl, "--format", "warc", "-o", tmp_path / name).exit_code == 0
    with (tmp_path / name).open("rb") as file:
        found = [r.rec_headers["WARC-Target-URI"] for r in ArchiveIterator(file) if r.rec_type == "response"]
    assert {"http://a.example/", "http://a.example/2"} <= set(found)


def test_export_of_warc_without_warc_files_fails(crawl: Path, tmp_path: Path) -> None:
    (tmp_path / "job.toml").write_bytes((crawl / "job.toml").read_bytes())
    refused = motherlode("export", tmp_path, "--format", "warc")
    assert refused.exit_code == 1
    assert "--warc" in refused.stderr


def test_export_of_void_describes_the_data_set(crawl: Path) -> None:
    told = motherlode("export", crawl, "--format", "void")
    assert told.exit_code == 0
    assert b"void:documents 2" in told.stdout_bytes
    assert list(ox.parse(told.stdout_bytes, ox.RdfFormat.TURTLE))


def test_export_without_crawl_is_wrong_usage(tmp_path: Path) -> None:
    refused = motherlode("export", tmp_path)
    assert refused.exit_code == 2
    assert "has no crawl" in " ".join(refused.stderr.split())
