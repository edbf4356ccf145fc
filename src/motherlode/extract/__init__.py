"""From a document and its facts to links: every address that a crawl may go to next, with all that the page says of it.

HTML gives anchors, link elements, frames and refreshes; feeds and sitemaps give their entries; the statements of any
syntax give the IRIs they mention. Each address stands in the result once, in the form that says the most about it, and
in the order in which the page names them. What is no page (images, style sheets, scripts, fonts, the page itself) is
left out. Everything is bounded: so many links a page, so many characters a text, time linear in the size of the page.
"""

from __future__ import annotations

from motherlode.extract.facts import fact_links
from motherlode.extract.feeds import feed_links
from motherlode.extract.following import EVERYTHING, Following, followed, following_from
from motherlode.extract.headers import header_links
from motherlode.extract.html import html_links
from motherlode.extract.merging import merged
from motherlode.extract.options import ExtractOptions
from motherlode.extract.robots import header_directives, robots_directives
from motherlode.extract.sitemap import sitemap_links
from motherlode.model import ContentKind, Facts, Link, LinkSource
from motherlode.www.document import Document

__all__ = [
    "ExtractOptions",
    "Following",
    "fact_links",
    "feed_links",
    "following_from",
    "header_directives",
    "header_links",
    "html_links",
    "links",
    "robots_directives",
    "sitemap_links",
]

_READERS = {
    ContentKind.HTML: html_links,
    ContentKind.XHTML: html_links,
    ContentKind.RSS: feed_links,
    ContentKind.ATOM: feed_links,
    ContentKind.SITEMAP: sitemap_links,
}
"""Kinds whose own structure names links. All others have only their facts."""


def links(
    document: Document,
    facts: Facts,
    options: ExtractOptions = ExtractOptions(),  # noqa: B008 - it is frozen
    following: Following = EVERYTHING,
) -> list[Link]:
    """The links of a page that the user wants followed, each address once."""
    reader = _READERS.get(document.kind)
    found = reader(document, options) if reader else []
    if not following.html and document.kind is not ContentKind.SITEMAP:
        found = [link for link in found if link.source is LinkSource.REFRESH]
    mentioned = followed(facts, following, page_url=document.url, options=options) if facts.extractions else []
    return merged(found, mentioned, page_url=document.url, limit=options.most_links(document.kind))
