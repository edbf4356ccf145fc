"""Links of RSS (0.9x, 2.0) and Atom feeds, and of sitemaps (sitemaps.org protocol 0.9) in XML and as plain text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

from motherlode.links.href import MAX_TEXT_CHARACTERS, HrefResolver, LinkOptions
from motherlode.links.html import shorten
from motherlode.model import Link, LinkSource, Problem
from motherlode.www.document import Document
from motherlode.www.iri import resolve_and_check
from motherlode.www.xml import Element, local_name

_XML_BASE = "{http://www.w3.org/XML/1998/namespace}base"
_SERVICE_RELS = frozenset({"self", "hub", "edit", "edit-media", "enclosure", "replies"})
_IS_URL = re.compile(r"\s*https?://", re.IGNORECASE)


def feed_links(document: Document, options: LinkOptions) -> list[Link]:
    """Return the links of a feed's channel and entries. The title of an entry is the text of its links."""
    root = document.xml.root
    if root is None:
        return []
    found: dict[str, Link] = {}
    for holder in root.iter("{*}channel", "{*}feed", "{*}item", "{*}entry"):
        for link in _element_links(holder, document.url):
            found.setdefault(link.url, link)
        if len(found) > options.page_links:
            message = f"a feed gives {options.page_links:,} links at most: the rest was left out"
            document.problems.append(Problem(syntax=None, message=message))
            break
    return list(found.values())[: options.page_links]


def _element_links(holder: Element, page_url: str) -> Iterator[Link]:
    title = ""
    references: list[tuple[str, str, str]] = []
    for child in holder:
        name = local_name(child).lower()
        if name == "title":
            title = title or shorten(child.text or "")
        elif name == "link":
            rel, media_type = ((child.get(key) or "").lower()[:MAX_TEXT_CHARACTERS] for key in ("rel", "type"))
            references.append((child.get("href") or child.text or "", rel, media_type))
        elif name == "guid":
            is_url = _IS_URL.match(child.text or "")  # the standard demands it, but many feeds use numbers or names
            if is_url and (child.get("isPermaLink") or "true").lower() == "true":
                references.append((child.text or "", "", ""))
    resolver = HrefResolver(_base(holder, page_url))
    for reference, rel, media_type in references:
        url = resolver.page(reference)
        if url is not None and rel not in _SERVICE_RELS:
            yield Link(url=url, source=LinkSource.FEED, anchor=title, rel=rel, type=media_type)


def _base(holder: Element, page_url: str) -> str:
    """Return the base URL of an element: the xml:base attributes of its ancestors, resolved against the URL of the feed
    (XML Base, section 4).
    """
    given = [element.get(_XML_BASE) for element in (holder, *holder.iterancestors())]
    base = page_url
    for reference in reversed(given):
        base = resolve_and_check(base, reference).value if reference else base
    return base if base.startswith("http") else page_url


# Sitemaps ------------------------------------------------------------------------------------------------------------

_ENTRIES = frozenset({"url", "sitemap"})
_ALTERNATE = "{http://www.w3.org/1999/xhtml}link"
_CUT_URL = re.compile(r"<(?:[\w.-]+:)?loc\b[^<>]*>\s*(?:<!\[CDATA\[)?[^<]*\Z", re.IGNORECASE)
"""The end of a sitemap that is cut within a URL."""
_W3C_TIME = re.compile(r"\s*([0-9]{4}(?:-[0-9]{2}(?:-[0-9]{2}(?:[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2})?)?)?)?)(?![0-9])")
_TAIL_CHARACTERS = 4096
_DAY_SECONDS = 86_400.0
_NO_TIMES: Mapping[str, float | None] = {}
_HEAD_BYTES = 256
_URL = re.compile(r"https?://[^\s<>\"]+", re.IGNORECASE)
_URL_LINE = re.compile(r"^\s*https?://", re.IGNORECASE | re.MULTILINE)
_MIN_URLS_PER_OTHER_LINE = 2
"""Minimum ratio of URLs to other lines in a text sitemap."""


def sitemap_links(document: Document, options: LinkOptions) -> list[Link]:
    """Return the links of a sitemap, as far as it can be read, and record a problem if it is broken.

    The entries are sorted by their date, latest first and without a date last, because a limit may cut the list. After
    them come the versions of these pages in other languages, which mostly have entries of their own.
    """
    tree = document.xml
    if tree.error:
        message = f"the sitemap is not well-formed: {tree.error}"
        is_repaired = tree.root is not None
        document.problems.append(
            Problem(syntax=None, message=message, line=tree.line, column=tree.column, repaired=is_repaired)
        )
    # `loc` elements of entries, also of entries inside others after a missing end tag, but not of images
    found = [] if tree.root is None else tree.root.iter("{*}loc")
    locations = [location for location in found if _is_in_entry(location)]
    if tree.error and _CUT_URL.search(document.text[-_TAIL_CHARACTERS:]):
        del locations[-1:]
    locations.sort(key=_last_change, reverse=True)
    found = [] if tree.root is None else tree.root.iter(_ALTERNATE)
    alternates = [link.get("href") or "" for link in found if "alternate" in (link.get("rel") or "").lower().split()]
    entries = {location.text or "": _parse_time(_last_change(location)) for location in reversed(locations)}
    return _resolve_links([*(location.text or "" for location in locations), *alternates], document, options, entries)


def _is_in_entry(location: Element) -> bool:
    """Return whether an element with a URL is a child of an entry of a sitemap."""
    parent = location.getparent()
    return parent is not None and local_name(parent).lower() in _ENTRIES


def _last_change(location: Element) -> str:
    """Return the `lastmod` of an entry without its time zone, which does not matter. Empty if it is missing."""
    found = _W3C_TIME.match(location.getparent().findtext("{*}lastmod") or "")
    return found[1] if found else ""


def _parse_time(text: str) -> float | None:
    """Return the time of a `lastmod`, or the end of its day, in seconds since the epoch; None without an exact day.

    The time zone is not known, and a day is the usual precision. A page that was visited earlier on that day may have
    changed since then.

    >>> _parse_time("1970-01-01"), _parse_time("1970-01-01T00:01"), _parse_time("1970"), _parse_time("1970-02-31")
    (86400.0, 60.0, None, None)
    """
    if len(text) < len("2026-11-18"):
        return None
    try:
        moment = datetime.fromisoformat(text.replace(" ", "T")).replace(tzinfo=UTC)
    except ValueError:
        return None
    return moment.timestamp() + (_DAY_SECONDS if len(text) == len("2026-11-18") else 0)


def text_links(document: Document, options: LinkOptions) -> list[Link]:
    """Return the URLs of a sitemap in plain text. A text with too many other lines is not a sitemap: no links."""
    head = document.body[:_HEAD_BYTES].decode(document.charset, errors="replace")
    if not _URL_LINE.search(head.lstrip("\ufeff")):
        return []
    lines = [line.strip() for line in document.text.removeprefix("\ufeff").splitlines()]
    others = [number for number, line in enumerate(lines, start=1) if line and not _URL.fullmatch(line)]
    urls = [line for line in lines if _URL.fullmatch(line)]
    if len(others) * _MIN_URLS_PER_OTHER_LINE > len(urls):
        return []
    if others:
        message = f"some lines of the sitemap are not URLs: {len(others):,} of {len(urls) + len(others):,}"
        document.problems.append(Problem(syntax=None, message=message, line=others[0], repaired=True))
    return _resolve_links(urls, document, options)


def _resolve_links(
    references: list[str], document: Document, options: LinkOptions, times: Mapping[str, float | None] = _NO_TIMES
) -> list[Link]:
    resolver = HrefResolver(document.url)
    found: dict[str, Link] = {}
    for number, reference in enumerate(references):
        url = resolver.page(reference)
        if url is None or url in found:
            continue
        if len(found) >= options.sitemap_links:
            left_out = len(references) - number
            limit = f"a sitemap gives {options.sitemap_links:,} links at most"
            message = f"{limit}: {left_out:,} more entries were left out"
            document.problems.append(Problem(syntax=None, message=message))
            break
        found[url] = Link(url=url, source=LinkSource.SITEMAP, modified=times.get(reference))
    return list(found.values())
