"""A link: an address that a page mentions, with everything the page says about it."""

from __future__ import annotations

from enum import Enum

import msgspec


class LinkSource(Enum):
    """Where on a page (or outside of any page) an address was found."""

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
    """The target of a 3xx answer."""
    HEADER = "header"
    """A Link or Content-Location header."""
    SITEMAP = "sitemap"
    FEED = "feed"


class Link(msgspec.Struct, frozen=True, kw_only=True, array_like=True, gc=False):
    """One address found on a page. The url is absolute and canonical; texts are cut to a fixed length by `extract`.

    A struct and not a dataclass: a page has hundreds, and each crosses a process border.
    """

    url: str
    source: LinkSource
    anchor: str = ""
    """The text that a reader clicks on."""
    rel: str = ""
    """The rel attribute, lower-case, single spaces."""
    type: str = ""
    """The media type that the link announces."""
    title: str = ""
    context: str = ""
    """Text around the anchor."""
    tag_path: str = ""
    """Element names (with classes) from the root down to the link: `html body main.list ul li a`."""
    predicate: str = ""
    """The IRI of the predicate, where a statement gave the link."""
    nofollow: bool = False
    """The page asks crawlers not to follow this link."""
