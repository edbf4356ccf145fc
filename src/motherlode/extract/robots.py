"""What a page itself asks of crawlers, by `<meta name=robots>`."""

from __future__ import annotations

from collections.abc import Mapping

from motherlode.www.document import Document
from motherlode.www.marks import Mark

PRODUCT_TOKEN = "motherlode"
_KNOWN = frozenset({"noindex", "nofollow", "none"})
_WITH_VALUES = frozenset({"max-snippet", "max-image-preview", "max-video-preview", "unavailable_after"})
"""Directives of X-Robots-Tag that have a colon of their own, which names no crawler."""


def robots_directives(document: Document, *, product: str = PRODUCT_TOKEN) -> frozenset[str]:
    """Those of noindex, nofollow and none that the page asks of all crawlers, or of ours; none means both others.

    >>> from motherlode.model import ContentKind, Detected, Evidence
    >>> body = b'<meta name="Robots" content="NOINDEX, follow">'
    >>> html = Detected(kind=ContentKind.HTML, evidence=Evidence.CONTENT)
    >>> robots_directives(Document(url="http://example.org/", body=body, detected=html))
    frozenset({'noindex'})
    """
    if Mark.CRAWLER_RULES not in document.marks:
        return frozenset()
    found: frozenset[str] = frozenset()
    for element in document.html.tags("meta"):
        found |= directives_of(element.attributes, product)
    return found


def header_directives(value: str, *, product: str = PRODUCT_TOKEN) -> frozenset[str]:
    """The same from an X-Robots-Tag header, in which directives may be addressed to one crawler by its name.

    An empty element ends that: it stands where one such header was joined to another.

    >>> sorted(header_directives("noarchive, nofollow")), sorted(header_directives("otherbot: noindex, none"))
    (['nofollow'], [])
    >>> sorted(header_directives("otherbot: nofollow, motherlode: noindex"))
    ['noindex']
    >>> sorted(header_directives("otherbot: nofollow, , noindex"))
    ['noindex']
    """
    found: set[str] = set()
    ours = True
    for part in value.lower().replace(";", ",").split(","):
        if not part.strip():
            ours = True
        agent, colon, rest = part.partition(":")
        if colon and agent.strip() not in _WITH_VALUES and " " not in agent.strip():  # a time has colons, too
            ours = agent.strip() in (product, "*")
            part = rest
        if ours:
            found |= _KNOWN.intersection(part.split())
    return frozenset(found | {"noindex", "nofollow"} if "none" in found else found)


def directives_of(attributes: Mapping[str, str | None], product: str) -> frozenset[str]:
    """The directives of one meta element."""
    name = (attributes.get("name") or "").strip().lower()
    if name != "robots" and name != product:
        return frozenset()
    found = _KNOWN.intersection((attributes.get("content") or "").lower().replace(",", " ").replace(";", " ").split())
    return found | {"noindex", "nofollow"} if "none" in found else found
