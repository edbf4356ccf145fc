"""From a document and its facts to links: every address that a crawl may go to next, with all that the page says of it.

HTML gives anchors, link elements, frames and refreshes; feeds and sitemaps give their entries; the statements of any
syntax give the IRIs they mention. Each address stands in the result once, in the form that says the most about it, and
in the order in which the page names them. What is no page (images, style sheets, scripts, fonts, the page itself) is
left out. Everything is bounded: so many links a page, so many characters a text, time linear in the size of the page.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from motherlode.runtime.lazy import lazy_exports

if TYPE_CHECKING:
    from motherlode.links.collect import collect_links
    from motherlode.links.feeds import feed_links, sitemap_links, text_links
    from motherlode.links.from_quads import LinkRules, link_rules_from, quad_links
    from motherlode.links.headers import context_links, header_links
    from motherlode.links.href import LinkOptions
    from motherlode.links.html import html_links
    from motherlode.links.robots_meta import header_directives, robots_directives

__all__ = [
    "LinkOptions",
    "LinkRules",
    "collect_links",
    "context_links",
    "feed_links",
    "header_directives",
    "header_links",
    "html_links",
    "link_rules_from",
    "quad_links",
    "robots_directives",
    "sitemap_links",
    "text_links",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "collect": ["collect_links"],
        "feeds": ["feed_links", "sitemap_links", "text_links"],
        "from_quads": ["LinkRules", "link_rules_from", "quad_links"],
        "headers": ["context_links", "header_links"],
        "href": ["LinkOptions"],
        "html": ["html_links"],
        "robots_meta": ["header_directives", "robots_directives"],
    },
)
