"""The examples of the Python API, run by the tests in an environment of their own: `snippets.py bare|all SITE WARC`.

`core` needs nothing but the package. Each entry of `OPTIONAL` needs an extra: it must run if the extra is installed,
and otherwise name it.
"""

import sys
from pathlib import Path

import motherlode as ml

BODY = b"""<!doctype html><title>Cake</title><a href="/next">next</a>
<script type="application/ld+json">{"@context": "https://schema.org", "@type": "Product", "name": "Cake"}</script>"""


def core(site, warc):
    page = ml.extract(BODY, url="https://example.org/p", content_type="text/html")
    assert any(str(quad.object) == '"Cake"' for quad in page.quads)
    assert page.items()["json-ld"][0]["name"] == "Cake"
    assert "Cake" in str(page.jsonld())
    assert not page.problems
    assert [link.url for link in page.links] == ["https://example.org/next"]
    found = ml.extruct.extract(BODY, base_url="https://example.org/p", syntaxes=["json-ld"], uniform=True)
    assert found["json-ld"][0]["@type"] == "Product"

    options = {"allow": ["127.0.0.0/8"], "delay": 0.0, "address_delay": 0.0}
    with ml.crawl(
        [f"{site}p0", f"{site}none"], output="out", pages=10, target="type:schema:Product", **options
    ) as crawl:
        assert sum(visit.relevant for visit in crawl) == 9, crawl.totals

    result = ml.open("out")
    assert len(result.query("SELECT ?name { ?s a schema:Product ; schema:name ?name }")) == 9
    assert result.search("lemon cake")
    assert len(result.pages(failed=True)) == 1
    assert result.stats()["fetched"] == 10
    assert result.explain(f"{site}p0").state == "fetched"
    assert result.export("all.nq.gz") > 9

    @ml.policy("short-first")
    class ShortFirst:
        """Short URLs first."""

        def score(self, link, parent):
            return -len(link.url)

    rows = ml.simulate(warc, policies=["bfs", "motherlode", "short-first"], share=0.5)
    assert [row["policy"] for row in rows] == ["bfs", "motherlode", "short-first"]
    job = ml.Job(seeds=["https://example.org/"], pages=1000)
    assert job.pages == 1000


def rows():
    return ml.open("out").query("SELECT ?name { ?s schema:name ?name }")


def sharded(site, warc):
    with ml.crawl(["http://shop.example/"], output="shards", web=warc, pages=4, shards=2) as crawl:
        assert len(list(crawl)) == 4


def scrapy(site, warc):
    import motherlode.integrations.scrapy as integration

    assert integration


def old_classifier(site, warc):
    assert ml.simulate(warc, policies=["svm-static:3"], pages=8, processes=1)[0]["fetched"] == 8


OPTIONAL = {
    "to_arrow": ("parquet", lambda *_: rows().to_arrow().num_rows == 9),
    "to_pandas": ("pandas", lambda *_: len(rows().to_pandas()) == 9),
    "to_polars": ("pandas", lambda *_: len(rows().to_polars()) == 9),
    "export parquet": ("parquet", lambda *_: ml.open("out").export("tables")),
    "shards": ("ray", sharded),
    "scrapy": ("scrapy", scrapy),
    "classifier": ("offline", old_classifier),
}


def main():
    mode, site, warc = sys.argv[1:]
    core(site, warc)
    print("core")
    for name, (extra, run) in OPTIONAL.items():
        try:
            assert run(site, warc) is not False
            print(name, "runs")
        except (ImportError, ValueError) as error:
            assert mode == "bare", (name, error)
            assert "pip install" in str(error) and f"motherlode[{extra}]" in str(error), (name, error)
            print(name, "names", extra)
    assert Path("out").is_dir()


if __name__ == "__main__":
    main()
