"""From a document and its facts to links: every address that a crawl may go to next, with all that the page says of it.

HTML gives anchors, link elements, frames and refreshes; feeds and sitemaps give their entries; the statements of any
syntax give the IRIs they mention. Each address stands in the result once, in the form that says the most about it, and
in the order in which the page names them. What is no page (images, style sheets, scripts, fonts, the page itself) is
left out. Everything is bounded: so many links a page, so many characters a text, time linear in the size of the page.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from motherlode.on_demand import names_from

if TYPE_CHECKING:
    from motherlode.extract.facts import fact_links
    from motherlode.extract.feeds import feed_links
    from motherlode.extract.following import Following, following_from
    from motherlode.extract.gathering import links
    from motherlode.extract.headers import context_links, header_links
    from motherlode.extract.html import html_links
    from motherlode.extract.options import ExtractOptions
    from motherlode.extract.robots import header_directives, robots_directives
    from motherlode.extract.sitemap import sitemap_links, text_links

__all__ = [
    "ExtractOptions",
    "Following",
    "context_links",
    "fact_links",
    "feed_links",
    "following_from",
    "header_directives",
    "header_links",
    "html_links",
    "links",
    "robots_directives",
    "sitemap_links",
    "text_links",
]

__getattr__ = names_from(
    __name__,
    facts=["fact_links"],
    feeds=["feed_links"],
    following=["Following", "following_from"],
    gathering=["links"],
    headers=["context_links", "header_links"],
    html=["html_links"],
    options=["ExtractOptions"],
    robots=["header_directives", "robots_directives"],
    sitemap=["sitemap_links", "text_links"],
)
