"""Links of HTML: anchors and areas, link elements, frames and refreshes.

Each link has its text, the text next to it, and the path of elements from the root. The query of a link is encoded in
the charset of its page, as in browsers. Several mentions of one URL are joined to one link.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterable, Mapping
from collections.abc import Set as AbstractSet
from functools import lru_cache

from msgspec.structs import replace
from selectolax.lexbor import LexborNode

from motherlode.links.element_ids import ElementIds
from motherlode.links.headers import refresh_target
from motherlode.links.href import MAX_TEXT_CHARACTERS, TOO_LONG, HrefResolver, LinkOptions, too_many_links
from motherlode.links.robots_meta import robots_directives
from motherlode.model import Link, LinkSource
from motherlode.www.document import Document
from motherlode.www.html_limits import TextBudget
from motherlode.www.urls import MAX_URL_LENGTH

_NON_ASCII = re.compile(r"[^\x00-\x7f]+")
_NOT_IN_QUERIES = re.compile(rb"[^!$-&(-;=?-~]")
"""Bytes that are always escaped in a query (URL Standard, 1.3, "special-query percent-encode set")."""
_ERROR_HANDLER = "motherlode.lacking"
"""Name of our error handler for characters that a charset lacks."""


def encode_query(codec: str, reference: str) -> str:
    """Return a reference with its query encoded in the page's charset (URL Standard, 4.4, "query state").

    Paths are always in UTF-8. Characters that the charset lacks become character references.

    >>> encode_query("cp1251", "/путь?q=да,я#я"), encode_query("cp1252", "?q=да")
    ('/путь?q=%E4%E0,%FF#я', '?q=%26%231076%3B%26%231072%3B')
    """

    def encode(match: re.Match[str]) -> str:
        written = match[0].encode(codec, _ERROR_HANDLER)
        return _NOT_IN_QUERIES.sub(lambda byte: b"%%%02X" % ord(byte[0]), written).decode("ascii")

    before, hash_sign, fragment = reference.partition("#")
    path, mark, query = before.partition("?")
    return path + mark + _NON_ASCII.sub(encode, query) + hash_sign + fragment


def _escape_missing_character(error: UnicodeError) -> tuple[str, int]:
    """Return escaped character references (URL Standard, 1.3, "percent-encode after encoding")."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lacking = error.object[error.start : error.end]
    return "".join(f"%26%23{ord(character)}%3B" for character in lacking), error.end


codecs.register_error(_ERROR_HANDLER, _escape_missing_character)


# The context of a link ------------------------------------------------------------------------------------------------

_MAX_SIDE_CHARACTERS = MAX_TEXT_CHARACTERS // 2
_MAX_SCAN_CHARACTERS = 4 * MAX_TEXT_CHARACTERS
"""Maximum number of characters of a text in which white space is collapsed. Later ones are not needed."""
_MAX_PATH_CHARACTERS = 240
_MAX_CLASS_CHARACTERS = 40


def shorten(text: str) -> str:
    """Return a text with single spaces, cut at the limit.

    >>> shorten("  so \\n much ")
    'so much'
    """
    return " ".join(text[:_MAX_SCAN_CHARACTERS].split())[:MAX_TEXT_CHARACTERS] if text else ""


class ContextReader:
    """Reads the context of the links of one page. The path of each parent element is computed once."""

    def __init__(self, budget: TextBudget) -> None:
        self._paths: dict[int, str] = {}
        self._budget = budget
        """Bounds hostile pages: anchors can be nested by tricks, and then the same long text is read many times."""
        self._is_exhausted = False

    def anchor(self, element: LexborNode, attributes: Mapping[str, str | None]) -> str:
        """Return the text of a link. For images, their alternative text."""
        text = "" if self._is_exhausted else element.text_lexbor()
        if len(text) > _MAX_SCAN_CHARACTERS:  # the total of shorter texts is bounded by the number of links
            self._budget.spend(text)
            self._is_exhausted = self._budget.is_spent
        return shorten(text) or _alternative_text(element, attributes)

    def tag_path(self, parent: LexborNode | None, tag: str, classes: str | None) -> str:
        """Return the names and classes of the elements from the root to a child of `parent`."""
        path: str | None = ""
        if parent is not None:
            path = self._paths.get(parent.mem_id)
            if path is None:
                path = self._compute_path(parent)
        return _append_step(path, tag, classes[:_MAX_CLASS_CHARACTERS] if classes else "")

    def _compute_path(self, node: LexborNode | None) -> str:
        """Return the path of a node that is not cached. A loop, because pages may nest too deep for recursion."""
        waiting: list[tuple[int, LexborNode]] = []
        path: str | None = None
        while node is not None and path is None:
            key = node.mem_id
            path = self._paths.get(key)
            if path is None:
                waiting.append((key, node))
                node = node.parent
        path = path or ""
        for key, node in reversed(waiting):
            if len(path) < _MAX_PATH_CHARACTERS and node.is_element_node:
                path = _append_step(path, node.tag or "", (node.attributes.get("class") or "")[:_MAX_CLASS_CHARACTERS])
            self._paths[key] = path
        return path


def context(element: LexborNode, parent: LexborNode | None) -> str:
    """Return the text next to an element. If it is empty, the text next to its parent."""
    text = _adjacent_text(element)
    if text or parent is None or parent.tag == "body":
        return text
    return _adjacent_text(parent)


def _alternative_text(element: LexborNode, attributes: Mapping[str, str | None]) -> str:
    given = attributes.get("aria-label") or attributes.get("alt")
    if given:
        return shorten(given)
    image = element.first_child
    if image is not None and image.tag == "-text":  # white space
        image = image.next
    return shorten(image.attributes.get("alt") or "") if image is not None and image.tag == "img" else ""


@lru_cache(maxsize=8192)
def _append_step(path: str, tag: str, classes: str) -> str:
    """Append an element to a path. Cached, because pages of one template repeat the same steps in 98 % of cases."""
    if classes:
        tag = f"{tag}.{'.'.join(classes.split())}"
    return f"{path} {tag}" if path else tag


def _adjacent_text(element: LexborNode) -> str:
    """Return the text of the previous and next sibling only, so that no text is read often."""
    text = ""
    before, after = element.prev, element.next
    if before is not None and not before.is_empty_text_node:
        text = _own_text(before)[-_MAX_SIDE_CHARACTERS:]
    if after is not None and not after.is_empty_text_node:
        text = f"{text} {_own_text(after)[:_MAX_SIDE_CHARACTERS]}"
    return " ".join(text.split()) if text else ""


def _own_text(node: LexborNode) -> str:
    text = node.text_content  # set for text nodes, which most are; three times as fast as `text`
    return node.text(deep=False) if text is None else text


# Joining several mentions of one URL ---------------------------------------------------------------------------------


def join_mentions(first: Link, second: Link) -> Link:
    """Return the more informative of two mentions. Take a predicate and the permission to follow from either.

    >>> image = Link(url="http://example.org/", source=LinkSource.ANCHOR, nofollow=True)
    >>> join_mentions(image, Link(url="http://example.org/", source=LinkSource.ANCHOR, anchor="Home")).anchor
    'Home'
    """
    better, other = (second, first) if _information(second) > _information(first) else (first, second)
    predicate = better.predicate or other.predicate
    nofollow = first.nofollow and second.nofollow
    if better.predicate == predicate and better.nofollow == nofollow:
        return better
    return replace(better, predicate=predicate, nofollow=nofollow)


def _information(link: Link) -> int:
    return 4 * bool(link.anchor) + 2 * bool(link.rel or link.type) + bool(link.title)


# The links of a page -------------------------------------------------------------------------------------------------

_SELECTOR = 'a[href], area[href], link[href], iframe[src], frame[src], meta[http-equiv="refresh" i]'
"""CSS selector of elements with links. It has no further conditions, because filtering in Python is faster."""
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
"""The attribute with the reference, for elements other than anchors."""
_RESOURCE_RELATIONS = frozenset(
    (
        *("stylesheet", "icon", "shortcut", "apple-touch-icon", "apple-touch-icon-precomposed", "mask-icon"),
        *("fluid-icon", "apple-touch-startup-image", "image_src", "preload", "modulepreload", "preconnect"),
        *("dns-prefetch", "manifest", "pingback", "edituri", "wlwmanifest", "search"),
    )
)
"""Relations of link elements to resources of the page or to services, but not to other pages."""
_OTHER_SCHEME = re.compile(r"\s*(?!https?:)[a-z][a-z0-9+.-]*:", re.IGNORECASE)
"""The start of a reference that is neither relative nor http(s). Images and scripts can be references too."""
_MENTIONS_PER_LINK = 8
"""Average number of mentions per URL after which reading stops."""


def html_links(document: Document, options: LinkOptions, known: AbstractSet[str] = frozenset()) -> list[Link]:
    """Return the links in document order, each URL once. Those in `known` have no texts and context."""
    page = _PageLinks(document, options, known)
    page.read(document.html.css(_SELECTOR))
    if page.is_cut:
        document.problems.append(too_many_links(options.page_links))
    if page.has_long:
        document.problems.append(TOO_LONG)
    found = [link for link in page.best.values() if link is not None]
    return [replace(link, nofollow=True) for link in found] if robots_directives(document).nofollow else found


class _PageLinks:
    """Collects the links of one page."""

    def __init__(self, document: Document, options: LinkOptions, known: AbstractSet[str]) -> None:
        self.best: dict[str, Link | None] = {}
        """URL → link. None for a URL that will not be followed."""
        self.is_cut = False
        self.has_long = False
        self._known = known
        self._limit = options.page_links
        self._outside = options.outside or (lambda url: False)
        resolve = HrefResolver(document.base, options.kept_extensions).page
        self._page: Callable[[str], str | None] = resolve
        if not document.charset.startswith("utf"):  # queries are encoded in the charset of the page
            charset = document.charset
            self._page = lambda given: resolve(given if given.isascii() else encode_query(charset, given))
        self._context = ContextReader(TextBudget(len(document.body)))
        self._ids = ElementIds() if options.element_ids else None

    def read(self, elements: Iterable[LexborNode]) -> None:
        best, page, known, outside = self.best, self._page, self._known, self._outside
        limit = self._limit
        left = limit * _MENTIONS_PER_LINK
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
                self.has_long |= len(reference) > MAX_URL_LENGTH and not _OTHER_SCHEME.match(reference)
            else:
                earlier = best.get(url)
                if earlier is None:
                    if url in best:
                        continue
                    if len(best) >= limit:
                        self.is_cut = True
                        break
                if url in known and not attributes.get("rel"):
                    if earlier is None:
                        best[url] = Link(url=url, source=_SOURCES.get(tag, LinkSource.REFRESH))
                elif earlier is None:
                    best[url] = None if outside(url) else self._link(url, tag, element, attributes)
                elif (not earlier.anchor or earlier.nofollow) and tag != "meta":
                    best[url] = join_mentions(earlier, self._link(url, tag, element, attributes))

    def _link(self, url: str, tag: str, element: LexborNode, attributes: Attributes) -> Link:
        if tag == "meta":
            return Link(url=url, source=LinkSource.REFRESH)
        parent = element.parent
        clickable = tag in _CLICKABLE
        anchor = self._context.anchor(element, attributes) if clickable else ""
        nearby = context(element, parent) if clickable else ""
        given = attributes.get
        path = self._context.tag_path(parent, tag, given("class"))
        rel, media_type, title = given("rel"), given("type"), given("title")
        if rel:
            rel = _normalize_rel(rel)
        return Link(
            url=url,
            source=_SOURCES[tag],
            anchor=anchor,
            rel=rel or "",
            type=media_type[:MAX_TEXT_CHARACTERS].strip().lower() if media_type else "",
            title=shorten(title) if title else "",
            context=nearby,
            tag_path=path,
            nofollow="nofollow" in rel.split() if rel else False,
            element_ids=self._ids.of(parent, path, given("id")) if self._ids is not None else "",
        )


def _reference(tag: str, attributes: Attributes) -> str:
    """Return the reference of an element other than an anchor as written, or "" for resources of the page."""
    reference = attributes.get(_REFERENCES.get(tag, "")) or ""
    if tag == "meta":
        return refresh_target(reference)
    if tag == "link":
        rel = attributes.get("rel")
        return "" if rel and _is_resource_relation(rel[:MAX_TEXT_CHARACTERS]) else reference
    return reference


@lru_cache(maxsize=1024)
def _is_resource_relation(rel: str) -> bool:
    """Return whether a relation leads to no page. Cached, because a third of all links are style sheets and icons."""
    return not _RESOURCE_RELATIONS.isdisjoint(_normalize_rel(rel).split())


def _normalize_rel(rel: str) -> str:
    return " ".join(rel.lower().split())[:MAX_TEXT_CHARACTERS]
