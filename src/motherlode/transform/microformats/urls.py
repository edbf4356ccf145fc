"""Addresses in microformats: references are made absolute, and otherwise left as their authors wrote them."""

from __future__ import annotations

import re
from functools import lru_cache
from urllib.parse import unquote, urljoin, urlsplit

import ada_url

from motherlode.model.terms import iri
from motherlode.transform.microformats.text import HTML_SPACE
from motherlode.www.document import Document
from motherlode.www.marks import Mark

_ABSOLUTE = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:")
_LONGEST_REFERENCE = 4096
"""Longer ones (data: images above all) are left as they are."""


def base_of(document: Document) -> str:
    """The address against which the references of a page are resolved."""
    element = document.html.css_first("base[href]") if Mark.BASE in document.marks else None
    return resolve(document.url, element.attributes.get("href") or "") if element is not None else document.url


def is_absolute(reference: str) -> bool:
    return _ABSOLUTE.match(reference) is not None


def resolve(base: str, reference: str) -> str:
    """An absolute URL; one that is absolute already stays as it is, to the letter.

    >>> resolve("http://example.org/a/b", "../c"), resolve("http://example.org", ""), resolve("http://e.org/", "tel:1")
    ('http://example.org/c', 'http://example.org', 'tel:1')
    """
    reference = reference.strip(HTML_SPACE)
    if not reference:
        return base
    if len(reference) > _LONGEST_REFERENCE or is_absolute(reference):
        return reference
    return _joined(base, reference)


@lru_cache(maxsize=4096)
def _joined(base: str, reference: str) -> str:
    try:
        return urljoin(base, reference)
    except ValueError:
        return reference


def iri_of(url: str) -> str | None:
    """The term of a URL; characters that no IRI may hold are escaped as browsers do it (URL Standard).

    >>> iri_of("http://example.org/a b"), iri_of("not a url")
    ('<http://example.org/a%20b>', None)
    """
    term = iri(url)
    if term is not None:
        return term
    try:
        return iri(ada_url.normalize_url(url))
    except ValueError:
        return None


def tag_of(url: str) -> str:
    """The tag that a rel=tag link names: the last segment of its path (microformats.org/wiki/rel-tag).

    >>> tag_of("http://example.org/tags/web+of%20data/?page=2")
    'web of data'
    """
    try:
        path = urlsplit(url).path
    except ValueError:
        return ""
    return unquote(path.rstrip("/").rpartition("/")[2].replace("+", " "))
