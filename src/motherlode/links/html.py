"""References of HTML as browsers send them: the query of a link is in the charset of its page.

How references become IRIs of statements is told in `www.iri`, and how they become addresses in `www.urls`.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterable, Mapping
from collections.abc import Set as AbstractSet
from functools import lru_cache, partial

from msgspec.structs import replace
from selectolax.lexbor import LexborNode

from motherlode.links.anchor_context import Surroundings, context, shortened
from motherlode.links.headers import refreshed
from motherlode.links.href import MAX_TEXT, TOO_LONG, HrefResolver, LinkOptions, too_many
from motherlode.links.robots_meta import robots_directives
from motherlode.model import Link, LinkSource
from motherlode.www.document import Document
from motherlode.www.html_limits import TextBudget
from motherlode.www.urls import MAX_URL_LENGTH

_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]+")
_NOT_IN_QUERIES = re.compile(rb"[^!$-&(-;=?-~]")
"""Bytes that are always escaped in a query (URL standard, 1.3, "special-query percent-encode set")."""
_LACKING = "motherlode.lacking"
"""Our name for what is done with characters that a charset has not."""


def query_in(codec: str, reference: str) -> str:
    """A reference of HTML with its query in the page's charset, as browsers send it (URL standard, 4.4, "query state").

    Paths are in UTF-8 in any case. What the charset lacks is written as HTML would write it.

    >>> query_in("cp1251", "/путь?q=да,я#я"), query_in("cp1252", "?q=да")
    ('/путь?q=%E4%E0,%FF#я', '?q=%26%231076%3B%26%231072%3B')
    """
    before, hash_sign, fragment = reference.partition("#")
    path, mark, query = before.partition("?")
    return path + mark + _BEYOND_ASCII.sub(partial(_escaped_in, codec), query) + hash_sign + fragment


def _escaped_in(codec: str, match: re.Match[str]) -> str:
    written = match[0].encode(codec, _LACKING)
    return _NOT_IN_QUERIES.sub(lambda byte: b"%%%02X" % ord(byte[0]), written).decode("ascii")


def _by_number(error: UnicodeError) -> tuple[str, int]:
    """URL standard, 1.3, "percent-encode after encoding": the number of the character, in escapes."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lacking = error.object[error.start : error.end]
    return "".join(f"%26%23{ord(character)}%3B" for character in lacking), error.end


codecs.register_error(_LACKING, _by_number)


# ── One link for each address: what several mentions say is brought together.


def merged(found: Iterable[Link], mentioned: Iterable[Link], *, page_url: str, limit: int) -> list[Link]:
    """The links of a page's markup, each address once, and those of its facts; without the page itself."""
    best = {link.url: link for link in found}
    best.pop(page_url, None)
    for link in mentioned:
        known = best.get(link.url)
        if known is not None:
            best[link.url] = joined(known, link)
        elif len(best) < limit and link.url != page_url:
            best[link.url] = link
    return list(best.values())


def joined(first: Link, second: Link) -> Link:
    """The more telling of two mentions; a predicate, and the leave to follow, are taken from either.

    >>> from motherlode.model import LinkSource
    >>> image = Link(url="http://example.org/", source=LinkSource.ANCHOR, nofollow=True)
    >>> joined(image, Link(url="http://example.org/", source=LinkSource.ANCHOR, anchor="Home")).anchor
    'Home'
    """
    better, other = (second, first) if _telling(second) > _telling(first) else (first, second)
    predicate = better.predicate or other.predicate
    nofollow = first.nofollow and second.nofollow
    if better.predicate == predicate and better.nofollow == nofollow:
        return better
    return replace(better, predicate=predicate, nofollow=nofollow)


def _telling(link: Link) -> int:
    return 4 * bool(link.anchor) + 2 * bool(link.rel or link.type) + bool(link.title)


# ── Links of HTML: anchors and areas, link elements, frames, refreshes, with their surroundings.

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


def html_links(document: Document, options: LinkOptions, told: AbstractSet[str] = frozenset()) -> list[Link]:
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

    def __init__(self, document: Document, options: LinkOptions, told: AbstractSet[str]) -> None:
        self.best: dict[str, Link | None] = {}
        """None for an address that nobody will follow."""
        self.is_cut = False
        """There was more than we read."""
        self.has_long = False
        """There were addresses that are too long to be any."""
        self._told = told
        self._most = options.page_links
        self._outside = options.outside or _never
        self._page = _in_charset(document.charset, HrefResolver(document.base, options.kept_extensions).page)
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
