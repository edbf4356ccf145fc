"""Detection of a body's charset, as the name of a Python codec.

The sources of evidence, strongest first: a byte order mark or the pattern of UTF-16, bytes that are clearly UTF-8, the
`charset` parameter of the Content-Type header, the `meta` elements and the XML declaration of the document itself.
Charset labels follow the WHATWG Encoding Standard.
"""

import codecs
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from types import MappingProxyType

import webencodings

# Charset labels

OTHER_CODECS: Mapping[str, str] = MappingProxyType(
    {"gbk": "gb18030", "replacement": "utf-8", "x-user-defined": "cp1252"}
)
"""Encodings of the standard for which webencodings has another codec than the one used here.

GB18030 is a superset of GBK. Browsers refuse the charsets under `replacement`, but the ASCII parts of such a page are
still readable. Python has no codec for `x-user-defined`.
"""
OTHER_LABELS: Mapping[str, str] = MappingProxyType(
    {
        "latin-1": "cp1252",
        "latin-9": "iso8859-15",
        **{f"iso_8859-{part}": f"iso8859-{part}" for part in (10, 13, 14, 16)},
    }
)
"""Unambiguous labels that occur on the web but not in the standard."""


def lookup_codec(label: str) -> str | None:
    """Return Python's codec for a charset label of the web, or None if the label is unknown."""
    label = label.strip().lower()
    encoding = webencodings.LABELS.get(label)
    if encoding is None:
        return OTHER_LABELS.get(label)
    return OTHER_CODECS.get(encoding) or str(webencodings.lookup(encoding).codec_info.name)


# Declarations inside the document: `meta` elements and the XML declaration

_ANYWHERE_BYTES = 1024
"""Up to this offset a `meta` element counts inside any element."""
_MAX_HEAD_BYTES = 1 << 18
"""The search for `meta` elements ends at this offset."""
_MAX_PROLOG_BYTES = 4096
"""An XML declaration and the start of the root element must lie before this offset."""

_OPENING = re.compile(rb"<(?:(?P<comment>!--)|(?P<name>/?[A-Za-z][^\s/>]*+)|[!/?])")
_COMMENT_END = re.compile(rb"--!?>")
_ATTRIBUTE = re.compile(rb"""[\s/]*+([^\s/>][^\s/>=]*+)(?:\s*+=\s*+(?:"([^"]*+)"?+|'([^']*+)'?+|([^\s>]*+)))?+""")
_ATTRIBUTES = re.compile(rb"(?:%s)*+" % _ATTRIBUTE.pattern)
_CHARSET_IN_CONTENT = re.compile(rb"""charset\s*+=\s*+(?:"([^"]*+)"|'([^']*+)'|([^\s;"'][^\s;]*+))""", re.IGNORECASE)
_XML_DECLARATION = re.compile(rb"""\s*+<\?xml\s[^>]*?encoding\s*=\s*["']([A-Za-z0-9._:\-]+)["']""")
_HTML_TAG = re.compile(rb"<html[\s>]", re.IGNORECASE)

_RAW_TEXT_ELEMENTS = frozenset({b"script", b"style", b"title", b"textarea", b"xmp", b"iframe", b"noembed", b"noframes"})
"""Elements whose content the HTML parser reads as text, including anything that looks like a tag."""
_HEAD_ELEMENTS = frozenset(
    (b"html", b"head", b"meta", b"link", b"base", b"title", b"script", b"style", b"noscript", b"template", b"object")
)


def iter_declared_codecs(body: bytes) -> Iterator[str]:
    """Yield the codecs that a document declares for itself, highest precedence first. Unknown labels are skipped."""
    xml = _XML_DECLARATION.match(body, 0, _MAX_PROLOG_BYTES)
    if xml is None or _HTML_TAG.search(body, 0, _MAX_PROLOG_BYTES):
        for attributes in _iter_metas(body[:_MAX_HEAD_BYTES]):
            for label in _iter_labels(attributes):
                yield from _iter_readable_codecs(label)
    if xml is not None:
        yield from _iter_readable_codecs(xml[1])


def _iter_readable_codecs(label: bytes) -> Iterator[str]:
    """Yield the codec of a label, if it is known; UTF-8 for UTF-16, because a declaration in UTF-16 is not found."""
    codec = lookup_codec(label.decode("ascii", "replace"))
    if codec is not None:
        yield "utf-8" if codec.startswith("utf-16") else codec


def _iter_metas(markup: bytes) -> Iterator[dict[bytes, bytes]]:
    """Yield the attributes of each `meta` element of the head."""
    offset = 0
    while (opening := _OPENING.search(markup, offset)) is not None:
        name = (opening["name"] or b"").lower()
        if not name:
            offset = _comment_end(markup, opening)
        elif name == b"meta":
            attributes, offset = _read_attributes(markup, opening.end())
            yield attributes
        else:
            offset = _tag_end(markup, opening.end(), name)
            if offset > _ANYWHERE_BYTES and name.removeprefix(b"/") not in _HEAD_ELEMENTS:
                return


def _comment_end(markup: bytes, opening: re.Match[bytes]) -> int:
    """Return the offset at which a comment, a document type or a processing instruction ends."""
    if not opening["comment"]:
        end = markup.find(b">", opening.end())
        return len(markup) if end == -1 else end
    closing = _COMMENT_END.search(markup, opening.end() - 2)  # `<!-->` is a complete comment
    return closing.end() if closing else len(markup)


def _tag_end(markup: bytes, offset: int, name: bytes) -> int:
    """Return the offset at which a tag ends; for a raw text element, at which its end tag begins."""
    rest = _ATTRIBUTES.match(markup, offset)
    offset = rest.end() if rest else offset
    if name not in _RAW_TEXT_ELEMENTS:
        return offset
    end = re.compile(rb"</%s[\s/>]" % name, re.IGNORECASE).search(markup, offset)
    return end.start() if end else len(markup)


def _read_attributes(markup: bytes, offset: int) -> tuple[dict[bytes, bytes], int]:
    """Return the attributes from an offset inside a tag, the first of each name, and the offset of their end."""
    found: dict[bytes, bytes] = {}
    while (attribute := _ATTRIBUTE.match(markup, offset)) is not None:
        name, *values = attribute.groups()
        found.setdefault(name.lower(), next((value for value in values if value is not None), b""))
        offset = attribute.end()
    return found, offset


def _iter_labels(meta: dict[bytes, bytes]) -> Iterator[bytes]:
    """Yield the labels that a `meta` element declares, by `charset` and by `http-equiv=content-type`."""
    yield meta.get(b"charset", b"").rstrip(b"/")  # in `<meta charset=utf-8/>` the slash closes the element
    if meta.get(b"http-equiv", b"").lower() == b"content-type":
        found = _CHARSET_IN_CONTENT.search(meta.get(b"content", b""))
        yield found[found.lastindex or 0] if found else b""


# Choice of the charset

_HEAD_BYTES = 4096
_SAMPLE_BYTES = 1 << 14
"""Bytes that are decoded to decide whether a body is UTF-8."""
_MIN_UTF8_EVIDENCE = 3
"""Evidence of valid UTF-8 that, without any invalid sequence, outweighs every declaration."""

_BOMS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_BOM_BYTES = tuple(mark for mark, _ in _BOMS)
_BARE_UTF16 = re.compile(rb"(?:[\t\n\f\r -~]\0){4}|(?P<big>(?:\0[\t\n\f\r -~]){4})")
"""Four ASCII characters in UTF-16, with which documents begin in any language."""
_HEADER_CHARSET = re.compile(r"""charset\s*=\s*["']?\s*([^\s"';,]+)""", re.IGNORECASE)
_ESCAPE = b"\x1b"
"""Switches the character set in ISO-2022-JP, which uses only bytes of ASCII."""


def detect_unicode_signature(body: bytes) -> str | None:
    """Return the codec that a byte order mark or the byte pattern of UTF-16 proves, or None."""
    if body.startswith(_BOM_BYTES):
        return next(codec for mark, codec in _BOMS if body.startswith(mark))
    bare = _BARE_UTF16.match(body) if b"\0" in body[:2] else None
    if bare is None:
        return None
    return "utf-16-be" if bare["big"] else "utf-16-le"


def get_head(body: bytes) -> bytes:
    """Return the first bytes of a body after leading white space."""
    return body[:_HEAD_BYTES].lstrip() or body.lstrip()[:_HEAD_BYTES]


def detect_charset(body: bytes, content_type: str) -> str:
    """Return the codec for a body without a Unicode signature.

    The first declaration counts: the header's, then the document's own. Two rules come before it. A body that is
    clearly UTF-8 is read as UTF-8, and a body that cannot be UTF-8 is not. Most bodies are ASCII or UTF-8, so few are
    searched for declarations.
    """
    header = _header_codec(content_type)
    if header is not None and header.startswith("utf-16"):
        return header if b"\0" in get_head(body) else "utf-8"
    if body.isascii():
        return "utf-8" if _ESCAPE not in body else _detect_iso2022(body, header)
    valid, invalid = _count_utf8(body)
    if valid >= _MIN_UTF8_EVIDENCE and not invalid:
        return "utf-8"
    declared = _iter_codecs(body, header)
    first = next(declared, "utf-8")
    if first not in ("utf-8", "cp1252"):
        return first
    if valid > invalid:
        return "utf-8"
    return next((codec for codec in (first, *declared) if codec != "utf-8"), "cp1252")


def _detect_iso2022(body: bytes, header: str | None) -> str:
    return "iso2022_jp" if next(_iter_codecs(body, header), "") == "iso2022_jp" else "utf-8"


def _iter_codecs(body: bytes, header: str | None) -> Iterator[str]:
    """Yield the declared codecs, highest precedence first. The document is searched only after the header's codec."""
    if header is not None:
        yield header
    yield from iter_declared_codecs(body)


@lru_cache(maxsize=256)
def _header_codec(content_type: str) -> str | None:
    found = _HEADER_CHARSET.search(content_type)
    return lookup_codec(found[1]) if found else None


def _count_utf8(body: bytes) -> tuple[int, int]:
    """Return the evidence for UTF-8 (valid characters beyond ASCII) and against it (invalid sequences)."""
    sample = body[:_SAMPLE_BYTES] if len(body) > _SAMPLE_BYTES else body
    if sample.isascii():
        pieces = (body[start : start + _SAMPLE_BYTES] for start in range(_SAMPLE_BYTES, len(body), _SAMPLE_BYTES))
        sample = next(piece for piece in pieces if not piece.isascii())
    try:
        text, used = codecs.utf_8_decode(sample, "strict", False)
    except UnicodeDecodeError:
        text = sample.decode(errors="replace")
        invalid = text.count("�") - sample.count("�".encode())
        return len(text) - len(text.encode("ascii", "ignore")) - invalid, invalid
    return used - len(text), 0
