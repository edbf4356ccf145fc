"""The name of an arm: which links of a host are treated alike, told by where they lead and how they were found.

A name is host, path pattern, depth, extension, manner and place, with tabs between. Where many such links stand on one
page, they are an arm of their own, with a number for the page at the end: what one of them is, the others are. A name
says everything that the policy wants to know about its links, so nothing has to be kept for an arm until one of its
links was tried: a frontier with ten million URLs costs the policy no more than the names, which the frontier holds
anyway.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple
from zlib import crc32

from motherlode.model import Link, LinkSource, Outcome
from motherlode.www.media_types import MEDIA

TAB = "\t"
HOME = "^"
"""The pattern of a host's home page."""
ANY = "*"
_MOST_CACHED = 1 << 16
_MOST_PATTERNS = 32
"""Path patterns of one host; beyond them, paths are told apart by their depth alone, and other queries not at all."""
_MOST_ARMS = 256
"""Arms of one host; beyond them, by their extension alone."""
_MOST_LISTS = 128
"""Arms of one host up to which lists become arms of their own."""
_MOST_UNTRIED = 8
"""Waiting arms that are remembered of a host before it is tried."""
_MOST_PARAMETERS = 4
"""Of a query; what stands behind them is not looked at."""
_MOST_NAMES = 16
"""Parameters of one host whose values are looked at."""
_MOST_VALUES = 7
"""Words that a parameter is given: where there are more, they are not told apart."""
_MOST_SCRIPTS = 16
"""Of one host; others are told apart by their parameters alone."""
_LONGEST_EXTENSION = 7
_LONGEST_PLACE = 40
_DEEPEST = 4
_PARTS = 6
"""Of a name, without the page."""
_MANNER = 4
"""Its place among the parts."""
_BY_SEED = f"{TAB}{LinkSource.SEED.value}{TAB}"
"""The end of the names of seeds, which have no place in a page."""

_WORD = re.compile(r"[a-z][a-z_-]{0,14}", re.IGNORECASE)
_DIGITS = re.compile(r"\d+")
_EXTENSION = re.compile(r"[a-z][a-z0-9]*", re.IGNORECASE)

_RDF_TYPES = frozenset(media for kind in MEDIA for media in MEDIA[kind].media_types if MEDIA[kind].is_rdf)
_FEED_TYPES = frozenset({"application/rss+xml", "application/atom+xml"})


class ArmKey(NamedTuple):
    """The parts of a name."""

    host: str
    pattern: str
    """The first two folders, with numbers and long words generalised; `^` for the home page. Where there is a query,
    then `?`, the name of the script, and the parameters."""
    depth: str
    extension: str
    """With its dot; `/` for a folder, and a `?` at the end where there is a query."""
    manner: str
    """The link's source, with what its rel or type announces; `@` and the host of the page for links between hosts."""
    place: str
    """The last two steps of the tag path."""
    page: str = ""
    """A number for the page on which the links stand, where that is a list of them."""


def parsed(name: str) -> ArmKey:
    """The parts of a name that `ArmKeyBuilder` gave.

    >>> parsed("example.org\\tnews/*\\t2\\t.html\\tanchor\\tli a").extension
    '.html'
    """
    return ArmKey(*name.split(TAB))


def list_of(kind: str, page: str) -> str:
    """The arm of those links of an arm that stand on one page."""
    return f"{kind}{TAB}{crc32(page.encode()):x}"


def kind_of(name: str) -> str:
    """The arm without the page on which its links stand.

    >>> arm = "example.org\\tnews/*\\t2\\t.html\\tanchor\\tli a"
    >>> kind_of(list_of(arm, "http://example.org/")) == kind_of(arm) == arm
    True
    """
    return name if name.count(TAB) < _PARTS else name.rpartition(TAB)[0]


def is_cross_host(name: str) -> bool:
    """Whether the arm's links stand on pages of another host.

    >>> is_from_abroad("example.org\\t*\\t0\\t.html\\tanchor@a.org\\t")
    True
    """
    return "@" in name


def is_redirected_to(name: str) -> bool:
    """Whether the arm's links are where redirects lead.

    >>> is_redirected_to("example.org\\t*\\t0\\t.html\\tredirect@a.org\\t")
    True
    """
    return name.split(TAB, _MANNER + 1)[_MANNER].startswith(LinkSource.REDIRECT.value)


def is_inner_seed(name: str) -> bool:
    """Whether the crawl began with the arm's links, and they are not home pages.

    >>> is_inner_seed("example.org\\t*\\t0\\t.html\\tseed\\t"), is_inner_seed("example.org\\t^\\t0\\t/\\tseed\\t")
    (True, False)
    """
    return name.endswith(_BY_SEED) and parsed(name).pattern != HOME


class Queries:
    """Tells a host's addresses with a query apart: where scripts make all pages, they and their parameters are what
    folders are elsewhere.

    A value that is a word counts, too (`view=item`), as long as its parameter has few: `title` has as many as pages.
    """

    def __init__(self) -> None:
        self._scripts: set[str] = set()
        self._values: dict[str, set[str]] = {}
        """By parameter."""
        self._patterns: set[str] = set()

    def pattern(self, script: str, query: str) -> str:
        """
        >>> Queries().pattern("index.php", "view=item&id=7")
        '?index&view=item&id'
        """
        stem = generalised(script.partition(".")[0]) if script else ""
        told = ["?" + (stem if _has_place(stem, self._scripts, most=_MOST_SCRIPTS) else ANY)]
        for one in query.split("&", _MOST_PARAMETERS)[:_MOST_PARAMETERS]:
            parameter = self._parameter(*one.partition("="))
            if parameter not in told:
                told.append(parameter)
        pattern = "&".join(told)
        return pattern if _has_place(pattern, self._patterns, most=_MOST_PATTERNS) else "?"

    def _parameter(self, name: str, _: str, value: str) -> str:
        name = generalised(name)
        if not _WORD.fullmatch(value) or (name not in self._values and len(self._values) >= _MOST_NAMES):
            return name
        is_word = _is_one_of_few(value, self._values.setdefault(name, set()), most=_MOST_VALUES)
        return f"{name}={value}" if is_word else name


def _has_place(text: str, known: set[str], *, most: int) -> bool:
    """Whether a text is one of the first so many; remembers it, if it is."""
    if text in known:
        return True
    if len(known) >= most:
        return False
    known.add(text)
    return True


def _is_one_of_few(text: str, known: set[str], *, most: int) -> bool:
    """Whether there are no more texts than so many, this one included; remembers it."""
    if len(known) > most:
        return False
    known.add(text)
    return len(known) <= most


class ArmKeyBuilder:
    """Gives links their arms. Remembers the patterns of hosts that were tried, so that their number stays bounded."""

    def __init__(self, *, places: int = 2) -> None:
        self._places = places
        """Steps of the tag path that count."""
        self._paths: dict[tuple[str, str, str, str], str] = {}
        self._queries: dict[str, Queries] = {}
        self._manners: dict[tuple[LinkSource, str, str, str], tuple[str, str]] = {}
        self._patterns: dict[str, set[str]] = {}
        self._untried: dict[str, tuple[str, ...]] = {}
        self._arms: dict[str, dict[str, None]] = {}
        """Only of hosts that were tried: of others a crawl knows too many."""

    def arm(self, link: Link, parent: Outcome | None) -> str:
        """The arm of one link."""
        url = link.url
        start = url.find("://") + 3
        slash = url.find("/", start)
        host, path = (url[start:slash], url[slash + 1 :]) if slash > 0 else (url[start:], "")
        path, mark, query = path.partition("?")
        folder, _, last = path.rpartition("/")
        extension = extension_of(last) + mark
        arms = self._arms.get(host)
        if arms is None:
            pattern = ANY if path else HOME
            abroad = f"@{parent.host}" if parent is not None and parent.host != host else ""
            return f"{host}\t{pattern}\t0\t{extension}\t{manner_of(link.source, link.rel, link.type)}{abroad}\t"
        asked = self._asked(host, last, query) if mark else ""
        where = self._paths.get((host, folder, extension, asked))
        if where is None:
            where = self._where(host, folder, last, extension, asked)
        how = (link.source, link.rel, link.type, link.tag_path)
        known = self._manners.get(how)
        if known is None:
            known = self._manners_of(how)
        manner, place = known
        if parent is not None and parent.host != host:
            manner = f"{manner}@{parent.host}"
        name = f"{host}\t{where}\t{manner}\t{place}"
        if name not in arms:
            if len(arms) >= _MOST_ARMS:
                return f"{host}\t{ANY}\t0\t{extension}\tanchor\t"
            arms[name] = None
        return name

    def lists(self, found: Mapping[str, int], page: str, *, least: int) -> dict[str, str]:
        """Arms of which at least so many new links stand on one page, each with the arm of these links alone.

        Hosts that were not tried have no lists: there may be a million of them, and nothing tells them apart.
        """
        return {arm: list_of(arm, page) for arm, links in found.items() if links >= least and self._has_room(arm)}

    def _has_room(self, arm: str) -> bool:
        arms = self._arms.get(arm.partition(TAB)[0])
        return arms is not None and len(arms) < _MOST_LISTS

    def remember(self, host: str, arm: str) -> None:
        """An arm of the host waits. Of a host that was not tried yet, a few are enough."""
        arms = self._arms.get(host)
        if arms is not None:
            arms[arm] = None
            return
        waiting = self._untried.get(host, ())
        if arm not in waiting:
            self._untried[host] = (*waiting, arm)[:_MOST_UNTRIED]

    def tell_apart(self, host: str) -> Iterable[str]:
        """The host was tried: from now on its links are told apart by path and place. Gives its arms, in order."""
        arms = self._arms.get(host)
        if arms is None:
            arms = self._arms[host] = dict.fromkeys(self._untried.pop(host, ()))
        return arms

    def _asked(self, host: str, script: str, query: str) -> str:
        queries = self._queries.get(host)
        if queries is None:
            queries = self._queries[host] = Queries()
        return queries.pattern(script, query)

    def _where(self, host: str, folder: str, last: str, extension: str, asked: str) -> str:
        """Pattern, depth and extension."""
        folders = folder.split("/") if folder else []
        depth = len(folders)
        general = [generalised(text) for text in folders[:2]]
        if general and not last and depth <= len(general):  # in /news/some-title/ the last folder is the page itself
            general[-1] = ANY
        pattern = "/".join(general) if last or folders else HOME
        patterns = self._patterns.setdefault(host, set())
        if pattern not in patterns:
            if len(patterns) >= _MOST_PATTERNS:
                pattern = "/".join(ANY for _ in general)
            patterns.add(pattern)
        where = f"{pattern}{asked}\t{min(depth, _DEEPEST)}\t{extension}"
        if len(self._paths) >= _MOST_CACHED:
            self._paths.clear()
        self._paths[host, folder, extension, asked] = where
        return where

    def _manners_of(self, how: tuple[LinkSource, str, str, str]) -> tuple[str, str]:
        if len(self._manners) >= _MOST_CACHED:
            self._manners.clear()
        source, rel, media, tag_path = how
        steps = tag_path.split(" ")[-self._places :] if tag_path and self._places else []
        place = _DIGITS.sub("#", " ".join(steps))[:_LONGEST_PLACE].replace(TAB, " ").replace("@", "")
        found = self._manners[how] = (manner_of(source, rel, media), place)
        return found


def extension_of(last: str) -> str:
    """The extension of a path's last step, `/` where there is none because the path is a folder.

    >>> extension_of("T21.RDF"), extension_of("about"), extension_of(""), extension_of("v1.0")
    ('.rdf', '', '/', '')
    """
    if not last:
        return "/"
    dot = last.rfind(".")
    if dot < 0 or not 1 < len(last) - dot <= _LONGEST_EXTENSION or not _EXTENSION.fullmatch(last, dot + 1):
        return ""
    return last[dot:].lower()


def generalised(folder: str) -> str:
    """A folder as it is told from others: short words as they are, what has digits as `#`, the rest as `*`.

    >>> [generalised(text) for text in ("news", "2019", "obj_100109", "a-title-that-goes-on-and-on")]
    ['news', '#', '#', '*']
    """
    if _WORD.fullmatch(folder):
        return folder
    return "#" if _DIGITS.search(folder) else ANY


def manner_of(source: LinkSource, rel: str, media: str) -> str:
    """How a link was found, and what is announced about it.

    >>> manner_of(LinkSource.LINK_ELEMENT, "alternate", "text/turtle"), manner_of(LinkSource.ANCHOR, "", "")
    ('link:rdf', 'anchor')
    """
    if media in _RDF_TYPES:
        return f"{source.value}:rdf"
    if media in _FEED_TYPES:
        return f"{source.value}:feed"
    if rel and source is LinkSource.LINK_ELEMENT:
        return f"{source.value}:{_DIGITS.sub('#', rel.split()[0])[:12].replace(TAB, '').replace('@', '')}"
    return source.value


# ── What an arm's name says, as features: some that hold on every host, some that hold on its host alone.

GENERAL = 7
"""So many features stand first that hold on every host."""


Features = tuple[str, ...]


def family_of(name: str) -> str:
    """The arms of the same host whose links look alike: what is known of one is expected of the others at first.

    >>> family_of("example.org\\tnews/*\\t2\\t.html\\tanchor@a.org\\tli.item a")
    'example.org .html'
    """
    parts = name.split(TAB, 4)
    return f"{parts[0]} {parts[3]}"


def features_of(name: str) -> Features:
    """The features of an arm: first those that hold on every host.

    >>> features_of("example.org\\tnews/*\\t2\\t.html\\tanchor\\tli.item a")[:GENERAL]
    ('bias', 'ext .html', 'by anchor', 'ext .html by anchor', 'depth 2 .html', 'in li a', 'folder news')
    """
    host, pattern, depth, extension, manner, place, _ = parsed(name)
    source, _, abroad = manner.partition("@")
    if abroad:
        source += "@"
    folder = pattern.partition("?")[0].partition("/")[0]
    elements = " ".join(step.partition(".")[0] for step in place.split(" "))
    general = (
        "bias",
        f"ext {extension}",
        f"by {source}",
        f"ext {extension} by {source}",
        f"depth {depth} {extension}",
        f"in {elements}",
        f"folder {folder}",
    )
    own = (
        f"{host}",
        f"{host} ext {extension}",
        f"{host} folder {folder}",
        f"{host} path {pattern} {depth} {extension}",
        f"{host} in {place} {extension[-1:]}",
    )
    return (*general, *own, f"from {abroad}") if abroad else general + own
