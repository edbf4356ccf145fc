"""The command `clusters`."""

import json
from pathlib import Path

import pytest

import motherlode as ml
from tests.cli.test_table import crawl as crawl
from tests.cli.test_table import motherlode


def test_clusters_are_written_to_the_store_and_to_a_file(crawl: Path, tmp_path: Path) -> None:
    done = motherlode("clusters", crawl, "-o", tmp_path / "clusters.ttl")
    assert (done.exit_code, "1 cluster of 2 descriptions" in done.output) == (0, True)
    text = (tmp_path / "clusters.ttl").read_text()
    assert "a ml:Cluster" in text
    assert '"04006381333931"' in text
    members = "SELECT ?thing { GRAPH <urn:motherlode:clusters> { ?c a ml:Cluster ; ml:member ?thing } }"
    assert len(ml.open(crawl).query(members)) == 2
    again = json.loads(motherlode("clusters", crawl, "--json").stdout)
    assert (again["clusters"], again["described"], again["written"]) == (1, 0, 0)


@pytest.mark.parametrize("name", ["clusters.parquet", "clusters"])
def test_clusters_with_another_ending_are_refused(crawl: Path, tmp_path: Path, name: str) -> None:
    done = motherlode("clusters", crawl, "-o", tmp_path / name)
    assert (done.exit_code, ".ttl" in done.output) == (2, True)
