"""The nine properties of a link: Π_L of Emamdadi et al., III.C.1."""

from __future__ import annotations

from enum import Enum
from functools import lru_cache
from typing import NamedTuple

import msgspec
import xxhash

from motherlode.model import ContentKind, Link, Parent
from motherlode.www.media_types import by_extension

_RDF_KINDS = frozenset(
    kind.value
    for kind in (
        *(ContentKind.RDF_XML, ContentKind.TURTLE, ContentKind.N_TRIPLES, ContentKind.N_QUADS),
        *(ContentKind.TRIG, ContentKind.N3, ContentKind.JSON_LD),
    )
)
_HTML_KINDS = frozenset({ContentKind.HTML.value, ContentKind.XHTML.value})
_PACKED = frozenset({"gz", "bz2", "xz", "zip"})
_MAX_EXTENSION_CHARACTERS = 8


class LinkClass(Enum):
    """The four classes of documents (III.A). The value is the priority of a link to one (Fig. 3)."""

    R = 3
    """RDF documents."""
    HR = 2
    """HTML documents that contain at least one link pointing to an RDF document."""
    H = 1
    """HTML documents without such a link."""
    N = -1
    """All others: such links are removed."""


class LinkProperties(NamedTuple):
    """Π_L. What a link does not have is empty."""

    protocol: str
    host: str
    path: tuple[str, ...]
    """The directories. A last part without an extension is one of them, as in the paper's `/staffs/staff1`."""
    filename: str
    """With its extension, and with the query, which tells documents of one file name apart."""
    extension: str
    """Lower-case, without the dot; that of what is packed in a `.gz`."""
    type: str
    title: str
    anchor_text: str
    context: str
    is_rdf_link: bool
    """Extracted from an RDF document; type, title, anchor text and context are not considered then."""
    indicative_path: tuple[str, ...]
    """The directories in which terms are looked for."""


def is_rdf_document(kind: str) -> bool:
    """A content kind of class R."""
    return kind in _RDF_KINDS


def is_html_document(kind: str) -> bool:
    return kind in _HTML_KINDS


def link_properties(link: Link, parent: Parent | None = None, *, literal: bool = False) -> LinkProperties:
    """The properties of a link that was found on a page.

    The paper looks for terms in the whole path. A directory in which an HTML page lies itself says nothing about where
    its links lead, and on a site under `/my-rdf/` it would put every page into class R: so only the other directories
    are telling, unless the paper is wanted to the letter (`literal`).

    >>> from motherlode.model import LinkSource
    >>> found = link_properties(Link(url="http://example.com/staffs/data/one.rdf", source=LinkSource.ANCHOR))
    >>> found.host, found.path, found.filename, found.extension
    ('example.com', ('staffs', 'data'), 'one.rdf', 'rdf')
    """
    protocol, host, path, filename, extension = url_properties(link.url)
    if parent is not None and parent.kind in _RDF_KINDS:
        return LinkProperties(protocol, host, path, filename, extension, "", "", "", "", True, path)
    telling = path
    if parent is not None and not literal and host == parent.host:
        around = _directories(parent.url)
        telling = tuple(directory for directory in path if directory not in around)
    said = (link.type, link.title, link.anchor, link.context)
    return LinkProperties(protocol, host, path, filename, extension, *said, False, telling)


@lru_cache(maxsize=64)  # all links of a page ask the same
def _directories(url: str) -> frozenset[str]:
    return frozenset(url_properties(url)[2])


def url_properties(url: str) -> tuple[str, str, tuple[str, ...], str, str]:
    """Protocol, host, path, file name and extension.

    >>> url_properties("http://example.com/staffs/staff1")
    ('http', 'example.com', ('staffs', 'staff1'), '', '')
    >>> url_properties("http://example.com/dump.nt.gz?v=2")
    ('http', 'example.com', (), 'dump.nt.gz?v=2', 'nt')
    """
    protocol, _, rest = url.partition(":")
    rest, mark, query = rest.removeprefix("//").partition("#")[0].partition("?")
    host, *parts = rest.split("/")
    last = parts.pop() if parts else ""
    extension = _extension(last)
    filename = last if extension else ""
    if last and not extension:
        parts.append(last)
    return protocol, host, tuple(part for part in parts if part), f"{filename}{mark}{query}", extension


def _extension(name: str) -> str:
    """The extension of a file name; a number such as that of `v1.2` is none."""
    if "." not in name:
        return ""
    stem, _, extension = name.lower().rpartition(".")
    if extension in _PACKED and "." in stem:
        inner = stem.rpartition(".")[2]
        extension = inner if by_extension(f"/x.{inner}") is not None else extension
    if not stem or len(extension) > _MAX_EXTENSION_CHARACTERS or not extension[:1].isalnum() or extension.isdigit():
        return ""
    return extension if extension.isalnum() else ""


# ── S_HR, the HTML pages that were seen to point to RDF documents, and the similarity metric (Emamdadi et al., …

_MAX_FAMILIES = 1_000_000
"""Beyond this S_HR takes no new family; known ones go on to answer."""
_Family = tuple[int, ...]


class SimilarUrls:
    """A set of URIs that can be asked whether it holds one similar to another.

    >>> s_hr = SimilarUrls()
    >>> s_hr.add("http://example.com/staffs/staff1")
    >>> s_hr.similar_to("http://example.com/staffs/staff2"), s_hr.similar_to("http://example.com/staffs/staff1")
    (True, False)
    """

    def __init__(self, max_families: int = _MAX_FAMILIES) -> None:
        self._families: dict[int, _Family] = {}
        """At most two members of each."""
        self._most = max_families

    def __len__(self) -> int:
        """Families, not URIs."""
        return len(self._families)

    def add(self, url: str) -> None:
        _, host, path, filename, _ = url_properties(url)
        for family, member in _families_and_members(host, path, filename):
            known = self._families.get(family, ())
            if len(known) < 2 and member not in known and (known or len(self._families) < self._most):
                self._families[family] = (*known, member)

    def similar_to(self, url: str) -> bool:
        _, host, path, filename, _ = url_properties(url)
        return self.has_similar(host, path, filename)

    def has_similar(self, host: str, path: tuple[str, ...], filename: str) -> bool:
        """The set holds a URI that is similar to the one with these properties."""
        if not self._families:
            return False
        for family, member in _families_and_members(host, path, filename):
            known = self._families.get(family)
            if known is not None and (len(known) > 1 or known[0] != member):
                return True
        return False

    def merge(self, state: bytes) -> None:
        """Add the families of another set, as a dump of it holds them."""
        for family, members in msgspec.msgpack.decode(state, type=dict[int, _Family]).items():
            known = self._families.get(family, ())
            if known or len(self._families) < self._most:
                self._families[family] = tuple(dict.fromkeys((*known, *members)))[:2]

    def dump(self) -> bytes:
        return msgspec.msgpack.encode(self._families)

    def load(self, state: bytes) -> None:
        self._families = msgspec.msgpack.decode(state, type=dict[int, _Family])


def _families_and_members(host: str, path: tuple[str, ...], filename: str) -> list[tuple[int, int]]:
    """Family and member of a URI under each of the two rules."""
    files = (_hash("file", host, *path), _hash(filename))
    if not path:
        return [files]
    return [(_hash("directory", host, *path[:-1]), _hash(path[-1])), files]


def _hash(*parts: str) -> int:
    number: int = xxhash.xxh3_64_intdigest("\n".join(parts).encode("utf-8", "replace"))
    return number
