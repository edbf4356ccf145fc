"""Links of sitemaps and sitemap indexes (sitemaps.org protocol 0.9), in XML and as plain text."""

from __future__ import annotations

import re
from collections.abc import Iterator

from motherlode.extract.addresses import Addresses
from motherlode.extract.options import ExtractOptions
from motherlode.model import Link, LinkSource, Problem
from motherlode.www.document import Document
from motherlode.www.xmltree import Element, local_name

_ENTRIES = frozenset({"url", "sitemap"})
_CUT_ADDRESS = re.compile(r"<(?:[\w.-]+:)?loc\b[^<>]*>\s*(?:<!\[CDATA\[)?[^<]*\Z", re.IGNORECASE)
"""Ends a sitemap in the middle of an address."""
_LAST_CHARACTERS = 4096
_FIRST_BYTES = 256
_ADDRESS = re.compile(r"https?://[^\s<>\"]+", re.IGNORECASE)


def sitemap_links(document: Document, options: ExtractOptions) -> list[Link]:
    """The `loc` of every entry, as far as the sitemap can be read; where it is broken, that is a problem of it."""
    tree = document.xml
    if tree.error:
        message = f"the sitemap is not well-formed: {tree.error}"
        is_mended = tree.root is not None
        document.problems.append(
            Problem(syntax=None, message=message, line=tree.line, column=tree.column, mended=is_mended)
        )
    written = [] if tree.root is None else [place.text or "" for place in _places(tree.root)]
    if tree.error and _CUT_ADDRESS.search(document.text[-_LAST_CHARACTERS:]):
        del written[-1:]
    return _links(written, document.url, options)


def _places(root: Element) -> Iterator[Element]:
    """The addresses of entries, also of those that a missing end tag has put into others; images have their own."""
    for place in root.iter("{*}loc"):
        if local_name(place.getparent()).lower() in _ENTRIES:
            yield place


def text_links(document: Document, options: ExtractOptions) -> list[Link]:
    """The lines of a text sitemap; none where any line is no address, for then the text is something else."""
    head = document.body[:_FIRST_BYTES].decode(document.charset, errors="replace")
    if not _ADDRESS.match(head.lstrip("\ufeff \t\r\n")):
        return []
    lines = [line for given in document.text.removeprefix("\ufeff").splitlines() if (line := given.strip())]
    return _links(lines, document.url, options) if all(map(_ADDRESS.fullmatch, lines)) else []


def _links(references: list[str], page_url: str, options: ExtractOptions) -> list[Link]:
    addresses = Addresses(page_url)
    found: dict[str, Link] = {}
    for reference in references:
        url = addresses.page(reference)
        if url is not None and url not in found:
            found[url] = Link(url=url, source=LinkSource.SITEMAP)
            if len(found) >= options.sitemap_links:
                break
    return list(found.values())
