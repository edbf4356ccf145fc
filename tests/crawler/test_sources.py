"""A harvest of `[[sources]]` on loopback: figures, budgets, broken records and `lastmod`."""

from __future__ import annotations

import json
from pathlib import Path

from tests.crawler.changing_web import ChangingWeb, Document, motherlode, serving, stats


def _thing(name: str, *, broken: bool = False) -> Document:
    text = json.dumps({"@context": "https://schema.org/", "@type": "Dataset", "name": name})
    return Document(f'<script type="application/ld+json">{text[:-1] if broken else text}</script>')


def _sitemap(site: ChangingWeb, **changed: str) -> Document:
    entries = "".join(
        f"<url><loc>{site.root}/{name}</loc><lastmod>{day}</lastmod></url>" for name, day in changed.items()
    )
    text = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{entries}</urlset>'
    return Document(text, content_type="application/xml")


def _job(path: Path, good: ChangingWeb, bad: ChangingWeb, *, more: str = "") -> str:
    path.write_text(
        f"""
allow = ["127.0.0.0/8"]
delay = 0
workers = 1
words = false
scope = "host"
target = "jsonld"
[[sources]]
name = "Good"
sitemap = "{good.root}/sitemap.xml"
{more}
[[sources]]
name = "Bad"
sitemap = ["{bad.root}/sitemap.xml"]
contact = "data@bad.example"
""",
        encoding="utf-8",
    )
    return str(path)


def _site(*, broken: bool = False) -> ChangingWeb:
    return ChangingWeb({"/a": _thing("a", broken=broken), "/b": _thing("b"), "/c": _thing("c")})


async def test_sources_have_figures_and_a_broken_record_does_not_stop_them(tmp_path: Path) -> None:
    out = tmp_path / "out"
    async with serving(_site()) as good, serving(_site(broken=True)) as bad:
        good.pages["/sitemap.xml"] = _sitemap(good, a="2020-01-01", b="2020-01-01", c="2020-01-01")
        bad.pages["/sitemap.xml"] = _sitemap(bad, a="2020-01-01", missing="2020-01-01", b="2020-01-01", c="x")
        said = await motherlode(
            "crawl", "--config", _job(tmp_path / "job.toml", good, bad), "-o", str(out), errors=True
        )
    first, second = stats(out)["sources"]
    assert (first["name"], first["fetched"], first["relevant"]) == ("Good", 4, 3)
    assert (first["failed"], first["problems"]) == (0, 0)
    assert (second["fetched"], second["failed"], second["problems"]) == (5, 1, 1)
    assert second["relevant"] >= 2
    assert "Good: 4 pages fetched, 3 relevant" in said
    assert "1 failed, 1 with problems (data@bad.example)" in " ".join(said.split())
    assert "data@bad.example" in (out / "report.html").read_text(encoding="utf-8")


async def test_source_stops_at_its_budget(tmp_path: Path) -> None:
    out = tmp_path / "out"
    async with serving(_site()) as good, serving(_site()) as bad:
        for site in (good, bad):
            site.pages["/sitemap.xml"] = _sitemap(site, a="2020-01-01", b="2020-01-01", c="2020-01-01")
        job = _job(tmp_path / "job.toml", good, bad, more="pages = 2")
        await motherlode("crawl", "--config", job, "-o", str(out), "--quiet")
    assert [source["fetched"] for source in stats(out)["sources"]] == [2, 4]


async def test_refresh_of_due_pages_follows_the_lastmod_of_the_sitemap(tmp_path: Path) -> None:
    out = tmp_path / "out"
    async with serving(_site()) as good, serving(_site()) as bad:
        for site in (good, bad):
            site.pages["/sitemap.xml"] = _sitemap(site, a="2020-01-01", b="2020-01-01", c="2020-01-01")
        await motherlode("crawl", "--config", _job(tmp_path / "job.toml", good, bad), "-o", str(out), "--quiet")
        good.pages["/sitemap.xml"] = _sitemap(good, a="2020-01-01", b="2099-01-01", c="2020-01-01", d="2020-01-01")
        good.pages["/d"] = _thing("d")
        good.log.clear()
        bad.log.clear()
        await motherlode("crawl", "--refresh", "--due", "-o", str(out), "--quiet")
    assert sorted(good.asked()) == ["/b", "/d", "/sitemap.xml"]
    assert bad.asked() == ["/sitemap.xml"]
