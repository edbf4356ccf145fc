import csv
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from tests.integrations.scrapy.loopback_site import page, serve

PROJECT = Path(__file__).parents[2] / "examples" / "scrapy"
CUPS = 30


def shop(path: str, before: int) -> tuple[int, Mapping[str, str], str]:
    """A shop with many pages of news and some of products."""
    name, _, number = path[1:].partition("/")
    if name == "robots.txt":
        return 404, {}, ""
    if name == "cup":
        data = f'{{"@context": "http://schema.org/", "@type": "Product", "name": "Cup {number}", "brand": "Ada"}}'
        return 200, {}, page("/", data=data)
    if name == "news":
        return 200, {}, page("/", f"/news/{int(number) + 1}", f"/news/{int(number) + 2}")
    return 200, {}, page(*(f"/news/{n}" for n in range(0, 900, 30)), *(f"/cup/{n}" for n in range(CUPS)))


def test_example_project_finds_products_before_news(tmp_path: Path) -> None:
    out = tmp_path / "products.csv"
    with serve(shop) as site:
        command = [sys.executable, "-m", "scrapy", "crawl", "shop", "-a", f"start={site.url}/", "-O", str(out)]
        options = ["-s", "CLOSESPIDER_PAGECOUNT=50", "-s", "TELNETCONSOLE_ENABLED=False"]
        done = subprocess.run(
            [*command, *options], cwd=PROJECT, capture_output=True, text=True, timeout=120, check=False
        )
        requested = site.paths[:60]
    assert done.returncode == 0, done.stderr
    assert "ERROR" not in done.stderr
    rows = list(csv.DictReader(out.read_text().splitlines()))
    assert rows[0].keys() == {"url", "name", "brand"}
    assert {row["brand"] for row in rows} == {"Ada"}
    assert sum(path.startswith("/cup/") for path in requested) >= 25, "in order of discovery there are fewer"
