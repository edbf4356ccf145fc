"""Arm keys: which links of a host are treated alike, and the features of these links.

An arm is a group of links of one host that lead to similar URLs and were found in a similar way. `ArmKey` has the
parts: host, path pattern, depth, extension, link source, linking host, and position in the page. If a page has many new
links of one arm, these links are an arm of their own with an identifier of the page: a *hub arm*. The arm without this
identifier is its *base arm*.

Outside of this package an arm is an opaque string, for example in `Rating.arm`, in the frontier and in saved models.
`str(key)` makes this string and `ArmKey.parse` reads it. Because the string contains everything that the policy uses as
features, the policy stores nothing per arm until one of its links was tried. A frontier with ten million URLs costs the
policy only the strings that the frontier stores anyway.

The features of an arm are of two kinds. Features that are the same on every host say which kinds of links are worth a
request anywhere. Features of one host are learned faster, because pages of one template are alike.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from zlib import crc32

import msgspec

from motherlode.model import Link, LinkSource, Outcome
from motherlode.www.media_types import MEDIA, file_extension

HOME_PATTERN = "^"
"""The path pattern of a host's home page."""
ANY = "*"
GENERAL_FEATURES = 7
"""Number of features of an arm that are the same on every host. They come first."""
_SEPARATOR = "\t"
_CROSS_HOST_MARK = "@"
"""Separates the source and the linking host in the string of a key."""
WORDS_MARK = "+words"
"""End of the source of a link that has words of the target."""
_BASE_PARTS = 6
"""Number of parts in the string of a base arm; a hub arm has one more."""

_MAX_CACHED = 1 << 16
_MAX_PATTERNS_PER_HOST = 32
"""Further paths are distinguished by their depth only, and further queries not at all."""
_MAX_ARMS_PER_HOST = 256
"""Further arms are distinguished by their extension only."""
_MAX_ARMS_FOR_HUBS = 128
"""A host with this many arms gets no further hub arms."""
_MAX_WAITING_ARMS_OF_UNSEEN_HOST = 8
_MAX_PARAMETERS_WITH_VALUES = 16
"""Maximum number of parameters of one host whose values are looked at."""
_MAX_VALUES_PER_PARAMETER = 7
"""If a parameter has more values, its values are not distinguished."""
_MAX_SCRIPTS_PER_HOST = 16
"""Further scripts are distinguished by their parameters only."""
_MAX_TAG_PATH_CHARACTERS = 128
"""Two steps have more only if an element has a very long name."""
_MAX_URL_PARTS = 4
"""Further folders of a path, and further parameters of a query, are not counted."""
_MAX_WORD_LETTERS = 15

_WORD = re.compile(r"[a-z][a-z_-]*", re.IGNORECASE)
_DIGITS = re.compile(r"\d+")
_EXTENSION = re.compile(r"[a-z][a-z0-9]*")

_RDF_TYPES = frozenset(media for kind in MEDIA for media in MEDIA[kind].media_types if MEDIA[kind].is_rdf)
_WITHOUT_WORDS = frozenset({LinkSource.SEED, LinkSource.REDIRECT})
"""Sources of links whose words say nothing more: the user or another link chose their URLs."""
_FEED_TYPES = frozenset({"application/rss+xml", "application/atom+xml"})

Features = tuple[str, ...]


class ArmKey(msgspec.Struct, frozen=True, dict=True):
    """The parts of an arm.

    >>> key = ArmKey.parse("example.org\\tnews/*\\t2\\t.html\\tanchor@a.org\\tli a")
    >>> key.pattern, key.depth, key.source, key.from_host, key.hub_id
    ('news/*', 2, 'anchor', 'a.org', '')
    """

    host: str
    pattern: str
    """The first two directories of the path, with numbers and long words generalized; `^` for the home page. If the URL
    has a query, followed by `?`, the name of the script, and the parameters."""
    depth: int
    """Number of directories in the path, at most 4."""
    extension: str
    """File extension with its dot; `/` for a directory. Ends with `?` if the URL has a query."""
    source: str
    """Source of the link, with `:` and what the link's type or rel announces, if anything: `anchor`, `link:rdf`. Ends
    with `+words` if the link has words of the target."""
    from_host: str = ""
    """For a cross-host link, the host of the page that contains the link; "" for a link within one host."""
    tag_path: str = ""
    """The last steps of the tag path of the link."""
    hub_id: str = ""
    """Identifier of the page with the links if this is a hub arm; "" for a base arm."""

    @classmethod
    def parse(cls, arm: str) -> ArmKey:
        """Read the string of an arm. Keys are cached.

        Raises ValueError if the string is not an arm key, for example because another version made it.
        """
        key = _parsed_keys.get(arm)
        if key is None:
            if len(_parsed_keys) >= _MAX_CACHED:
                _parsed_keys.clear()
            key = _parsed_keys[arm] = _parse(arm)
        return key

    def __str__(self) -> str:
        location = _join_location(self.pattern, self.depth, self.extension)
        base = _join_base(self.host, location, _join_origin(self.source, self.from_host), self.tag_path)
        return f"{base}{_SEPARATOR}{self.hub_id}" if self.hub_id else base

    @cached_property
    def base_arm(self) -> str:
        return str(msgspec.structs.replace(self, hub_id=""))

    @cached_property
    def hostless(self) -> str:
        """The string of the arm without its host: the same for equal links to different hosts."""
        return str(self)[len(self.host) + len(_SEPARATOR) :]

    @cached_property
    def family(self) -> str:
        """Identifier of the arms of the same host with the same extension."""
        return f"{self.host} {self.extension}"

    @property
    def is_hub(self) -> bool:
        return bool(self.hub_id)

    @cached_property
    def is_redirect_target(self) -> bool:
        return self.source.startswith(LinkSource.REDIRECT.value)

    @cached_property
    def is_inner_seed(self) -> bool:
        """Whether the links are seeds of the crawl that are not home pages."""
        is_seed = self.source == LinkSource.SEED.value and not (self.from_host or self.tag_path)
        return is_seed and self.pattern != HOME_PATTERN

    @cached_property
    def features(self) -> Features:
        """The features of the links: first `GENERAL_FEATURES` that are the same on every host, then those of the host.

        >>> ArmKey.parse("example.org\\tnews/*\\t2\\t.html\\tanchor\\tli.item a").features[:GENERAL_FEATURES]
        ('bias', 'ext .html', 'by anchor', 'ext .html by anchor', 'depth 2 .html', 'in li a', 'folder news')
        """
        host, extension = self.host, self.extension
        source = self.source + _CROSS_HOST_MARK if self.from_host else self.source
        directory = self.pattern.partition("?")[0].partition("/")[0]
        elements = " ".join(step.partition(".")[0] for step in self.tag_path.split(" "))
        general = (
            "bias",
            f"ext {extension}",
            f"by {source}",
            f"ext {extension} by {source}",
            f"depth {self.depth} {extension}",
            f"in {elements}",
            f"folder {directory}",
        )
        of_host = (
            f"{host}",
            f"{host} ext {extension}",
            f"{host} folder {directory}",
            f"{host} path {self.pattern} {self.depth} {extension}",
            f"{host} in {self.tag_path} {extension[-1:]}",
        )
        return (*general, *of_host, f"from {self.from_host}") if self.from_host else general + of_host


_parsed_keys: dict[str, ArmKey] = {}


def _parse(arm: str) -> ArmKey:
    parts = arm.split(_SEPARATOR)
    if not _BASE_PARTS <= len(parts) <= _BASE_PARTS + 1:
        raise ValueError(f"{arm!r} is not the key of an arm: it has {len(parts)} parts instead of {_BASE_PARTS}")
    host, pattern, depth, extension, origin, *rest = parts
    source, _, from_host = origin.partition(_CROSS_HOST_MARK)
    return ArmKey(host, pattern, int(depth), extension, source, from_host, *rest)


def _join_location(pattern: str, depth: int, extension: str) -> str:
    return f"{pattern}\t{depth}\t{extension}"


def _join_origin(source: str, from_host: str) -> str:
    return f"{source}{_CROSS_HOST_MARK}{from_host}" if from_host else source


def _join_base(host: str, location: str, origin: str, tag_path: str) -> str:
    return f"{host}\t{location}\t{origin}\t{tag_path}"


def without_host(arm: str) -> str:
    """Return the part of an arm's name after its host."""
    return arm.partition(_SEPARATOR)[2]


def host_of_arm(arm: str) -> str:
    """Return the host of an arm, without parsing the rest of its name."""
    return arm.partition(_SEPARATOR)[0]


def host_of_feature(feature: str) -> str:
    """Return the host of a feature of one host, or of the feature of the links from one host.

    >>> [host_of_feature(feature) for feature in ("a.example ext .html", "from b.example")]
    ['a.example', 'b.example']
    """
    first, _, rest = feature.partition(" ")
    return rest if first == "from" else first


def describe_arm(arm: str) -> str:
    """Return the text of an arm for people. Strings that are not arm keys are returned with spaces for tabs.

    >>> describe_arm("example.org\\tnews/*\\t2\\t.html\\tanchor\\tli a")
    'example.org news/* depth 2 .html, by anchor in li a'
    """
    try:
        key = ArmKey.parse(arm)
    except ValueError:  # of another policy or version
        return arm.replace(_SEPARATOR, " ")
    location = " ".join(part for part in (key.host, key.pattern, f"depth {key.depth}", key.extension) if part)
    position = f" in {key.tag_path}" if key.tag_path else ""
    hub = f", on hub page {key.hub_id}" if key.hub_id else ""
    return f"{location}, by {_join_origin(key.source, key.from_host)}{position}{hub}"


def hub_arm(base_arm: str, page: str) -> str:
    """Return the arm of those links of a base arm that are on one page."""
    return f"{base_arm}{_SEPARATOR}{crc32(page.encode()):x}"


class QueryPatterns:
    """Generalizes the queries of one host's URLs: script and parameters identify the kind of a page.

    A value that is a word is kept (`view=item`) as long as its parameter has few values. A parameter such as `title`
    has as many values as there are pages.
    """

    def __init__(self) -> None:
        self.scripts: set[str] = set()
        self.values: dict[str, set[str]] = {}
        """Values by parameter."""
        self.patterns: set[str] = set()

    def pattern(self, script: str, query: str) -> str:
        """Return the pattern of a query.

        >>> QueryPatterns().pattern("index.php", "view=item&id=7")
        '?index&view=item&id'
        """
        stem = generalize(script.partition(".")[0]) if script else ""
        parts = ["?" + (stem if _is_among_first(stem, self.scripts, limit=_MAX_SCRIPTS_PER_HOST) else ANY)]
        for text in query.split("&", _MAX_URL_PARTS)[:_MAX_URL_PARTS]:
            name, _, value = text.partition("=")
            parameter = self._parameter(generalize(name), value)
            if parameter not in parts:
                parts.append(parameter)
        pattern = "&".join(parts)
        return pattern if _is_among_first(pattern, self.patterns, limit=_MAX_PATTERNS_PER_HOST) else "?"

    def _parameter(self, name: str, value: str) -> str:
        if not _is_word(value) or (name not in self.values and len(self.values) >= _MAX_PARAMETERS_WITH_VALUES):
            return name
        values = self.values.setdefault(name, set())
        if len(values) <= _MAX_VALUES_PER_PARAMETER:
            values.add(value)
        return f"{name}={value}" if len(values) <= _MAX_VALUES_PER_PARAMETER else name


def _is_among_first(text: str, known: set[str], *, limit: int) -> bool:
    """Return whether a text is one of the first `limit` distinct texts, and add it to `known` if it is."""
    if len(known) < limit:
        known.add(text)
    return text in known


class SavedHost(msgspec.Struct, omit_defaults=True):
    """The saved state of a host that was tried, so that its links get the same arms after a restart."""

    arms: list[str] = []
    patterns: list[str] = []
    scripts: list[str] = []
    values: dict[str, list[str]] = {}
    query_patterns: list[str] = []


class ArmKeyBuilder:
    """Assigns links to arms. It stores the patterns of hosts that were tried, so that the number of arms is bounded.

    Links to an unseen host are only distinguished by source, linking host, extension and whether they lead to the home
    page, because there may be a million unseen hosts.
    """

    def __init__(self, *, steps: int = 2) -> None:
        self.has_words: Callable[[Link], bool] | None = None
        """Returns whether a link has words of the target; None if the target has no words."""
        self._steps = steps
        """Number of first folders of the path, and of last steps of the tag path, in a key."""
        self._locations: dict[tuple[str, str, str, str], str] = {}
        """Cache: pattern, depth and extension, joined, by host, directories, extension and query pattern."""
        self._queries: dict[str, QueryPatterns] = {}
        self._origins: dict[tuple[LinkSource, str, str, str], tuple[str, str]] = {}
        """Cache: source and tag path of a key, by attributes of a link."""
        self._patterns: dict[str, set[str]] = {}
        self._waiting_of_unseen: dict[str, tuple[str, ...]] = {}
        """Waiting arms of unseen hosts."""
        self._arms: dict[str, dict[str, None]] = {}
        """Arms of hosts that were tried."""

    def arm(self, link: Link, parent: Outcome | None) -> str:
        """Return the arm of a link, as a string."""
        url = link.url
        start = url.find("://") + 3
        slash = url.find("/", start)
        host, path = (url[start:slash], url[slash + 1 :]) if slash > 0 else (url[start:], "")
        path, mark, query = path.partition("?")
        directories, _, last = path.rpartition("/")
        extension = path_suffix(last) + mark
        from_host = parent.host if parent is not None and parent.host != host else ""
        has_words = self.has_words is not None and link.source not in _WITHOUT_WORDS and self.has_words(link)
        words = WORDS_MARK if has_words else ""
        arms = self._arms.get(host)
        if arms is None:
            location = _join_location(ANY if path else HOME_PATTERN, 0, extension)
            return _join_base(host, location, _join_origin(link_source(link) + words, from_host), "")
        query_pattern = self._query_pattern(host, last, query) if mark else ""
        location = self._locations.get((host, directories, extension, query_pattern)) or self._add_location(
            host, directories, last, extension, query_pattern
        )
        attributes = (link.source, link.rel, link.type, link.tag_path)
        source, tag_path = self._origins.get(attributes) or self._add_origin(link)
        arm = _join_base(host, location, _join_origin(source + words, from_host), tag_path)
        if arm not in arms:
            if len(arms) >= _MAX_ARMS_PER_HOST:
                return _join_base(host, _join_location(ANY, 0, extension), LinkSource.ANCHOR.value, "")
            arms[arm] = None
        return arm

    def hub_arms(self, links_by_arm: Mapping[str, int], page: str, *, min_links: int) -> dict[str, str]:
        """Return the hub arm of each arm of which a page has at least `min_links` new links.

        Unseen hosts get no hub arms.
        """
        found = {}
        for arm, links in links_by_arm.items():
            if links >= min_links:
                arms = self._arms.get(ArmKey.parse(arm).host)
                if arms is not None and len(arms) < _MAX_ARMS_FOR_HUBS:
                    found[arm] = hub_arm(arm, page)
        return found

    def add_waiting(self, host: str, arm: str) -> None:
        """Record that an arm of the host has waiting links. Only the first few arms of an unseen host are stored."""
        arms = self._arms.get(host)
        if arms is not None:
            arms[arm] = None
            return
        waiting = self._waiting_of_unseen.get(host, ())
        if arm not in waiting:
            self._waiting_of_unseen[host] = (*waiting, arm)[:_MAX_WAITING_ARMS_OF_UNSEEN_HOST]

    def arms_of_tried_host(self, host: str) -> Iterable[str]:
        """Return the arms of a host in the order of their discovery. From now on the host counts as tried."""
        arms = self._arms.get(host)
        if arms is None:
            arms = self._arms[host] = dict.fromkeys(self._waiting_of_unseen.pop(host, ()))
        return arms

    def hosts(self) -> set[str]:
        """Return the hosts of which arms or patterns are stored."""
        return self._arms.keys() | self._waiting_of_unseen.keys() | self._patterns.keys() | self._queries.keys()

    def forget(self, hosts: Iterable[str]) -> None:
        """Forget hosts, which count as unseen again, and clear the caches."""
        for host in hosts:
            for table in (self._arms, self._waiting_of_unseen, self._patterns, self._queries):
                table.pop(host, None)
        for cache in (self._locations, self._origins, _parsed_keys):
            cache.clear()

    def save(self) -> dict[str, SavedHost]:
        """Return the arms and patterns of each host that was tried."""
        return {host: self._saved(host, arms) for host, arms in self._arms.items()}

    def _saved(self, host: str, arms: Iterable[str]) -> SavedHost:
        saved = SavedHost(arms=list(arms), patterns=sorted(self._patterns.get(host, ())))
        queries = self._queries.get(host)
        if queries is not None:
            saved.scripts, saved.query_patterns = sorted(queries.scripts), sorted(queries.patterns)
            saved.values = {name: sorted(values) for name, values in queries.values.items()}
        return saved

    def restore(self, hosts: Mapping[str, SavedHost]) -> None:
        """Restore what `save` returned."""
        for host, saved in hosts.items():
            self._arms[host] = dict.fromkeys(saved.arms)
            if saved.patterns:
                self._patterns[host] = set(saved.patterns)
            if saved.scripts or saved.query_patterns or saved.values:
                queries = self._queries[host] = QueryPatterns()
                queries.scripts, queries.patterns = set(saved.scripts), set(saved.query_patterns)
                queries.values = {name: set(values) for name, values in saved.values.items()}

    def _query_pattern(self, host: str, script: str, query: str) -> str:
        queries = self._queries.get(host)
        if queries is None:
            queries = self._queries[host] = QueryPatterns()
        return queries.pattern(script, query)

    def _add_location(self, host: str, path: str, last: str, extension: str, query_pattern: str) -> str:
        """Return pattern, depth and extension, joined, and cache them."""
        directories = path.split("/") if path else []
        depth = len(directories)
        general = [generalize(text) for text in directories[: self._steps]]
        if general and not last and depth <= len(general):  # in /news/some-title/ the last directory is the page itself
            general[-1] = ANY
        pattern = "/".join(general) if last or directories else HOME_PATTERN
        patterns = self._patterns.setdefault(host, set())
        if pattern not in patterns:
            if len(patterns) >= _MAX_PATTERNS_PER_HOST:
                pattern = "/".join(ANY for _ in general)
            patterns.add(pattern)
        location = _join_location(f"{pattern}{query_pattern}", min(depth, _MAX_URL_PARTS), extension)
        if len(self._locations) >= _MAX_CACHED:
            self._locations.clear()
        self._locations[host, path, extension, query_pattern] = location
        return location

    def _add_origin(self, link: Link) -> tuple[str, str]:
        """Return the source and the tag path of a key, and cache them."""
        if len(self._origins) >= _MAX_CACHED:
            self._origins.clear()
        steps = link.tag_path.split(" ")[-self._steps :] if link.tag_path and self._steps else []
        general = _DIGITS.sub("#", " ".join(steps))[:_MAX_TAG_PATH_CHARACTERS]
        tag_path = general.replace(_SEPARATOR, " ").replace(_CROSS_HOST_MARK, "")
        origin = self._origins[link.source, link.rel, link.type, link.tag_path] = (link_source(link), tag_path)
        return origin


def path_suffix(name: str) -> str:
    """Return the extension of the last part of a path with its dot; `/` if the path ends with a slash.

    >>> path_suffix("T21.RDF"), path_suffix("about"), path_suffix(""), path_suffix("v1.0")
    ('.rdf', '', '/', '')
    """
    if not name:
        return "/"
    extension = file_extension(name) if "." in name else ""
    return f".{extension}" if _EXTENSION.fullmatch(extension) else ""


def generalize(directory: str) -> str:
    """Return a short word unchanged, `#` for text with digits, and `*` for other text.

    >>> [generalize(text) for text in ("news", "2019", "obj_100109", "a-title-that-goes-on-and-on")]
    ['news', '#', '#', '*']
    """
    if _is_word(directory):
        return directory
    return "#" if _DIGITS.search(directory) else ANY


def _is_word(text: str) -> bool:
    return len(text) <= _MAX_WORD_LETTERS and _WORD.fullmatch(text) is not None


def link_source(link: Link) -> str:
    """Return the source of a link, with what its type or rel announces.

    >>> link_source(Link(url="", source=LinkSource.LINK_ELEMENT, rel="alternate", type="text/turtle"))
    'link:rdf'
    >>> link_source(Link(url="", source=LinkSource.ANCHOR))
    'anchor'
    """
    source = link.source.value
    if link.type in _RDF_TYPES:
        return f"{source}:rdf"
    if link.type in _FEED_TYPES:
        return f"{source}:feed"
    rel = link.rel.split() if link.source is LinkSource.LINK_ELEMENT else ()
    return f"{source}:{generalize(rel[0])}" if rel else source
