"""Addresses in microformats: the canonical JSON has them absolute, and otherwise as their authors wrote them."""

from __future__ import annotations

from urllib.parse import unquote

from motherlode.transform.microformats.text import HTML_SPACE
from motherlode.www import iri


def resolve(base: str, reference: str) -> str:
    """An absolute URL; one that is absolute already stays as it is, to the letter.

    >>> resolve("http://example.org/a/b", "../c"), resolve("http://example.org", ""), resolve("http://e.org/", "tel:1")
    ('http://example.org/c', 'http://example.org', 'tel:1')
    """
    return iri.resolve(base, reference.strip(HTML_SPACE))


def tag_of(url: str) -> str:
    """The tag that a rel=tag link names: the last segment of its path (microformats.org/wiki/rel-tag).

    >>> tag_of("http://example.org/tags/web+of%20data/?page=2")
    'web of data'
    """
    path = iri.split(url)[2]
    return unquote(path.rstrip("/").rpartition("/")[2].replace("+", " "))
