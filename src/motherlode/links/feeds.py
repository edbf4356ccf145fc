"""Links of RSS (0.9x, 2.0) and Atom feeds: their entries, and the sites that they belong to."""

from __future__ import annotations

import re
from collections.abc import Iterator

from motherlode.links.anchor_context import shortened
from motherlode.links.href import MAX_TEXT, HrefResolver, LinkOptions
from motherlode.model import Link, LinkSource, Problem
from motherlode.www.document import Document
from motherlode.www.iri import resolve_and_check
from motherlode.www.xml import Element, local_name

_XML_BASE = "{http://www.w3.org/XML/1998/namespace}base"
_SERVICE_RELS = frozenset({"self", "hub", "edit", "edit-media", "enclosure", "replies"})


def feed_links(document: Document, options: LinkOptions) -> list[Link]:
    """The links of a feed's channel and entries; each entry's title is the text of its links."""
    root = document.xml.root
    if root is None:
        return []
    found: dict[str, Link] = {}
    for holder in root.iter("{*}channel", "{*}feed", "{*}item", "{*}entry"):
        for link in _links_of(holder, document.url):
            found.setdefault(link.url, link)
        if len(found) > options.page_links:
            message = f"a feed gives {options.page_links:,} links at most: what came after them was left out"
            document.problems.append(Problem(syntax=None, message=message))
            break
    return list(found.values())[: options.page_links]


def _links_of(holder: Element, page_url: str) -> Iterator[Link]:
    title = ""
    references: list[tuple[str, str, str]] = []
    for child in holder:
        name = local_name(child).lower()
        if name == "title":
            title = title or shortened(child.text or "")
        elif name == "link":
            references.append((child.get("href") or child.text or "", _word(child, "rel"), _word(child, "type")))
        elif name == "guid" and _is_permanent_link(child):
            references.append((child.text or "", "", ""))
    addresses = HrefResolver(_base(holder, page_url))
    for reference, rel, media_type in references:
        url = addresses.page(reference)
        if url is not None and rel not in _SERVICE_RELS:
            yield Link(url=url, source=LinkSource.FEED, anchor=title, rel=rel, type=media_type)


def _is_permanent_link(guid: Element) -> bool:
    """By the standard it is one unless it says otherwise; but many a number or name forgets to say so."""
    if (guid.get("isPermaLink") or "true").lower() != "true":
        return False
    return (guid.text or "").strip().lower().startswith(("http://", "https://"))


def _base(holder: Element, page_url: str) -> str:
    """What xml:base attributes make of the feed's own address (XML Base, section 4)."""
    given = [element.get(_XML_BASE) for element in (holder, *holder.iterancestors())]
    base = page_url
    for reference in reversed(given):
        base = resolve_and_check(base, reference).value if reference else base
    return base if base.startswith("http") else page_url


def _word(element: Element, attribute: str) -> str:
    return (element.get(attribute) or "").lower()[:MAX_TEXT]


# ── Links of sitemaps and sitemap indexes (sitemaps.org protocol 0.9), in XML and as plain text.

_ENTRIES = frozenset({"url", "sitemap"})
_ALTERNATE = "{http://www.w3.org/1999/xhtml}link"
_CUT_ADDRESS = re.compile(r"<(?:[\w.-]+:)?loc\b[^<>]*>\s*(?:<!\[CDATA\[)?[^<]*\Z", re.IGNORECASE)
"""Ends a sitemap in the middle of an address."""
_W3C_TIME = re.compile(r"\s*([0-9]{4}(?:-[0-9]{2}(?:-[0-9]{2}(?:[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2})?)?)?)?)(?![0-9])")
_LAST_CHARACTERS = 4096
_FIRST_BYTES = 256
_ADDRESS = re.compile(r"https?://[^\s<>\"]+", re.IGNORECASE)
_ADDRESS_LINE = re.compile(r"^\s*https?://", re.IGNORECASE | re.MULTILINE)
_ADDRESSES_PER_OTHER = 2
"""Addresses that a text sitemap has, at least, for each line that is none."""


def sitemap_links(document: Document, options: LinkOptions) -> list[Link]:
    """The `loc` of every entry, as far as the sitemap can be read; where it is broken, that is a problem of it.

    What changed last comes first, so that it is not among what is left out; entries without a date come last. Behind
    them come the same pages in other languages, which mostly have entries of their own.
    """
    tree = document.xml
    if tree.error:
        message = f"the sitemap is not well-formed: {tree.error}"
        is_mended = tree.root is not None
        document.problems.append(
            Problem(syntax=None, message=message, line=tree.line, column=tree.column, repaired=is_mended)
        )
    places = [] if tree.root is None else list(_places(tree.root))
    if tree.error and _CUT_ADDRESS.search(document.text[-_LAST_CHARACTERS:]):
        del places[-1:]
    places.sort(key=_last_change, reverse=True)
    return _links([*(place.text or "" for place in places), *_alternates(tree.root)], document, options)


def _alternates(root: Element | None) -> list[str]:
    """What `xhtml:link` elements of entries name."""
    found = [] if root is None else root.iter(_ALTERNATE)
    return [link.get("href") or "" for link in found if "alternate" in (link.get("rel") or "").lower().split()]


def _places(root: Element) -> Iterator[Element]:
    """The addresses of entries, also of those that a missing end tag has put into others; images have their own."""
    for place in root.iter("{*}loc"):
        if local_name(place.getparent()).lower() in _ENTRIES:
            yield place


def _last_change(place: Element) -> str:
    """The date and time of an entry's `lastmod`, without its time zone: hours do not matter; "" where there is none."""
    found = _W3C_TIME.match(place.getparent().findtext("{*}lastmod") or "")
    return found[1] if found else ""


def text_links(document: Document, options: LinkOptions) -> list[Link]:
    """The lines of a text sitemap. A few that are no addresses are a problem of it; many, and it is another text."""
    head = document.body[:_FIRST_BYTES].decode(document.charset, errors="replace")
    if not _ADDRESS_LINE.search(head.lstrip("\ufeff")):
        return []
    lines = [line.strip() for line in document.text.removeprefix("\ufeff").splitlines()]
    others = [number for number, line in enumerate(lines, start=1) if line and not _ADDRESS.fullmatch(line)]
    addresses = [line for line in lines if _ADDRESS.fullmatch(line)]
    if len(others) * _ADDRESSES_PER_OTHER > len(addresses):
        return []
    if others:
        message = f"some lines of the sitemap are no addresses: {len(others):,} of {len(addresses) + len(others):,}"
        document.problems.append(Problem(syntax=None, message=message, line=others[0], repaired=True))
    return _links(addresses, document, options)


def _links(references: list[str], document: Document, options: LinkOptions) -> list[Link]:
    addresses = HrefResolver(document.url)
    found: dict[str, Link] = {}
    for number, reference in enumerate(references):
        url = addresses.page(reference)
        if url is None or url in found:
            continue
        if len(found) >= options.sitemap_links:
            left_out = len(references) - number
            message = (
                f"a sitemap gives {options.sitemap_links:,} links at most: {left_out:,} more entries were left out"
            )
            document.problems.append(Problem(syntax=None, message=message))
            break
        found[url] = Link(url=url, source=LinkSource.SITEMAP)
    return list(found.values())
