"""What the user may say about links."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from motherlode.model import ContentKind, Problem
from motherlode.www.media_types import MEDIA, extension_of
from motherlode.www.urls import MAX_URL_LENGTH, canonical, is_plain_path, origin_of, resolve

MAX_TEXT = 120
"""Characters of any text that goes with a link."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkOptions:
    """Options of the extract phase."""

    follow_vocabulary: bool = False
    """Follow classes and other terms of vocabularies, too. They are few, and every page names them again."""
    predicates: frozenset[str] | None = None
    """Only IRIs that statements with one of these predicates mention; None means any predicate."""
    kept_extensions: frozenset[str] = frozenset()
    """Follow links with these extensions, although no page can be there: a service or transformer wants them."""
    outside: Callable[[str], bool] | None = None
    """Tells of an address that nobody will follow it; what HTML and facts say of it need not be read then."""
    page_links: int = 5_000
    """Most links that one page may give."""
    sitemap_links: int = 50_000
    """Most links that one sitemap may give: what the protocol allows it to hold."""

    def most_links(self, kind: ContentKind) -> int:
        return self.sitemap_links if kind is ContentKind.SITEMAP else self.page_links


TOO_LONG = Problem(syntax=None, message=f"addresses of more than {MAX_URL_LENGTH:,} characters are not followed")
"""What is told where a page has such."""


def too_many(most: int) -> Problem:
    """What is told where a page has more links than it may give."""
    return Problem(syntax=None, message=f"a page gives {most:,} links at most: what came after them was left out")


# ── From a reference on a page to the address of another page, or to nothing.

_ASSET_EXTENSIONS = frozenset({"css", "js", "mjs", *MEDIA[ContentKind.BINARY].extensions})
_ALSO_NAMES = frozenset({"js", "exe", "dll", "so", "ps", "class", "bin", "iso", "mobi"})
"""Extensions with which names of things end, too: Node.js, Cmd.exe, and the sites of Somalia and Palestine."""
_AMONG_TITLES = re.compile(r"/(?:wiki|resource|entity|page|concept|topics?|tags?|tagged)/[^/]+\Z")
"""Ends a path in whose last folder things stand by their names."""
_AMONG_FILES = re.compile(
    r"/(?:_?static|_next|_nuxt|assets?|bin|build|bundles?|classes|css|dist|downloads?|files?|js|javascripts?|libs?"
    r"|node_modules|scripts?|sdk|uploads?|vendors?|wp-content|wp-includes)/"
    r"|[.-](?:min|bundle|slim|umd|esm)\.\w+(?:\?|\Z)|[0-9]\.[0-9][^/?]*(?:\?|\Z)|[.-][0-9a-f]{8,}\.\w+(?:\?|\Z)"
    r"|\?(?:v|ver|version|rev|t|ts)=",
    re.IGNORECASE,
)
"""What else in an address shows that it is a file's: its folder, a version or digest in its name or behind it."""
_LEADS_TO_FILES = re.compile(r"(?:download|install|content|(?<!pro)files?|stylesheet|enclosure)[^/#]*\Z", re.IGNORECASE)
"""Ends a predicate whose objects are files."""
_LONG = 2000
"""Characters of a path that may make an address too long."""
_MOST_KNOWN = 65536
_LONGEST_KNOWN = 250
"""References that are remembered, and their characters: some ten megabytes, for sites that come by turns."""
_SPACES = " \t\n\f\r"
_ANY_HOST = "http://host.invalid"
"""Stands for the host where it does not matter which."""
_OTHER_HOST = re.compile(r"/[/\\\t\n\r]")
"""Begins what may name a host of its own: browsers read a backslash as a slash, and leave out line ends."""
_STEPS_UP = re.compile(r"(?:\./)?+((?:\.\./)*+)(?=\w|\Z)")
"""Begins a relative reference that means what its folder and the rest of it mean, written one behind the other."""


class HrefResolver:
    """Resolves the references of one page.

    >>> addresses = Addresses("http://example.org/a/b")
    >>> [addresses.page(it) for it in ("c", "/d#e", "#top", "mailto:x@example.org", "//other.example/", "logo.png")]
    ['http://example.org/a/c', 'http://example.org/d', None, None, 'http://other.example/', None]
    """

    def __init__(self, base: str, kept: frozenset[str] = frozenset()) -> None:
        self._base = base
        self._kept = kept
        """Extensions of what would be an asset, if the user had no use for it."""
        self._root = origin_of(base) + "/" if base.startswith("http") else base
        self._canonical_root = _canonical_root(self._root)
        """What may be put before a canonical path; empty where the base is not of the web."""
        self._known = _known_answers(kept) if self._canonical_root else {}
        self._folders: dict[str, str] = {}
        """Steps up from the base's folder → the path that they lead to; made for the first relative reference."""

    def page(self, reference: str) -> str | None:
        """The canonical address, or None for what is no page: a place on the same page, another scheme, an asset."""
        answer = self._known.get(reference, "")
        if answer:
            return self._canonical_root + answer if answer[0] == "/" else answer
        return None if answer is None else self._page(reference)

    def _page(self, reference: str) -> str | None:
        text = reference.strip(_SPACES)
        if not text or text[0] == "#" or len(text) > MAX_URL_LENGTH:
            return None
        if text[0] == "/":
            return self._below_root(text)
        if text.startswith(("http://", "https://")):
            url = _page_at(_ANY_HOST, text, self._kept)
            _keep(self._known, reference, url)
            return url
        if text[0] == "?":  # the one kind of reference for which the last segment of the base matters
            return _page_at(self._base, text, self._kept)
        return self._below_folder(text)

    def _below_root(self, reference: str) -> str | None:
        path = _path_on_any_host(reference, self._kept) if self._canonical_root else ""
        if path == "":
            return _remembered(self._root, reference, self._kept)
        _keep(self._known, reference, path)
        return path and self._canonical_root + path

    def _below_folder(self, reference: str) -> str | None:
        """As a reference from the root, if that is easily made: many pages of a site have the same of those."""
        if not self._folders:
            self._folders[""] = self._plain_folder()
        steps = _STEPS_UP.match(reference) if self._folders[""] and ":" not in reference else None
        if steps is None:
            return _remembered(_folder(self._base), reference, self._kept)
        up = steps[1]
        folder = self._folders.get(up)
        if folder is None:
            folder = self._folders[up] = _above(self._folders[""], len(up) // 3)
        return self.page(folder + reference[steps.end() :])

    def _plain_folder(self) -> str:
        """The path of the base's folder; "" where it is not canonical as it stands."""
        path = _folder(self._base)[len(self._root) - 1 :]
        return path if self._canonical_root and is_plain_path(path) and len(path) < _LONG else ""


def _folder(base: str) -> str:
    """All of an address that matters for relative references."""
    path = base.partition("#")[0].partition("?")[0]
    return path[: path.rfind("/") + 1] if path.count("/") > 2 else base


def _above(folder: str, steps: int) -> str:
    """The folder so many steps above; above the root there is only the root.

    >>> _above("/a/b/", 1), _above("/a/b/", 3)
    ('/a/', '/')
    """
    return folder.rsplit("/", steps + 1)[0] + "/"


@lru_cache(maxsize=4096)
def _canonical_root(root: str) -> str:
    return (canonical(root) or "").removesuffix("/")


@lru_cache(maxsize=8)
def _known_answers(kept: frozenset[str]) -> dict[str, str | None]:
    """What references mean on any page: a path where they begin with a slash, an address where they have a host.

    Navigation says the same on every page of a site, and sites made with the same software say the same.
    """
    return {}


def _keep(known: dict[str, str | None], reference: str, answer: str | None) -> None:
    if len(known) >= _MOST_KNOWN:
        known.clear()  # what is asked for often is soon back
    if len(reference) <= _LONGEST_KNOWN:
        known[reference] = answer


def _path_on_any_host(reference: str, kept: frozenset[str]) -> str | None:
    """The canonical path that a reference from the root means; "" where the host must be known, None for assets."""
    path = reference.partition("#")[0]
    if not is_plain_path(path):
        url = None if _OTHER_HOST.match(reference) else resolve(_ANY_HOST, reference)
        path = url[len(_ANY_HOST) :] if url else ""
    if len(path) >= _LONG:
        return ""
    return None if is_asset(_ANY_HOST + path, kept) else path


@lru_cache(maxsize=4096)
def _remembered(base: str, reference: str, kept: frozenset[str]) -> str | None:
    return _page_at(base, reference, kept)


def _page_at(base: str, reference: str, kept: frozenset[str]) -> str | None:
    url = resolve(base, reference)
    return None if url is None or is_asset(url, kept) else url


def is_asset(url: str, kept: frozenset[str] = frozenset()) -> bool:
    """An address whose extension says that no page and no data can be there, and which is not among the kept ones.

    Some extensions are ends of names, too. What they end is a page where things stand by their names, as on a wiki; and
    so it is with `.js` anywhere, unless the address has more of a file's: few links lead to scripts (14 in the 9,510
    pages of our corpus), and to ask for one in vain costs little.

    >>> is_asset("http://example.org/logo.png"), is_asset("http://example.org/File:Logo.png")
    (True, False)
    >>> is_asset("https://github.com/mrdoob/three.js"), is_asset("http://example.org/static/three.js")
    (False, True)
    >>> is_asset("http://example.org/setup.exe"), is_asset("http://example.org/wiki/Cmd.exe")
    (True, False)
    """
    path = url.partition("#")[0].partition("?")[0]
    ending = path[path.rfind(".") + 1 :].lower()
    if ending not in _ASSET_EXTENSIONS or ending in kept:  # so it is with most, and they need no closer look
        return False
    if extension_of(url) != ending or ":" in url[url.rfind("/") :]:  # on a wiki, `File:Logo.png` is a page
        return False
    if ending not in _ALSO_NAMES:
        return True
    return not _AMONG_TITLES.search(path) and (ending != "js" or _AMONG_FILES.search(url) is not None)


def is_name(url: str, predicate: str) -> bool:
    """Whether an address that would be an asset on a page is, in a statement with this predicate, the name of a thing.

    >>> is_name("http://example.org/id/Cmd.exe", "http://www.w3.org/2002/07/owl#sameAs")
    True
    >>> is_name("http://example.org/setup.exe", "https://schema.org/downloadUrl")
    False
    """
    return extension_of(url) in _ALSO_NAMES and not _AMONG_FILES.search(url) and not _LEADS_TO_FILES.search(predicate)
