"""Links of HTML: anchors and areas, link elements, frames, refreshes, with their surroundings."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from collections.abc import Set as AbstractSet
from functools import lru_cache

from msgspec.structs import replace
from selectolax.lexbor import LexborNode

from motherlode.extract.addresses import Addresses
from motherlode.extract.headers import refreshed
from motherlode.extract.merging import joined
from motherlode.extract.options import MAX_TEXT, TOO_LONG, ExtractOptions, too_many
from motherlode.extract.robots import robots_directives
from motherlode.extract.surroundings import Surroundings, context, shortened
from motherlode.model import Link, LinkSource
from motherlode.www.document import Document
from motherlode.www.html_budget import TextBudget
from motherlode.www.html_references import query_in
from motherlode.www.urls import MAX_URL_LENGTH

_SELECTOR = 'a[href], area[href], link[href], iframe[src], frame[src], meta[http-equiv="refresh" i]'
"""What Python leaves out afterwards costs less than further conditions here, which every element is asked for."""
Attributes = Mapping[str, str | None]

_SOURCES = {
    "a": LinkSource.ANCHOR,
    "area": LinkSource.ANCHOR,
    "link": LinkSource.LINK_ELEMENT,
    "iframe": LinkSource.FRAME,
    "frame": LinkSource.FRAME,
}
_CLICKABLE = frozenset({"a", "area"})
_REFERENCES = {"area": "href", "link": "href", "iframe": "src", "frame": "src", "meta": "content"}
"""The attribute in which an element that is no anchor says where it leads to."""
_NO_PAGE_RELS = frozenset(
    (
        *("stylesheet", "icon", "shortcut", "apple-touch-icon", "apple-touch-icon-precomposed", "mask-icon"),
        *("fluid-icon", "apple-touch-startup-image", "image_src", "preload", "modulepreload", "preconnect"),
        *("dns-prefetch", "manifest", "pingback", "edituri", "wlwmanifest", "search"),
    )
)
"""Relations of link elements to what a page is made of, or to services, and never to another page."""
_SCHEME = re.compile(r"\s*([A-Za-z][A-Za-z0-9+.-]*):")
_MENTIONS_PER_LINK = 8
"""A page may mention each of its addresses so many times, on average, before we stop reading."""


def html_links(document: Document, options: ExtractOptions, told: AbstractSet[str] = frozenset()) -> list[Link]:
    """The links in document order, each address once. Those that were `told` before have no surroundings."""
    page = _PageLinks(document, options, told)
    page.read(document.html.css(_SELECTOR))
    if page.is_cut:
        document.problems.append(too_many(options.page_links))
    if page.has_long:
        document.problems.append(TOO_LONG)
    found = [link for link in page.best.values() if link is not None]
    return [replace(link, nofollow=True) for link in found] if robots_directives(document).nofollow else found


class _PageLinks:
    """Collects the links of one page."""

    def __init__(self, document: Document, options: ExtractOptions, told: AbstractSet[str]) -> None:
        self.best: dict[str, Link | None] = {}
        """None for an address that nobody will follow."""
        self.is_cut = False
        """There was more than we read."""
        self.has_long = False
        """There were addresses that are too long to be any."""
        self._told = told
        self._most = options.page_links
        self._outside = options.outside or _never
        self._page = _in_charset(document.charset, Addresses(document.base, options.kept_extensions).page)
        self._surroundings = Surroundings(TextBudget(len(document.body)))

    def read(self, elements: Iterable[LexborNode]) -> None:
        best, page, told, outside = self.best, self._page, self._told, self._outside
        most = self._most
        left = most * _MENTIONS_PER_LINK
        for element in elements:
            tag = element.tag or ""
            attributes = element.attributes
            reference = attributes.get("href") if tag == "a" else _reference(tag, attributes)
            if not reference or reference[0] == "#":
                continue
            left -= 1
            if left < 0:
                self.is_cut = True
                break
            url = page(reference)
            if url is None:
                self.has_long = self.has_long or (len(reference) > MAX_URL_LENGTH and _is_of_the_web(reference))
            else:
                known = best.get(url)
                if known is None:
                    if url in best:
                        continue
                    if len(best) >= most:
                        self.is_cut = True
                        break
                if url in told and not attributes.get("rel"):
                    if known is None:
                        best[url] = Link(url=url, source=_SOURCES.get(tag, LinkSource.REFRESH))
                elif known is None:
                    best[url] = None if outside(url) else self._link(url, tag, element, attributes)
                elif (not known.anchor or known.nofollow) and tag != "meta":
                    best[url] = joined(known, self._link(url, tag, element, attributes))

    def _link(self, url: str, tag: str, element: LexborNode, attributes: Attributes) -> Link:
        """What the page says of an address at this place."""
        if tag == "meta":
            return Link(url=url, source=LinkSource.REFRESH)
        parent = element.parent
        clickable = tag in _CLICKABLE
        anchor = self._surroundings.anchor(element, attributes) if clickable else ""
        beside = context(element, parent) if clickable else ""
        given = attributes.get
        path = self._surroundings.tag_path(parent, tag, given("class"))
        rel, media_type, title = given("rel"), given("type"), given("title")
        if rel:
            rel = _relations(rel)
        return Link(
            url=url,
            source=_SOURCES[tag],
            anchor=anchor,
            rel=rel or "",
            type=media_type[:MAX_TEXT].strip().lower() if media_type else "",
            title=shortened(title) if title else "",
            context=beside,
            tag_path=path,
            nofollow="nofollow" in rel.split() if rel else False,
        )


def _is_of_the_web(reference: str) -> bool:
    """Whether a reference is none of another scheme: pictures and programs stand in references, too."""
    scheme = _SCHEME.match(reference)
    return scheme is None or scheme[1].lower() in ("http", "https")


def _never(_url: str) -> bool:
    return False


def _in_charset(charset: str, page: Callable[[str], str | None]) -> Callable[[str], str | None]:
    """What gives a page's addresses, if its charset is not Unicode: browsers send queries in it."""
    if charset.startswith("utf"):
        return page
    return lambda reference: page(reference if reference.isascii() else query_in(charset, reference))


def _reference(tag: str, attributes: Attributes) -> str:
    """Where an element other than an anchor leads to, as the page writes it; "" for what a page is made of."""
    reference = attributes.get(_REFERENCES.get(tag, "")) or ""
    if tag == "meta":
        return refreshed(reference)
    if tag == "link":
        rel = attributes.get("rel")
        return "" if rel and _names_no_page(rel[:MAX_TEXT]) else reference
    return reference


@lru_cache(maxsize=1024)
def _names_no_page(rel: str) -> bool:
    """A third of the links of HTML are to style sheets and icons, by a handful of relations."""
    return not _NO_PAGE_RELS.isdisjoint(_relations(rel).split())


def _relations(rel: str) -> str:
    return " ".join(rel.lower().split())[:MAX_TEXT]
