"""One table of all kinds of content (media_types.json), lookups in it, and the Accept header that follows from it."""

from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files
from types import MappingProxyType

import msgspec

from motherlode.model import ContentKind, Syntax

RDF_NAMESPACE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
XHTML_NAMESPACE = "http://www.w3.org/1999/xhtml"

_MAX_EXTENSION_CHARACTERS = 8


class Media(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The properties of one kind of content."""

    kind: ContentKind
    media_types: tuple[str, ...] = ()
    """Media types in use on the web, the registered one first."""
    extensions: tuple[str, ...] = ()
    """File extensions without the dot."""
    magic: tuple[tuple[int, str], ...] = ()
    """Bytes at a fixed offset that identify the kind, written as Latin-1."""
    markers: tuple[str, ...] = ()
    """Lower-case tags. A document of the kind starts with one of them, after white space and comments."""
    fragments: frozenset[str] = frozenset()
    """Lower-case element names. Content that starts with one of them is of this kind, if no other kind matches."""
    roots: tuple[tuple[str | None, str], ...] = ()
    """Namespace and local name of the XML root element. None matches every namespace."""
    syntax: Syntax | None = None
    """The RDF syntax of a document of the kind."""
    quality: float = 0.0
    """Quality value in the Accept header. 0: not in the header."""
    is_html: bool = False
    """True if the HTML parser parses it."""
    is_xml: bool = False
    """True if it should be well-formed XML."""
    is_archive: bool = False
    """True if it contains other documents, like a ZIP file."""

    @property
    def is_rdf(self) -> bool:
        return self.syntax is not None


_ROWS = msgspec.json.decode((files(__package__) / "media_types.json").read_bytes(), type=tuple[Media, ...])

MEDIA: Mapping[ContentKind, Media] = MappingProxyType({row.kind: row for row in _ROWS})

_BY_TYPE = {media_type: row.kind for row in _ROWS for media_type in row.media_types}
_BY_EXTENSION = {extension: row.kind for row in _ROWS for extension in row.extensions}
_BY_ROOT = {root: row.kind for row in _ROWS for root in row.roots}
_MAGIC = [(offset, magic.encode("latin-1"), row.kind) for row in _ROWS for offset, magic in row.magic]
_BINARY_FAMILIES = (
    *("image/", "audio/", "video/", "font/", "model/", "application/font", "application/x-font"),
    *("application/vnd.openxmlformats-", "application/vnd.ms-", "application/vnd.oasis."),
)


@lru_cache(maxsize=1024)
def essence(content_type: str) -> str:
    """Return the media type of a Content-Type header without its parameters."""
    return content_type.partition(";")[0].partition(",")[0].strip().lower()


def fits(pattern: str, media_type: str) -> bool:
    """Return whether a media type matches a pattern such as `text/html`, `image/*` or `*/*`."""
    pattern = pattern.lower()
    return pattern in (media_type, "*/*") or (pattern.endswith("/*") and media_type.startswith(pattern[:-1]))


def by_media_type(content_type: str) -> ContentKind | None:
    """Return the kind of a Content-Type header, or None if it is unknown."""
    media_type = essence(content_type)
    known = _BY_TYPE.get(media_type)
    if known is not None:
        return known
    if media_type.endswith("+xml"):
        return ContentKind.XML
    if media_type.endswith("+json"):
        return ContentKind.JSON
    if media_type.startswith(_BINARY_FAMILIES):
        return ContentKind.BINARY
    return None


def extension_of(url: str) -> str:
    """Return the file extension of a URL's path in lower case, or ""."""
    path = url.partition("#")[0].partition("?")[0]
    start = path.find("//")
    slash = path.rfind("/", start + 2 if start != -1 else 0)
    return "" if start != -1 and slash == -1 else file_extension(path[slash + 1 :])


def file_extension(name: str) -> str:
    """Return the extension of a file name in lower case without its dot, or ""."""
    stem, dot, extension = name.rpartition(".")
    return extension.lower() if dot and stem and len(extension) <= _MAX_EXTENSION_CHARACTERS else ""


def by_extension(url: str) -> ContentKind | None:
    """Return the kind of a URL's file extension, or None if it is unknown."""
    return _BY_EXTENSION.get(extension_of(url))


def by_magic(body: bytes) -> ContentKind | None:
    """Return the kind that bytes at fixed offsets identify, or None."""
    return next((kind for offset, magic, kind in _MAGIC if body.startswith(magic, offset)), None)


def by_root(namespace: str, name: str) -> ContentKind | None:
    """Return the kind of XML with this root element, or None if it is unknown."""
    return _BY_ROOT.get((namespace, name)) or _BY_ROOT.get((None, name))


_WELCOME = sorted((row for row in _ROWS if row.quality), key=lambda row: -row.quality)
_PARTS = [f"{row.media_types[0]};q={row.quality:g}".removesuffix(";q=1") for row in _WELCOME]
ACCEPT = ", ".join([*_PARTS, "*/*;q=0.1"])
"""The Accept header: RDF before HTML before other XML, and anything else with the lowest quality."""


# Content negotiation (RFC 9110, 12.5.1)


def parse_accept(header: str) -> list[tuple[str, float, int]]:
    """Return the media ranges of an Accept header with weight and specificity (0 to 2)."""
    ranges = []
    for part in header.split(","):
        name, *parameters = "".join(part.lower().split()).split(";")
        if "/" not in name:
            continue
        weight = 1.0
        for parameter in parameters:
            if parameter.startswith("q="):
                try:
                    weight = min(1.0, max(0.0, float(parameter[2:])))
                except ValueError:
                    weight = 0.0
        exact = 0 if name == "*/*" else 1 if name.endswith("/*") else 2
        ranges.append((name, weight, exact))
    return ranges


def rank_media_type(ranges: list[tuple[str, float, int]], name: str) -> tuple[float, int]:
    """Return weight and specificity of the most specific range that matches a media type."""
    fitting = [
        (exact, weight)
        for pattern, weight, exact in ranges
        if pattern == name or pattern == "*/*" or (exact == 1 and name.startswith(pattern[:-1]))
    ]
    if not fitting:
        return 0.0, 0
    exact, weight = max(fitting)
    return (weight, exact) if weight > 0 else (0.0, 0)
