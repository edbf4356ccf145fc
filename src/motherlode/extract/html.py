"""Links of HTML: anchors and areas, link elements, frames, refreshes, with their surroundings."""

from __future__ import annotations

import re
from collections.abc import Mapping

from msgspec.structs import replace
from selectolax.lexbor import LexborNode

from motherlode.extract.addresses import Addresses
from motherlode.extract.merging import joined
from motherlode.extract.options import MAX_TEXT, ExtractOptions
from motherlode.extract.robots import PRODUCT_TOKEN, directives_of
from motherlode.extract.surroundings import Surroundings, shortened
from motherlode.model import Link, LinkSource
from motherlode.www.document import Document
from motherlode.www.html_budget import TextBudget

_SELECTOR = (
    'a[href]:not([href^="#"]), area[href], link[href]:not([rel="stylesheet" i]), iframe[src], frame[src], '
    f'meta[http-equiv="refresh" i], meta[name="robots" i], meta[name="{PRODUCT_TOKEN}" i]'
)
Attributes = Mapping[str, str | None]

_SOURCES = {
    "a": LinkSource.ANCHOR,
    "area": LinkSource.ANCHOR,
    "link": LinkSource.LINK_ELEMENT,
    "iframe": LinkSource.FRAME,
    "frame": LinkSource.FRAME,
}
_NO_PAGE_RELS = frozenset(
    (
        *("stylesheet", "icon", "shortcut", "apple-touch-icon", "apple-touch-icon-precomposed", "mask-icon"),
        *("fluid-icon", "apple-touch-startup-image", "image_src", "preload", "modulepreload", "preconnect"),
        *("dns-prefetch", "manifest", "pingback", "edituri", "wlwmanifest", "search"),
    )
)
"""Relations of link elements to what a page is made of, or to services, and never to another page."""
_REFRESH = re.compile(r"\s*[0-9.]*\s*[;,]?\s*url\s*=\s*[\"']?([^\"']*)", re.IGNORECASE)
_MENTIONS_PER_LINK = 8
"""A page may mention each of its addresses so many times, on average, before we stop reading."""


def html_links(document: Document, options: ExtractOptions) -> list[Link]:
    """The links in document order, each address once."""
    page = _PageLinks(document, options)
    for element in document.html.css(_SELECTOR)[: options.page_links * _MENTIONS_PER_LINK]:
        page.read(element)
        if len(page.best) >= options.page_links:
            break
    found = list(page.best.values())
    return [replace(link, nofollow=True) for link in found] if page.nofollow else found


class _PageLinks:
    """Collects the links of one page."""

    def __init__(self, document: Document, options: ExtractOptions) -> None:
        self.best: dict[str, Link] = {}
        self.nofollow = False
        """The page asks that none of its links be followed."""
        self._addresses = Addresses(document.base, options.kept_extensions)
        self._surroundings = Surroundings(TextBudget(len(document.body)))

    def read(self, element: LexborNode) -> None:
        attributes = element.attributes
        tag = element.tag or ""
        source = _SOURCES.get(tag)
        if source is None:
            self._meta(attributes)
            return
        url = self._addresses.page(attributes.get("src" if source is LinkSource.FRAME else "href") or "")
        if url is None:
            return
        rel = attributes.get("rel") or ""
        if rel:
            rel = " ".join(rel.lower().split())[:MAX_TEXT]
            if source is LinkSource.LINK_ELEMENT and not _NO_PAGE_RELS.isdisjoint(rel.split()):
                return
        known = self.best.get(url)
        if known is None:
            self.best[url] = self._link(url, tag, rel, element, attributes)
        elif not known.anchor or known.nofollow:
            self.best[url] = joined(known, self._link(url, tag, rel, element, attributes))

    def _link(self, url: str, tag: str, rel: str, element: LexborNode, attributes: Attributes) -> Link:
        around = self._surroundings
        source = _SOURCES[tag]
        clickable = source is LinkSource.ANCHOR
        media_type = attributes.get("type")
        title = attributes.get("title")
        return Link(
            url=url,
            source=source,
            anchor=around.anchor(element, attributes) if clickable else "",
            rel=rel,
            type=media_type[:MAX_TEXT].strip().lower() if media_type else "",
            title=shortened(title) if title else "",
            context=around.context(element) if clickable else "",
            tag_path=around.tag_path(element, tag, attributes.get("class")),
            nofollow="nofollow" in rel and "nofollow" in rel.split(),
        )

    def _meta(self, attributes: Attributes) -> None:
        self.nofollow = self.nofollow or "nofollow" in directives_of(attributes, PRODUCT_TOKEN)
        if (attributes.get("http-equiv") or "").lower() != "refresh":
            return
        match = _REFRESH.match(attributes.get("content") or "")
        url = self._addresses.page(match[1]) if match else None
        if url is not None:
            self.best.setdefault(url, Link(url=url, source=LinkSource.REFRESH))
