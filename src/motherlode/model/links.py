"""Links: URLs that a page mentions, with the text and attributes around them."""

from __future__ import annotations

from enum import Enum

import msgspec


class LinkSource(Enum):
    """The kind of element, header or document in which a URL was found."""

    SEED = "seed"
    ANCHOR = "anchor"
    """An `a` or `area` element."""
    LINK_ELEMENT = "link"
    """A `link` element in the head (or body) of HTML."""
    FRAME = "frame"
    """A `frame` or `iframe` element."""
    REFRESH = "refresh"
    """A `<meta http-equiv=refresh>` or a Refresh header."""
    TRIPLE = "triple"
    """An IRI in the subject or object of a statement."""
    REDIRECT = "redirect"
    """The target of a 3xx response."""
    HEADER = "header"
    """A Link or Content-Location header."""
    SITEMAP = "sitemap"
    FEED = "feed"


class Link(msgspec.Struct, frozen=True, kw_only=True, array_like=True, gc=False):
    """One URL found on a page. The URL is absolute and canonical; the `links` package truncates the texts.

    A msgspec struct, not a dataclass, because a page has hundreds of links and each is sent between processes.
    """

    url: str
    source: LinkSource
    anchor: str = ""
    """The link text."""
    rel: str = ""
    """The rel attribute, lower-case, single spaces."""
    type: str = ""
    """The media type in the link's `type` attribute."""
    title: str = ""
    context: str = ""
    """Text around the anchor."""
    tag_path: str = ""
    """Element names (with classes) from the root down to the link: `html body main.list ul li a`."""
    predicate: str = ""
    """The IRI of the predicate, if the link comes from a statement."""
    nofollow: bool = False
    """The page asks crawlers not to follow this link."""
