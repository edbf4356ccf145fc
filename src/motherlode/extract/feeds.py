"""Links of RSS (0.9x, 2.0) and Atom feeds: their entries, and the sites that they belong to."""

from __future__ import annotations

from collections.abc import Iterator

from motherlode.extract.addresses import Addresses
from motherlode.extract.options import MAX_TEXT, ExtractOptions
from motherlode.extract.surroundings import shortened
from motherlode.model import Link, LinkSource, Problem
from motherlode.www.document import Document
from motherlode.www.iri import resolve_and_check
from motherlode.www.xmltree import Element, local_name

_XML_BASE = "{http://www.w3.org/XML/1998/namespace}base"
_SERVICE_RELS = frozenset({"self", "hub", "edit", "edit-media", "enclosure", "replies"})


def feed_links(document: Document, options: ExtractOptions) -> list[Link]:
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
    addresses = Addresses(_base(holder, page_url))
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
