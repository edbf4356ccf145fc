"""Links of sitemaps."""

from __future__ import annotations

from motherlode.extract import ExtractOptions, sitemap_links
from motherlode.model import ContentKind, LinkSource
from tests.www.pages import document


def test_a_sitemap_and_an_index() -> None:
    for outer, inner in (("urlset", "url"), ("sitemapindex", "sitemap")):
        body = f"""<{outer} xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
          <{inner}><loc> http://example.org/a&amp;b </loc><lastmod>2026-01-01</lastmod></{inner}>
          <{inner}><lastmod>2026-01-01</lastmod><loc>/c</loc></{inner}></{outer}>"""
        found = sitemap_links(document(body, kind=ContentKind.SITEMAP), ExtractOptions())
        assert [link.url for link in found] == ["http://example.org/a&b", "http://example.org/c"]
        assert {link.source for link in found} == {LinkSource.SITEMAP}


def test_bounded() -> None:
    body = "<urlset>" + "".join(f"<url><loc>http://example.org/{i}</loc></url>" for i in range(60_000)) + "</urlset>"
    assert len(sitemap_links(document(body, kind=ContentKind.SITEMAP), ExtractOptions())) == 50_000
