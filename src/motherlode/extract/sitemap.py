"""Links of sitemaps and sitemap indexes (sitemaps.org protocol 0.9)."""

from __future__ import annotations

from motherlode.extract.addresses import Addresses
from motherlode.extract.options import ExtractOptions
from motherlode.model import Link, LinkSource
from motherlode.www.document import Document
from motherlode.www.xmltree import local_name


def sitemap_links(document: Document, options: ExtractOptions) -> list[Link]:
    """The `loc` of every entry."""
    root = document.xml.root
    if root is None:
        return []
    addresses = Addresses(document.url)
    found: dict[str, Link] = {}
    for entry in root:
        for child in entry:
            if local_name(child).lower() == "loc":
                url = addresses.page(child.text or "")
                if url is not None and url not in found:
                    found[url] = Link(url=url, source=LinkSource.SITEMAP)
                break
        if len(found) >= options.sitemap_links:
            break
    return list(found.values())
