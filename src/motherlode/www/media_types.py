"""One table of all kinds of content, lookups in it, and the Accept header that follows from it.

Detection uses media types, extensions, magic bytes, markers and XML roots. Transform uses the syntax. Fetch sends
`ACCEPT`. These facts are defined nowhere else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from motherlode.model import ContentKind, Syntax

ATOM_NAMESPACE = "http://www.w3.org/2005/Atom"
RDF_NAMESPACE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
SITEMAP_NAMESPACE = "http://www.sitemaps.org/schemas/sitemap/0.9"
SVG_NAMESPACE = "http://www.w3.org/2000/svg"
XHTML_NAMESPACE = "http://www.w3.org/1999/xhtml"

_MAX_EXTENSION_CHARACTERS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Media:
    """The properties of one kind of content."""

    kind: ContentKind
    media_types: tuple[str, ...] = ()
    """Media types in use on the web, the registered one first."""
    extensions: tuple[str, ...] = ()
    """File extensions without the dot."""
    magic: tuple[tuple[int, bytes], ...] = ()
    """Bytes at a fixed offset that identify the kind."""
    markers: tuple[bytes, ...] = ()
    """Lower-case texts. A document of the kind starts with one of them, after white space and comments."""
    fragments: frozenset[str] = frozenset()
    """Lower-case element names. Content that starts with one of them is of this kind, if no other kind matches."""
    roots: tuple[tuple[str | None, str], ...] = ()
    """Namespace and local name of the XML root element. None matches every namespace."""
    syntax: Syntax | None = None
    """The RDF syntax of a document of the kind."""
    quality: float = 0.0
    """Quality value in the Accept header. 0: not in the header."""
    is_html: bool = False
    """It is parsed by the HTML parser."""
    is_xml: bool = False
    """It should be well-formed XML."""
    is_archive: bool = False
    """It contains other documents."""

    @property
    def is_rdf(self) -> bool:
        return self.syntax is not None


_HTML_FRAGMENTS = frozenset(
    {
        *("a", "abbr", "address", "article", "aside", "audio", "b", "blockquote", "br", "button", "center", "details"),
        *("dialog", "div", "dl", "em", "fieldset", "figure", "font", "footer", "form", "frameset", "h1", "h2"),
        *("h3", "h4", "h5", "h6", "header", "hr", "i", "iframe", "img", "input", "label", "main"),
        *("menu", "nav", "noscript", "object", "ol", "p", "picture", "pre", "section", "select", "small", "span"),
        *("strong", "style", "table", "template", "textarea", "ul", "video"),
    }
)
"""Those of WHATWG MIME Sniffing, section 7.1, and other frequent elements."""

_ROWS = (
    Media(
        kind=ContentKind.TURTLE,
        media_types=("text/turtle", "application/turtle", "application/x-turtle", "text/x-turtle"),
        extensions=("ttl", "turtle"),
        markers=(b"@prefix", b"@base", b"@version", b"prefix", b"base", b"version"),
        syntax=Syntax.TURTLE,
        quality=1.0,
    ),
    Media(
        kind=ContentKind.TRIG,
        media_types=("application/trig", "application/x-trig", "text/trig"),
        extensions=("trig",),
        syntax=Syntax.TRIG,
        quality=1.0,
    ),
    Media(
        kind=ContentKind.N_TRIPLES,
        media_types=("application/n-triples", "text/n-triples", "text/ntriples", "application/x-ntriples", "text/x-nt"),
        extensions=("nt", "ntriples"),
        syntax=Syntax.N_TRIPLES,
        quality=1.0,
    ),
    Media(
        kind=ContentKind.N_QUADS,
        media_types=("application/n-quads", "text/n-quads", "text/nquads", "application/x-nquads", "text/x-nquads"),
        extensions=("nq", "nquads"),
        syntax=Syntax.N_QUADS,
        quality=1.0,
    ),
    Media(
        kind=ContentKind.JSON_LD,
        media_types=("application/ld+json", "application/activity+json"),
        extensions=("jsonld", "json-ld"),
        syntax=Syntax.JSON_LD,
        quality=0.95,
    ),
    Media(
        kind=ContentKind.RDF_XML,
        media_types=("application/rdf+xml", "text/rdf+xml", "application/x-rdf+xml", "text/rdf", "application/rdf"),
        extensions=("rdf", "owl", "rdfs", "rdfxml"),
        roots=((RDF_NAMESPACE, "RDF"),),
        syntax=Syntax.RDF_XML,
        quality=0.9,
        is_xml=True,
    ),
    Media(
        kind=ContentKind.N3,
        media_types=("text/n3", "text/rdf+n3", "application/n3", "application/rdf+n3"),
        extensions=("n3",),
        syntax=Syntax.N3,
        quality=0.8,
    ),
    Media(
        kind=ContentKind.HTML,
        media_types=("text/html",),
        extensions=("html", "htm", "shtml"),
        markers=(b"<!doctype html", b"<html", b"<head", b"<body", b"<title", b"<meta", b"<script", b"<base", b"<link"),
        fragments=_HTML_FRAGMENTS,
        quality=0.7,
        is_html=True,
    ),
    Media(
        kind=ContentKind.XHTML,
        media_types=("application/xhtml+xml", "application/vnd.wap.xhtml+xml"),
        extensions=("xhtml", "xht"),
        roots=((XHTML_NAMESPACE, "html"),),
        quality=0.7,
        is_html=True,
        is_xml=True,
    ),
    Media(
        kind=ContentKind.ATOM,
        media_types=("application/atom+xml",),
        extensions=("atom",),
        roots=((ATOM_NAMESPACE, "feed"), (ATOM_NAMESPACE, "entry"), ("http://purl.org/atom/ns#", "feed")),
        quality=0.5,
        is_xml=True,
    ),
    Media(
        kind=ContentKind.RSS,
        media_types=("application/rss+xml",),
        extensions=("rss",),
        roots=((None, "rss"),),
        quality=0.5,
        is_xml=True,
    ),
    Media(
        kind=ContentKind.XML,
        media_types=("application/xml", "text/xml"),
        extensions=("xml", "xsl", "xslt", "xsd", "owx"),
        markers=(b"<?xml",),
        quality=0.4,
        is_xml=True,
    ),
    Media(
        kind=ContentKind.SVG,
        media_types=("image/svg+xml",),
        extensions=("svg",),
        roots=((SVG_NAMESPACE, "svg"), ("", "svg")),
        quality=0.3,
        is_xml=True,
    ),
    Media(
        kind=ContentKind.SITEMAP,
        roots=((None, "urlset"), (None, "sitemapindex")),
        is_xml=True,
    ),
    Media(
        kind=ContentKind.JSON,
        media_types=("application/json", "text/json", "application/x-json", "application/rdf+json"),
        extensions=("json", "geojson"),
        quality=0.3,
    ),
    Media(kind=ContentKind.ROBOTS),
    Media(
        kind=ContentKind.GZIP,
        media_types=("application/gzip", "application/x-gzip"),
        extensions=("gz", "tgz", "svgz"),
        magic=((0, b"\x1f\x8b\x08"),),
        is_archive=True,
    ),
    Media(
        kind=ContentKind.BZIP2,
        media_types=("application/x-bzip2", "application/bzip2", "application/x-bzip"),
        extensions=("bz2", "tbz2", "tbz"),
        magic=tuple((0, b"BZh%d%s" % (level, mark)) for level in range(1, 10) for mark in (b"1AY&SY", b"\x17rE8P\x90")),
        is_archive=True,
    ),
    Media(
        kind=ContentKind.ZIP,
        media_types=("application/zip", "application/x-zip-compressed", "application/x-zip"),
        extensions=("zip",),
        magic=((0, b"PK\x03\x04"), (0, b"PK\x05\x06")),
        is_archive=True,
    ),
    Media(
        kind=ContentKind.TAR,
        media_types=("application/x-tar", "application/tar"),
        extensions=("tar",),
        magic=((257, b"ustar"),),
        is_archive=True,
    ),
    Media(
        kind=ContentKind.TEXT,
        media_types=(
            *("text/plain", "text/css", "text/csv", "text/markdown", "text/tab-separated-values", "text/x-diff"),
            *("text/javascript", "application/javascript", "application/x-javascript", "text/calendar", "text/vcard"),
        ),
        extensions=("txt", "text", "md", "css", "js", "mjs", "csv", "tsv", "rst", "ics", "vcf", "bib", "yaml"),
    ),
    Media(
        kind=ContentKind.BINARY,
        media_types=(
            *("application/octet-stream", "application/pdf", "application/wasm", "application/msword"),
            *("application/x-7z-compressed", "application/x-xz", "application/zstd", "application/vnd.rar"),
            *("application/java-archive", "application/epub+zip", "application/vnd.android.package-archive"),
        ),
        extensions=(
            *("png", "jpg", "jpeg", "gif", "webp", "avif", "ico", "bmp", "tif", "tiff", "psd"),
            *("mp3", "mp4", "m4a", "m4v", "ogg", "oga", "ogv", "webm", "wav", "flac", "avi", "mov", "mkv", "wmv"),
            *("woff", "woff2", "ttf", "otf", "eot", "pdf", "ps", "doc", "docx", "xls", "xlsx", "ppt", "pptx"),
            *("odt", "ods", "odp", "epub", "mobi", "jar", "apk", "exe", "msi", "dmg", "iso", "deb", "rpm", "bin"),
            *("7z", "rar", "xz", "zst", "wasm", "so", "dll", "class", "whl", "swf"),
        ),
        magic=(
            *((0, b"\x89PNG\r\n\x1a\n"), (0, b"GIF87a"), (0, b"GIF89a"), (0, b"\xff\xd8\xff"), (0, b"%PDF-")),
            *(
                (8, b"WEBP"),
                (8, b"WAVE"),
                (4, b"ftyp"),
                (0, b"OggS"),
                (0, b"ID3\x03"),
                (0, b"ID3\x04"),
                (0, b"fLaC"),
                (0, b"\x1aE\xdf\xa3"),
            ),
            *((0, b"wOFF"), (0, b"wOF2"), (0, b"OTTO\x00"), (0, b"\x00\x01\x00\x00\x00"), (0, b"\x00\x00\x01\x00")),
            *((0, b"\x7fELF"), (0, b"\x00asm"), (0, b"7z\xbc\xaf\x27\x1c"), (0, b"Rar!\x1a\x07"), (0, b"\xfd7zXZ\x00")),
            *((0, b"\x28\xb5\x2f\xfd"), (0, b"II*\x00"), (0, b"MM\x00*"), (0, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")),
        ),
    ),
    Media(kind=ContentKind.EMPTY),
)

MEDIA: Mapping[ContentKind, Media] = MappingProxyType({row.kind: row for row in _ROWS})

_BY_TYPE = {media_type: row.kind for row in _ROWS for media_type in row.media_types}
_BY_EXTENSION = {extension: row.kind for row in _ROWS for extension in row.extensions}
_BY_ROOT = {root: row.kind for row in _ROWS for root in row.roots}
_MAGIC = [(offset, magic, row.kind) for row in _ROWS for offset, magic in row.magic]
_BINARY_FAMILIES = (
    *("image/", "audio/", "video/", "font/", "model/", "application/font", "application/x-font"),
    *("application/vnd.openxmlformats-", "application/vnd.ms-", "application/vnd.oasis."),
)


def essence(content_type: str) -> str:
    """Return the media type of a Content-Type header without its parameters.

    >>> essence('Text/HTML; charset="utf-8"')
    'text/html'
    """
    return content_type.partition(";")[0].partition(",")[0].strip().lower()


def fits(pattern: str, media_type: str) -> bool:
    """Return whether a media type matches a pattern such as `text/html`, `image/*` or `*/*`.

    >>> fits("image/*", "image/png"), fits("application/pdf", "application/pdf"), fits("image/*", "text/html")
    (True, True, False)
    """
    pattern = pattern.lower()
    return pattern in (media_type, "*/*") or (pattern.endswith("/*") and media_type.startswith(pattern[:-1]))


def by_media_type(content_type: str) -> ContentKind | None:
    """Return the kind of a Content-Type header, or None if it is unknown.

    >>> by_media_type("application/rdf+xml; charset=utf-8"), by_media_type("application/vnd.x+xml")
    (<ContentKind.RDF_XML: 'rdfxml'>, <ContentKind.XML: 'xml'>)
    """
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
    """Return the file extension of a URL's path in lower case, or "".

    >>> extension_of("http://example.org/a.b/Data.TTL?x=1.html#y.rdf"), extension_of("http://example.org")
    ('ttl', '')
    """
    path = url.partition("#")[0].partition("?")[0]
    start = path.find("//")
    slash = path.rfind("/", start + 2 if start != -1 else 0)
    return "" if start != -1 and slash == -1 else file_extension(path[slash + 1 :])


def file_extension(name: str) -> str:
    """Return the extension of a file name in lower case without its dot, or "".

    >>> file_extension("T21.RDF"), file_extension("about"), file_extension(".ttl"), file_extension("a.toolongforone")
    ('rdf', '', '', '')
    """
    stem, dot, extension = name.rpartition(".")
    return extension.lower() if dot and stem and len(extension) <= _MAX_EXTENSION_CHARACTERS else ""


def by_extension(url: str) -> ContentKind | None:
    """Return the kind of a URL's file extension, or None if it is unknown."""
    return _BY_EXTENSION.get(extension_of(url))


def extension_kind(extension: str) -> ContentKind | None:
    """Return the kind of a file extension in lower case without its dot, or None if it is unknown."""
    return _BY_EXTENSION.get(extension)


def by_magic(body: bytes) -> ContentKind | None:
    """Return the kind that bytes at fixed offsets identify, or None.

    >>> by_magic(b"\\x1f\\x8b\\x08\\x00"), by_magic(b"%PDF-1.7"), by_magic(b"<html>")
    (<ContentKind.GZIP: 'gzip'>, <ContentKind.BINARY: 'binary'>, None)
    """
    return next((kind for offset, magic, kind in _MAGIC if body.startswith(magic, offset)), None)


def by_root(namespace: str, name: str) -> ContentKind | None:
    """Return the kind of XML with this root element, or None if it is unknown.

    >>> by_root("http://www.w3.org/2000/svg", "svg"), by_root("http://example.org/", "svg")
    (<ContentKind.SVG: 'svg'>, None)
    """
    return _BY_ROOT.get((namespace, name)) or _BY_ROOT.get((None, name))


def _accept() -> str:
    welcome = sorted((row for row in _ROWS if row.quality), key=lambda row: -row.quality)
    parts = [f"{row.media_types[0]};q={row.quality:g}".removesuffix(";q=1") for row in welcome]
    return ", ".join([*parts, "*/*;q=0.1"])


ACCEPT = _accept()
"""The Accept header: RDF before HTML before other XML, and anything else with the lowest quality."""
