"""Options for links, and the resolution of references in a page to canonical URLs of other pages."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from motherlode.model import ContentKind, Problem
from motherlode.www.media_types import MEDIA, extension_of
from motherlode.www.urls import MAX_URL_LENGTH, canonical, is_plain_path, origin_of, resolve

MAX_TEXT_CHARACTERS = 120
"""Maximum number of characters in each text of a link."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkOptions:
    """Options of the links phase."""

    kept_extensions: frozenset[str] = frozenset()
    """Extensions of assets that are followed because a service or extractor needs them."""
    outside: Callable[[str], bool] | None = None
    """Returns whether a URL will not be followed. Its texts and context are then not read."""
    element_ids: bool = False
    """Whether links have `element_ids`."""
    context_graph: bool = False
    """Whether links have `properties` and `sibling_groups`."""
    page_links: int = 5_000
    sitemap_links: int = 50_000
    """Maximum number of links per sitemap: the limit of the protocol."""

    def max_links(self, kind: ContentKind) -> int:
        return self.sitemap_links if kind is ContentKind.SITEMAP else self.page_links


TOO_LONG = Problem(syntax=None, message=f"URLs of more than {MAX_URL_LENGTH:,} characters are not followed")


def too_many_links(limit: int) -> Problem:
    return Problem(syntax=None, message=f"a page gives {limit:,} links at most: the rest was left out")


# Resolution of references --------------------------------------------------------------------------------------------

_ASSET_EXTENSIONS = frozenset({"css", "js", "mjs", *MEDIA[ContentKind.BINARY].extensions})
_NAME_EXTENSIONS = frozenset({"js", "exe", "dll", "so", "ps", "class", "bin", "iso", "mobi"})
"""Extensions that are also the end of names: Node.js, Cmd.exe, and the domains of Somalia and Palestine."""
_IN_TITLE_FOLDER = re.compile(r"/(?:wiki|resource|entity|page|concept|topics?|tags?|tagged)/[^/]+\Z")
"""The end of a path whose last folder contains pages named after things."""
_LOOKS_LIKE_FILE = re.compile(
    r"/(?:_?static|_next|_nuxt|assets?|bin|build|bundles?|classes|css|dist|downloads?|files?|js|javascripts?|libs?"
    r"|node_modules|scripts?|sdk|uploads?|vendors?|wp-content|wp-includes)/"
    r"|[.-](?:min|bundle|slim|umd|esm)\.\w+(?:\?|\Z)|[0-9]\.[0-9][^/?]*(?:\?|\Z)|[.-][0-9a-f]{8,}\.\w+(?:\?|\Z)"
    r"|\?(?:v|ver|version|rev|t|ts)=",
    re.IGNORECASE,
)
"""Other signs that a URL is a file: its folder, or a version or digest in its name or query."""
_FILE_PREDICATE = re.compile(r"(?:download|install|content|(?<!pro)files?|stylesheet|enclosure)[^/#]*\Z", re.IGNORECASE)
"""The end of a predicate whose objects are files."""
_LONG_PATH_CHARACTERS = 2000
"""Paths of this length or more are not cached, because together with the host their URL may be too long."""
_MAX_CACHED = 65536
_MAX_CACHED_CHARACTERS = 250
"""Maximum number of cached references and of characters in each: about 10 MB, enough for several sites at a time."""
_SPACES = " \t\n\f\r"
_ANY_HOST = "http://host.invalid"
_OTHER_HOST = re.compile(r"/[/\\\t\n\r]")
"""The start of a reference that may contain a host. Browsers read `\\` as `/` and ignore line breaks."""
_STEPS_UP = re.compile(r"(?:\./)?+((?:\.\./)*+)(?=\w|\Z)")
"""The start of a relative reference that can be resolved by concatenating a folder and a relative path."""


class HrefResolver:
    """Resolves the references of one page.

    >>> resolver = HrefResolver("http://example.org/a/b")
    >>> [resolver.page(it) for it in ("c", "/d#e", "#top", "mailto:x@example.org", "//other.example/", "logo.png")]
    ['http://example.org/a/c', 'http://example.org/d', None, None, 'http://other.example/', None]
    """

    def __init__(self, base: str, kept: frozenset[str] = frozenset()) -> None:
        self._base = base
        self._kept = kept
        """Extensions that do not count as assets."""
        self._root = origin_of(base) + "/" if base.startswith(("http://", "https://")) else base
        self._canonical_root = _canonical_root(self._root)
        """Canonical scheme and host of the base, to which canonical paths are appended. Empty if it is not an http(s)
        URL."""
        self._cache = _reference_cache(kept) if self._canonical_root else {}
        self._folders: dict[str, str] = {}
        """`../` steps from the folder of the base → path. Filled at the first relative reference."""

    def page(self, reference: str) -> str | None:
        """Return the canonical URL, or None if it is no page: a fragment of this page, another scheme, or an asset."""
        result = self._cache.get(reference, "")
        if result:
            return self._canonical_root + result if result[0] == "/" else result
        return None if result is None else self._resolve(reference)

    def _resolve(self, reference: str) -> str | None:
        text = reference.strip(_SPACES)
        if not text or text[0] == "#" or len(text) > MAX_URL_LENGTH:
            return None
        if text[0] == "/":
            return self._resolve_from_root(text)
        if text.startswith(("http://", "https://")):
            url = _page_at(_ANY_HOST, text, self._kept)
            _store(self._cache, reference, url)
            return url
        if text[0] == "?":  # the only references that depend on the last segment of the base
            return _page_at(self._base, text, self._kept)
        return self._resolve_from_folder(text)

    def _resolve_from_root(self, reference: str) -> str | None:
        path = _path_on_any_host(reference, self._kept) if self._canonical_root else ""
        if path == "":
            return _cached_page_at(self._root, reference, self._kept)
        _store(self._cache, reference, path)
        return path and self._canonical_root + path

    def _resolve_from_folder(self, reference: str) -> str | None:
        """Return the URL of a relative reference.

        A simple one is first converted to a reference from the root, because resolved references from the root are
        cached for all pages of a site.
        """
        if not self._folders:
            path = _folder(self._base)[len(self._root) - 1 :]
            is_plain = self._canonical_root and is_plain_path(path) and len(path) < _LONG_PATH_CHARACTERS
            self._folders[""] = path if is_plain else ""  # only if it is canonical as written
        steps = _STEPS_UP.match(reference) if self._folders[""] and ":" not in reference else None
        if steps is None:
            return _cached_page_at(_folder(self._base), reference, self._kept)
        up = steps[1]
        folder = self._folders.get(up)
        if folder is None:
            steps_up = len(up) // 3  # at most to the root
            folder = self._folders[up] = self._folders[""].rsplit("/", steps_up + 1)[0] + "/"
        return self.page(folder + reference[steps.end() :])


def _folder(base: str) -> str:
    """Return a URL up to the last slash of its path, against which relative references are resolved."""
    path = base.partition("#")[0].partition("?")[0]
    return path[: path.rfind("/") + 1] if path.count("/") > 2 else base


@lru_cache(maxsize=4096)
def _canonical_root(root: str) -> str:
    return (canonical(root) or "").removesuffix("/")


@lru_cache(maxsize=8)
def _reference_cache(kept: frozenset[str]) -> dict[str, str | None]:
    """Return the cache of resolved references: a path for those that start with a slash, a URL for absolute ones.

    The pages of a site have the same navigation, and so have sites that use the same software.
    """
    return {}


def _store(cache: dict[str, str | None], reference: str, result: str | None) -> None:
    if len(cache) >= _MAX_CACHED:
        cache.clear()  # frequent references are soon cached again
    if len(reference) <= _MAX_CACHED_CHARACTERS:
        cache[reference] = result


def _path_on_any_host(reference: str, kept: frozenset[str]) -> str | None:
    """Return the canonical path of a reference from the root, "" if it depends on the host, None for assets."""
    path = reference.partition("#")[0]
    if not is_plain_path(path):
        url = None if _OTHER_HOST.match(reference) else resolve(_ANY_HOST, reference)
        path = url[len(_ANY_HOST) :] if url else ""
    if len(path) >= _LONG_PATH_CHARACTERS:
        return ""
    return None if is_asset(_ANY_HOST + path, kept) else path


def _page_at(base: str, reference: str, kept: frozenset[str]) -> str | None:
    url = resolve(base, reference)
    return None if url is None or is_asset(url, kept) else url


_cached_page_at = lru_cache(maxsize=4096)(_page_at)


def is_asset(url: str, kept: frozenset[str] = frozenset()) -> bool:
    """Return whether the extension of a URL shows that it is neither a page nor data, and is not in `kept`.

    Some extensions are also the end of names. Such a URL is a page in a folder of named things, as on a wiki. `.js` is
    a page anywhere, unless the URL has other signs of a file: few links lead to scripts (14 in the 9,510 pages of our
    corpus), and one useless request costs little.

    >>> is_asset("http://example.org/logo.png"), is_asset("http://example.org/File:Logo.png")
    (True, False)
    >>> is_asset("https://github.com/mrdoob/three.js"), is_asset("http://example.org/static/three.js")
    (False, True)
    >>> is_asset("http://example.org/setup.exe"), is_asset("http://example.org/wiki/Cmd.exe")
    (True, False)
    """
    path = url.partition("#")[0].partition("?")[0]
    ending = path[path.rfind(".") + 1 :].lower()
    if ending not in _ASSET_EXTENSIONS or ending in kept:  # most URLs need no closer look
        return False
    if extension_of(url) != ending or ":" in url[url.rfind("/") :]:  # on a wiki, `File:Logo.png` is a page
        return False
    if ending not in _NAME_EXTENSIONS:
        return True
    return not _IN_TITLE_FOLDER.search(path) and (ending != "js" or _LOOKS_LIKE_FILE.search(url) is not None)


def is_name(url: str, predicate: str) -> bool:
    """Return whether a URL that looks like an asset is the name of a thing in a statement with this predicate.

    >>> is_name("http://example.org/id/Cmd.exe", "http://www.w3.org/2002/07/owl#sameAs")
    True
    >>> is_name("http://example.org/setup.exe", "https://schema.org/downloadUrl")
    False
    """
    return (
        extension_of(url) in _NAME_EXTENSIONS
        and not _LOOKS_LIKE_FILE.search(url)
        and not _FILE_PREDICATE.search(predicate)
    )
