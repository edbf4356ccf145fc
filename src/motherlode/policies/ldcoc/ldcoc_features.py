"""Hard URIs, the context of a URI on its page, and the named features of URIs (Huang and Gandon 2020).

A URI is hard if neither its file extension nor its content type says whether it is RDF (definition 2). The features
have four sets (section 3.2): `+t` of the target URI itself, with its content type if the link or a HEAD request gave
it; `+r` the same of the referring URI; `+p` of the properties that connect the two; `+x` crosses of the features of a
sibling with its content type, its similarity to the target, and its relevance if known. Features are strings;
`ftrl.Hasher` makes them numbers.

Properties and siblings come from the context graph of the target URI u_t: the graph of the page that contains it, the
referring URI u_r (definitions 3 to 7). `links/context_graph.py` computes both from the statements of the page, and the
link carries them. Most links come from HTML and are in no statement; the paper defines no context graph for them. There
the page is the subject, and the property of a link is its rel or its tag path. The siblings of such a link have the
same property.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import lru_cache

from rapidfuzz.distance import Levenshtein

from motherlode.model import ContentKind, Link, LinkSource, Outcome
from motherlode.www.media_types import MEDIA, by_extension, by_media_type, essence, extension_of
from motherlode.www.urls import registrable_domain

_RDF = frozenset(kind for kind, media in MEDIA.items() if media.is_rdf)
_UNNAMED = frozenset({"", "nofollow", "noopener", "noreferrer", "noopener noreferrer", "external"})
"""Values of rel that say how to follow a link but nothing about its target."""


class Hardness(Enum):
    """The class of a URI by its extension and content type."""

    HARD = "hard"
    """Must be predicted: HTML may embed RDF, and plain text may be RDF with a wrong content type."""
    RDF = "rdf"
    """RDF by extension or content type."""
    NO_RDF = "no rdf"
    """An image, an archive, or another binary file."""


def hardness(link: Link) -> Hardness:
    """Classify a link by its extension and its (announced or requested) content type.

    >>> def of(url, type=""):
    ...     return hardness(Link(url=url, source=LinkSource.ANCHOR, type=type)).value
    >>> of("http://a.example/x.owl"), of("http://a.example/x", "text/turtle"), of("http://a.example/x.png")
    ('rdf', 'rdf', 'no rdf')
    >>> of("http://a.example/x"), of("http://a.example/x.html"), of("http://a.example/x", "text/plain")
    ('hard', 'hard', 'hard')
    """
    kinds = {by_extension(link.url), by_media_type(link.type) if link.type else None}
    if kinds & _RDF:
        return Hardness.RDF
    return Hardness.NO_RDF if ContentKind.BINARY in kinds else Hardness.HARD


def properties_of(link: Link) -> tuple[str, ...]:
    """Return the properties that connect a page with a link on it: IRIs, or a substitute for links of HTML.

    >>> properties_of(Link(url="http://a.example/", source=LinkSource.ANCHOR, tag_path="html body ul li a"))
    ('html:path=html body ul li a',)
    """
    if link.properties:
        return link.properties
    if link.predicate:  # of a page whose context graph was not computed
        return (link.predicate,)
    if link.rel not in _UNNAMED:
        return (f"html:rel={link.rel}",)
    return (f"html:path={link.tag_path}" if link.tag_path else f"html:{link.source.value}",)


def _groups_of(link: Link) -> tuple[int | str, ...]:
    """Return the groups in which a link has its siblings: of the context graph, or that of its property in HTML."""
    return link.sibling_groups if link.properties else properties_of(link)


class ContextGraph:
    """The links of a page as a graph. It returns at most `most` siblings of a link."""

    def __init__(self, links: Sequence[Link], *, most: int, before_others: Callable[[str], bool]) -> None:
        """`before_others` says whether a URI is preferred as a sibling; equal ones stay in page order."""
        self._most = most
        self._before_others = before_others
        self._groups: dict[int | str, list[Link]] = {}
        for link in links:
            if link.source is not LinkSource.REDIRECT:
                for group in _groups_of(link):
                    self._groups.setdefault(group, []).append(link)
        for name, members in self._groups.items():
            # one more than needed, because a link is not its own sibling
            self._groups[name] = sorted(members, key=lambda link: not before_others(link.url))[: most + 1]

    def siblings(self, link: Link) -> list[Link]:
        """Return the siblings of a link: the other links in its sibling groups, each once, at most `most`."""
        found: dict[str, Link] = {}
        groups = _groups_of(link)
        for group in groups:
            for sibling in self._groups.get(group, ()):
                if sibling.url != link.url:
                    found[sibling.url] = sibling
        siblings = list(found.values())
        if len(groups) > 1:
            siblings.sort(key=lambda sibling: not self._before_others(sibling.url))
        return siblings[: self._most]


SETS = "trpx"
"""The letters of the atomic feature sets."""
BEST_SETS = "trp"
"""F₊ₜ₊ᵣ₊ₚ had the best F-measure and accuracy of all combinations (Figure 2a); LDCOC uses it (section 4)."""
SIMILAR = 0.8
"""Similarity above which two URIs count as similar (definition 12; the paper gives no number)."""
_ALL = ""
"""A prefix of every name, so that `Crosses.features` selects all intrinsic features."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Crosses:
    """How many siblings of a link, and which of their features, are combined to cross features (F₊ₓ)."""

    siblings: int
    """Siblings that are used per target, because a page with a thousand links has a million pairs."""
    features: str | tuple[str, ...] = _ALL
    """Prefixes of the intrinsic features that are crossed."""


CROSSES: Mapping[str, Crosses] = {
    "all": Crosses(siblings=64),
    "limited": Crosses(siblings=8, features=("authority=", "place=", "kin=", "extension=")),
}
"""Values of the argument `crosses`: all intrinsic features (F_int), or only position and shape of few siblings."""
ALL_CROSSES = CROSSES["all"]
_MAX_PARTS = 8
"""Maximum number of path segments and query parameters that are used."""
_MAX_PART_CHARACTERS = 60
"""Maximum number of characters that are used of a path segment or query parameter."""
_words = re.compile(r"[^\W\d_]+|\d+").findall


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """Knowledge about URIs from earlier responses, for the features of their siblings."""

    relevances: Mapping[str, bool] = field(default_factory=dict)
    """Fetched URIs, and whether they were relevant (definition 13)."""
    content_types: Mapping[str, str] = field(default_factory=dict)
    """URIs with a known Content-Type header (definition 10)."""


_NOTHING_KNOWN = Known()


@lru_cache(maxsize=20_000)
def intrinsic(uri: str) -> tuple[str, ...]:
    """Return F_int: features of scheme, authority, host, path, query and fragment of a URI (definition 8, Figure 1).

    >>> intrinsic("http://data.example.org/set/Obj_12?format=rdf#it")  # doctest: +ELLIPSIS
    ('scheme=http', 'authority=data.example.org', ..., 'parameter=format', 'fragment=it')
    """
    scheme, _, rest = uri.partition("://")
    if not rest:
        return _html_property_features(uri)
    rest, _, fragment = rest.partition("#")
    rest, _, query = rest.partition("?")
    authority, _, path = rest.partition("/")
    names = [f"scheme={scheme}", f"authority={authority}", f"domain={registrable_domain(authority)}"]
    names += _path_features(authority, path)
    names.append(f"extension={extension_of(uri)}")
    if query:
        for pair in query.split("&", _MAX_PARTS)[:_MAX_PARTS]:
            names.append(f"parameter={pair.partition('=')[0][:_MAX_PART_CHARACTERS]}")
    if fragment:
        names.append(f"fragment={fragment[:_MAX_PART_CHARACTERS]}")
    return tuple(names)


def _path_features(authority: str, path: str) -> list[str]:
    *directories, last = path.split("/")
    names = [f"depth={min(len(directories), _MAX_PARTS)}", f"shape={shape(last)}"]
    names += [f"segment={part[:_MAX_PART_CHARACTERS]}" for part in directories[:_MAX_PARTS] if part]
    names += [f"word={word}" for word in dict.fromkeys(_words(last.lower())[:_MAX_PARTS]) if not word.isdigit()]
    place = authority
    for part in directories[:3]:  # the position on the host: its first directories
        place = f"{place}/{part[:_MAX_PART_CHARACTERS]}"
        names.append(f"place={place}")
    names.append(f"kin={authority}/{len(directories)}/{shape(last)}")
    return names


def _html_property_features(text: str) -> tuple[str, ...]:
    """Return the features of the property of an HTML link: all of it, and its end, which is common to many sites."""
    kind, _, path = text.partition("=")
    elements = path.split(" ")
    return (text[:400], f"{kind}~{' '.join(elements[-2:])}", f"{kind}.{elements[-1].partition('.')[0]}")


def shape(text: str) -> str:
    """Replace runs of letters by `a` and runs of digits by `0`, so that names made by one template are equal.

    >>> shape("obj_100107.html"), shape("") or "none"
    ('a_0.a', 'none')
    """
    return re.sub(r"[^\W\d_]+", "a", re.sub(r"\d+", "0", text[:_MAX_PART_CHARACTERS]))


def similarity(one: str, other: str) -> float:
    """Return simValue: 1 minus the Levenshtein distance divided by the greater length (definition 12)."""
    return Levenshtein.normalized_similarity(one, other)


def target_features(link: Link) -> list[str]:
    """Return F₊ₜ = F_int(u_t) + F_head(u_t). F_head is the content type (definition 10)."""
    names = [f"t:{name}" for name in intrinsic(link.url)]
    return [*names, content_type_feature(link.type)] if essence(link.type) else names


def content_type_feature(content_type: str) -> str:
    """Return F_head of a target URI. A response without a content type has the feature `none`.

    >>> content_type_feature("Text/HTML; charset=utf-8"), content_type_feature("")
    ('t:contentType=text/html', 't:contentType=none')
    """
    return f"t:contentType={essence(content_type) or 'none'}"


def referring_features(parent: Outcome | None) -> tuple[str, ...]:
    """Return the features of the referring URI u_r (F₊ᵣ = F_int(u_r)), and whether u_r is relevant.

    In the paper it always is, because all links come from RDF.
    """
    return ("r:none",) if parent is None else _referring(parent.url, parent.host, relevant=parent.relevant)


@lru_cache(maxsize=64)  # the same for all links of a page
def _referring(url: str, host: str, *, relevant: bool) -> tuple[str, ...]:
    label = f"r:relevant={relevant}"
    return (*(f"r:{name}" for name in intrinsic(url)), label, f"{label}&host={host}")


@lru_cache(maxsize=20_000)
def property_features(property_: str) -> tuple[str, ...]:
    """Return F₊ₚ for one direct property p: the features F_int of its IRI."""
    return tuple(f"p:{name}" for name in intrinsic(property_))


def cross_features(
    link: Link, siblings: Iterable[Link], known: Known, crosses: Crosses = ALL_CROSSES, threshold: float = SIMILAR
) -> list[str]:
    """Return F₊ₓ: for each sibling, conjunctions of its intrinsic features, content type, similarity, relevance."""
    crossed: dict[str, dict[str, None]] = {}
    for sibling in siblings:
        level = "high" if similarity(sibling.url, link.url) > threshold else "low"
        relevant = known.relevances.get(sibling.url)
        content_type = known.content_types.get(sibling.url) or essence(sibling.type)
        common = f"contentType={content_type}&sim={level}&rel={'unknown' if relevant is None else relevant}"
        crossed.setdefault(common, {}).update(_features_to_cross(sibling.url, crosses.features))
    return [
        f"x:{name}&{common}" if name else f"x:{common}" for common, names in crossed.items() for name in ("", *names)
    ]


@lru_cache(maxsize=20_000)
def _features_to_cross(uri: str, prefixes: str | tuple[str, ...]) -> dict[str, None]:
    """Return the intrinsic features of a sibling that are crossed."""
    return {name: None for name in intrinsic(uri) if name.startswith(prefixes)}


def features(
    link: Link,
    parent: Outcome | None,
    sets: str = BEST_SETS,
    *,
    siblings: Sequence[Link] = (),
    known: Known = _NOTHING_KNOWN,
    crosses: Crosses = ALL_CROSSES,
) -> list[str]:
    """Return the features of one link in some sets. Each name begins with the letter of its set.

    >>> link = Link(url="http://a.example/data/1", source=LinkSource.TRIPLE, predicate="http://b.example/ns#sees")
    >>> [name for name in features(link, None, "p") if "authority" in name]
    ['p:authority=b.example']
    """
    names: list[str] = []
    if "t" in sets:
        names += target_features(link)
    if "r" in sets:
        names += referring_features(parent)
    if "p" in sets:
        for property_ in properties_of(link):
            names += property_features(property_)
    if "x" in sets:
        names += cross_features(link, siblings, known, crosses)
    return names


def page_features(
    links: Sequence[Link],
    parent: Outcome | None,
    sets: str = BEST_SETS,
    *,
    known: Known = _NOTHING_KNOWN,
    crosses: Crosses = ALL_CROSSES,
) -> list[list[str]]:
    """Return the features of some links of a page.

    Their siblings are taken from all links of the page, first those whose relevance is known.
    """
    if "x" not in sets:
        return [features(link, parent, sets) for link in links]
    named = parent.links if parent is not None and parent.links else links
    context = ContextGraph(named, most=crosses.siblings, before_others=known.relevances.__contains__)
    return [
        features(link, parent, sets, siblings=context.siblings(link), known=known, crosses=crosses) for link in links
    ]
