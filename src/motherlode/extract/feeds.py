"""Links of RSS (0.9x, 2.0) and Atom feeds: their entries, and the sites that they belong to."""

from __future__ import annotations

from lxml import etree

from motherlode.extract.addresses import Addresses
from motherlode.extract.options import MAX_TEXT, ExtractOptions
from motherlode.extract.surroundings import shortened
from motherlode.extract.xml import local, parse
from motherlode.model import Link, LinkSource
from motherlode.www.document import Document

_XML_BASE = "{http://www.w3.org/XML/1998/namespace}base"
_SERVICE_RELS = frozenset({"self", "hub", "edit", "edit-media", "enclosure", "replies"})


def feed_links(document: Document, options: ExtractOptions) -> list[Link]:
    """The links of a feed's channel and entries; each entry's title is the text of its links."""
    root = parse(document)
    if root is None:
        return []
    found: dict[str, Link] = {}
    for holder in root.iter("{*}channel", "{*}feed", "{*}item", "{*}entry"):
        for link in _links_of(holder, document.url):
            found.setdefault(link.url, link)
        if len(found) >= options.page_links:
            break
    return list(found.values())[: options.page_links]


def _links_of(holder: etree._Element, page_url: str) -> list[Link]:
    addresses = Addresses(holder.base or page_url if holder.get(_XML_BASE) or _inherits_base(holder) else page_url)
    title = ""
    references: list[tuple[str, str, str]] = []
    for child in holder:
        name = local(child)
        if name == "title":
            title = title or shortened(child.text or "")
        elif name == "link":
            references.append((child.get("href") or child.text or "", _word(child, "rel"), _word(child, "type")))
        elif name == "guid" and (child.get("isPermaLink") or "true").lower() == "true":
            references.append((child.text or "", "", ""))
    found = []
    for reference, rel, media_type in references:
        url = addresses.page(reference)
        if url is not None and rel not in _SERVICE_RELS:
            found.append(Link(url=url, source=LinkSource.FEED, anchor=title, rel=rel, type=media_type))
    return found


def _inherits_base(holder: etree._Element) -> bool:
    return any(ancestor.get(_XML_BASE) is not None for ancestor in holder.iterancestors())


def _word(element: etree._Element, attribute: str) -> str:
    return (element.get(attribute) or "").lower()[:MAX_TEXT]
