"""What a page itself asks of crawlers, by `<meta name=robots>` and by the header X-Robots-Tag."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import islice

from motherlode.extract.moments import moment
from motherlode.model import NOTHING_ASKED, Asked
from motherlode.www.document import Document
from motherlode.www.marks import Mark

PRODUCT_TOKEN = "motherlode"
_UNAVAILABLE_AFTER = "unavailable_after"
_EVERYONE = frozenset({"*", "robots"})
_WEEKDAY = re.compile(r"\b(?:mon|tue(?:s)?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)(?:day)?\s*,")
"""With the comma behind it, which ends no directive."""
_SEPARATOR = re.compile(r"[,;]")
_MOST_CHARACTERS, _MOST_ELEMENTS = 4096, 50
"""Of one list of directives, and of meta elements for crawlers that are heeded: a hostile page could name a million
dates."""


def robots_directives(document: Document, *, product: str = PRODUCT_TOKEN) -> Asked:
    """What the page's head asks of all crawlers, or of ours.

    >>> from motherlode.model import ContentKind, Detected, Evidence
    >>> body = b'<meta name="Robots" content="NOINDEX, follow">'
    >>> html = Detected(kind=ContentKind.HTML, evidence=Evidence.CONTENT)
    >>> robots_directives(Document(url="http://example.org/", body=body, detected=html)).text
    'noindex'
    """
    asked = NOTHING_ASKED
    if Mark.CRAWLER_RULES in document.marks:
        every = (directives_of(element.attributes, product) for element in document.html.tags("meta"))
        for said in islice(filter(None, every), _MOST_ELEMENTS):
            asked |= said
    return asked


def header_directives(value: str, *, product: str = PRODUCT_TOKEN) -> Asked:
    """The same from an X-Robots-Tag header, in which directives may be addressed to one crawler by its name.

    An empty element ends that: it stands where one such header was joined to another.

    >>> header_directives("noarchive, nofollow").text, header_directives("otherbot: noindex, none").text
    ('nofollow', '')
    >>> header_directives("otherbot: nofollow, motherlode: noindex").text
    'noindex'
    >>> header_directives("otherbot: nofollow, , noindex").text
    'noindex'
    """
    asked = NOTHING_ASKED
    ours = True
    for element in _elements(value):
        if not element:
            ours = True
        agent, colon, rest = element.partition(":")
        agent = agent.strip()
        if colon and not _has_value(agent) and " " not in agent:  # a time has colons, too
            ours = agent in _EVERYONE or agent.partition("/")[0] == product
            element = rest
        if ours:
            asked |= _said(element)
    return asked


def directives_of(attributes: Mapping[str, str | None], product: str) -> Asked | None:
    """The directives of one meta element; None where it is not for us."""
    name = (attributes.get("name") or "").strip().lower()
    if name != "robots" and name != product:
        return None
    asked = NOTHING_ASKED
    for element in _elements(attributes.get("content") or ""):
        asked |= _said(element)
    return asked


def _elements(value: str) -> list[str]:
    return [element.strip() for element in _SEPARATOR.split(_WEEKDAY.sub("", value[:_MOST_CHARACTERS].lower()))]


def _has_value(name: str) -> bool:
    """Whether this is a directive with a colon of its own, which names no crawler."""
    return name == _UNAVAILABLE_AFTER or name.startswith("max-")


def _said(element: str) -> Asked:
    """What one directive asks, or several with only white space between them; most do not matter to a crawl."""
    head, found, date = element.partition(_UNAVAILABLE_AFTER)
    words = head.split()
    return Asked(
        noindex="noindex" in words or "none" in words,
        nofollow="nofollow" in words or "none" in words,
        ends_at=moment(date.lstrip(" \t:=")) if found else None,
    )
