"""From a reference on a page to the address of another page, or to nothing."""

from __future__ import annotations

from functools import lru_cache

from motherlode.model import ContentKind
from motherlode.www.media import extension_kind, extension_of
from motherlode.www.urls import canonical, is_plain_path, origin_of, resolve

_ASSET_TEXT = frozenset({"css", "js", "mjs"})
_LONG = 2000
"""Characters of a path that may make an address too long."""
_SPACES = " \t\n\f\r"


class Addresses:
    """Resolves the references of one page.

    >>> addresses = Addresses("http://example.org/a/b")
    >>> [addresses.page(it) for it in ("c", "/d#e", "#top", "mailto:x@example.org", "//other.example/", "logo.png")]
    ['http://example.org/a/c', 'http://example.org/d', None, None, 'http://other.example/', None]
    """

    def __init__(self, base: str, kept: frozenset[str] = frozenset()) -> None:
        self._base = base
        self._kept = kept
        """Extensions of what would be an asset, if the user had no use for it."""
        path = base.partition("#")[0].partition("?")[0]
        self._folder = path[: path.rfind("/") + 1] if path.count("/") > 2 else base
        self._root = origin_of(base) + "/" if base.startswith("http") else base
        self._canonical_root = _canonical_root(self._root)
        """What may be put before a plain path; empty where the base is not of the web."""

    def page(self, reference: str) -> str | None:
        """The canonical address, or None for what is no page: a place on the same page, another scheme, an asset."""
        reference = reference.strip(_SPACES)
        if not reference:
            return None
        first = reference[0]
        if first == "#":
            return None
        if first == "/":
            if self._canonical_root:
                path = reference.partition("#")[0]
                if is_plain_path(path) and len(path) < _LONG:
                    return None if is_asset(path, self._kept) else self._canonical_root + path
            return _remembered(self._root, reference, self._kept)
        if reference.startswith(("http://", "https://")):
            return _remembered("http://base.invalid/", reference, self._kept)  # it does not matter which
        if first == "?":  # the one kind of reference for which the last segment of the base matters
            return _page_at(self._base, reference, self._kept)
        return _remembered(self._folder, reference, self._kept)


@lru_cache(maxsize=4096)
def _canonical_root(root: str) -> str:
    return (canonical(root) or "").removesuffix("/")


@lru_cache(maxsize=16384)
def _remembered(base: str, reference: str, kept: frozenset[str]) -> str | None:
    """Navigation says the same on every page of a site, so answers are kept from page to page."""
    return _page_at(base, reference, kept)


def _page_at(base: str, reference: str, kept: frozenset[str]) -> str | None:
    url = resolve(base, reference)
    return None if url is None or is_asset(url, kept) else url


def is_asset(url: str, kept: frozenset[str] = frozenset()) -> bool:
    """An address whose extension says that no page and no data can be there, and which is not among the kept ones.

    >>> is_asset("http://example.org/logo.png"), is_asset("http://example.org/File:Logo.png")
    (True, False)
    """
    extension = extension_of(url)
    if not extension or extension in kept:
        return False
    if extension not in _ASSET_TEXT and extension_kind(extension) is not ContentKind.BINARY:
        return False
    return ":" not in url[url.rfind("/") :]  # on a wiki, `File:Logo.png` is a page about an image
