"""Links of a page: every URL that a crawl may fetch next, with what the page says about it.

Links come from HTML (anchors, link elements, frames, refreshes), from the entries of feeds and sitemaps, from HTTP
headers, and from the IRIs in the statements of any syntax. The result contains each URL once, with its most informative
mention, in the order of the page. Images, style sheets, scripts, fonts and the page itself are left out. The number of
links per page and the length of texts are bounded, and the time is linear in the size of the page.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from motherlode.runtime import lazy_exports

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
