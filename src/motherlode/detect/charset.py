"""Names of charsets as the web uses them, and Python's codec for each (WHATWG Encoding, section 4.2)."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from types import MappingProxyType

ENCODINGS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "utf-8": ("utf-8", "unicode-1-1-utf-8 unicode11utf8 unicode20utf8 utf8 x-unicode20utf8"),
        "ibm866": ("cp866", "866 cp866 csibm866"),
        "iso-8859-2": ("iso8859_2", "csisolatin2 iso-ir-101 iso8859-2 iso88592 iso_8859-2 iso_8859-2:1987 l2 latin2"),
        "iso-8859-3": ("iso8859_3", "csisolatin3 iso-ir-109 iso8859-3 iso88593 iso_8859-3 iso_8859-3:1988 l3 latin3"),
        "iso-8859-4": ("iso8859_4", "csisolatin4 iso-ir-110 iso8859-4 iso88594 iso_8859-4 iso_8859-4:1988 l4 latin4"),
        "iso-8859-5": (
            "iso8859_5",
            "csisolatincyrillic cyrillic iso-ir-144 iso8859-5 iso88595 iso_8859-5 iso_8859-5:1988",
        ),
        "iso-8859-6": (
            "iso8859_6",
            "arabic asmo-708 csiso88596e csiso88596i csisolatinarabic ecma-114 iso-8859-6-e iso-8859-6-i "
            "iso-ir-127 iso8859-6 iso88596 iso_8859-6 iso_8859-6:1987",
        ),
        "iso-8859-7": (
            "iso8859_7",
            "csisolatingreek ecma-118 elot_928 greek greek8 iso-ir-126 iso8859-7 iso88597 iso_8859-7 "
            "iso_8859-7:1987 sun_eu_greek",
        ),
        "iso-8859-8": (
            "iso8859_8",
            "csiso88598e csisolatinhebrew hebrew iso-8859-8-e iso-ir-138 iso8859-8 iso88598 iso_8859-8 "
            "iso_8859-8:1988 visual",
        ),
        "iso-8859-8-i": ("iso8859_8", "csiso88598i logical"),
        "iso-8859-10": ("iso8859_10", "csisolatin6 iso-ir-157 iso8859-10 iso885910 l6 latin6"),
        "iso-8859-13": ("iso8859_13", "iso8859-13 iso885913"),
        "iso-8859-14": ("iso8859_14", "iso8859-14 iso885914"),
        "iso-8859-15": ("iso8859_15", "csisolatin9 iso8859-15 iso885915 iso_8859-15 l9"),
        "iso-8859-16": ("iso8859_16", ""),
        "koi8-r": ("koi8_r", "cskoi8r koi koi8 koi8_r"),
        "koi8-u": ("koi8_u", "koi8-ru"),
        "macintosh": ("mac_roman", "csmacintosh mac x-mac-roman"),
        "windows-874": ("cp874", "dos-874 iso-8859-11 iso8859-11 iso885911 tis-620"),
        "windows-1250": ("cp1250", "cp1250 x-cp1250"),
        "windows-1251": ("cp1251", "cp1251 x-cp1251"),
        "windows-1252": (
            "cp1252",
            "ansi_x3.4-1968 ascii cp1252 cp819 csisolatin1 ibm819 iso-8859-1 iso-ir-100 iso8859-1 iso88591 "
            "iso_8859-1 iso_8859-1:1987 l1 latin1 us-ascii x-cp1252",
        ),
        "windows-1253": ("cp1253", "cp1253 x-cp1253"),
        "windows-1254": (
            "cp1254",
            "cp1254 csisolatin5 iso-8859-9 iso-ir-148 iso8859-9 iso88599 iso_8859-9 iso_8859-9:1989 l5 latin5 x-cp1254",
        ),
        "windows-1255": ("cp1255", "cp1255 x-cp1255"),
        "windows-1256": ("cp1256", "cp1256 x-cp1256"),
        "windows-1257": ("cp1257", "cp1257 x-cp1257"),
        "windows-1258": ("cp1258", "cp1258 x-cp1258"),
        "x-mac-cyrillic": ("mac_cyrillic", "x-mac-ukrainian"),
        "gbk": ("gb18030", "chinese csgb2312 csiso58gb231280 gb2312 gb_2312 gb_2312-80 iso-ir-58 x-gbk"),
        "gb18030": ("gb18030", ""),
        "big5": ("big5hkscs", "big5-hkscs cn-big5 csbig5 x-x-big5"),
        "euc-jp": ("euc_jp", "cseucpkdfmtjapanese x-euc-jp"),
        "iso-2022-jp": ("iso2022_jp", "csiso2022jp"),
        "shift_jis": ("cp932", "csshiftjis ms932 ms_kanji shift-jis sjis windows-31j x-sjis"),
        "euc-kr": (
            "cp949",
            "cseuckr csksc56011987 iso-ir-149 korean ks_c_5601-1987 ks_c_5601-1989 ksc5601 ksc_5601 windows-949",
        ),
        "replacement": ("utf-8", "csiso2022kr hz-gb-2312 iso-2022-cn iso-2022-cn-ext iso-2022-kr"),
        "utf-16be": ("utf-16-be", "unicodefffe"),
        "utf-16le": ("utf-16-le", "csunicode iso-10646-ucs-2 ucs-2 unicode unicodefeff utf-16"),
        "x-user-defined": ("cp1252", ""),
    }
)
"""Each encoding of the standard → Python's codec, and its other labels.

Under `replacement` stand those that no browser reads any more: what is ASCII in such a page can still be had.
"""

_ALSO_MET = {
    "latin-1": "cp1252",
    "latin-9": "iso8859_15",
    **{f"iso_8859-{part}": f"iso8859_{part}" for part in (10, 13, 14, 16)},
}
"""Labels that the standard does not have, and whose authors can have meant but one thing."""

CODECS: Mapping[str, str] = MappingProxyType(
    {label: codec for name, (codec, others) in ENCODINGS.items() for label in (name, *others.split())} | _ALSO_MET
)
"""Python's codec for each label. No other codec is ever used."""


def codec_of(label: str) -> str | None:
    """Python's codec for a charset label as the web means it, or None.

    >>> codec_of(" ISO-8859-1 "), codec_of("GB2312"), codec_of("utf-7"), codec_of("rot13")
    ('cp1252', 'gb18030', None, None)
    """
    return CODECS.get(label.strip().lower())


# ── What a document says of its own charset: `meta` elements and the XML declaration.

_ANYWHERE = 1024
"""Bytes in which a `meta` counts, whatever element it stands in."""
_FARTHEST = 1 << 18
"""Bytes after which no head is read any further."""
_FIRST_TAGS = 4096
"""Bytes in which an XML declaration ends, and the first element begins."""

_OPENING = re.compile(rb"<(?:(?P<comment>!--)|(?P<name>/?[A-Za-z][^\s/>]*+)|[!/?])")
_COMMENT_END = re.compile(rb"--!?>")
_ATTRIBUTE = re.compile(rb"""[\s/]*+([^\s/>][^\s/>=]*+)(?:\s*+=\s*+(?:"([^"]*+)"?+|'([^']*+)'?+|([^\s>]*+)))?+""")
_ATTRIBUTES = re.compile(rb"(?:%s)*+" % _ATTRIBUTE.pattern)
_IN_CONTENT = re.compile(rb"""charset\s*+=\s*+(?:"([^"]*+)"|'([^']*+)'|([^\s;"'][^\s;]*+))""", re.IGNORECASE)
_XML = re.compile(rb"""\s*+<\?xml\s[^>]*?encoding\s*=\s*["']([A-Za-z0-9._:\-]+)["']""")
_HTML = re.compile(rb"<html[\s>]", re.IGNORECASE)

_TEXT_ONLY = frozenset({b"script", b"style", b"title", b"textarea", b"xmp", b"iframe", b"noembed", b"noframes"})
"""Elements in which tags are but text."""
_IN_HEAD = frozenset(
    (b"html", b"head", b"meta", b"link", b"base", b"title", b"script", b"style", b"noscript", b"template", b"object")
)


def claims_in(body: bytes) -> Iterator[str]:
    """The codecs that a document names for itself, what counts most first. Labels that nobody knows are passed over.

    >>> list(claims_in(b"<title>charset</title><meta name=description content='charset=koi8-r'><meta charset=latin1>"))
    ['cp1252']
    """
    xml = _XML.match(body, 0, _FIRST_TAGS)
    if xml is None or _HTML.search(body, 0, _FIRST_TAGS):
        for attributes in _metas(body[:_FARTHEST]):
            for label in _labels_in(attributes):
                yield from _readable(label)
    if xml is not None:
        yield from _readable(xml[1])


def _readable(label: bytes) -> Iterator[str]:
    codec = codec_of(label.decode("ascii", "replace"))
    if codec is not None:  # and what could be read so far is not in UTF-16, whatever it says of itself
        yield "utf-8" if codec.startswith("utf-16") else codec


def _metas(markup: bytes) -> Iterator[dict[bytes, bytes]]:
    """The attributes of each `meta` element of the head."""
    place = 0
    while (opening := _OPENING.search(markup, place)) is not None:
        name = (opening["name"] or b"").lower()
        if not name:
            place = _after_comment(markup, opening)
        elif name == b"meta":
            attributes, place = _attributes(markup, opening.end())
            yield attributes
        else:
            place = _after_tag(markup, opening.end(), name)
            if place > _ANYWHERE and name.removeprefix(b"/") not in _IN_HEAD:
                return


def _after_comment(markup: bytes, opening: re.Match[bytes]) -> int:
    """Where a comment ends, or what is read like one: a document type, a processing instruction."""
    if not opening["comment"]:
        return _or_end(markup, markup.find(b">", opening.end()))
    end = _COMMENT_END.search(markup, opening.end() - 2)  # <!--> is a whole one
    return end.end() if end else len(markup)


def _after_tag(markup: bytes, place: int, name: bytes) -> int:
    """Where a tag ends; for elements of text alone, where their end tag begins."""
    rest = _ATTRIBUTES.match(markup, place)
    place = rest.end() if rest else place
    if name not in _TEXT_ONLY:
        return place
    end = re.compile(rb"</%s[\s/>]" % name, re.IGNORECASE).search(markup, place)
    return end.start() if end else len(markup)


def _or_end(markup: bytes, place: int) -> int:
    return len(markup) if place == -1 else place


def _attributes(markup: bytes, place: int) -> tuple[dict[bytes, bytes], int]:
    """The attributes of the tag in which a place is, the first of each name, and where they end."""
    found: dict[bytes, bytes] = {}
    while (attribute := _ATTRIBUTE.match(markup, place)) is not None:
        name, *values = attribute.groups()
        found.setdefault(name.lower(), next((value for value in values if value is not None), b""))
        place = attribute.end()
    return found, place


def _labels_in(meta: dict[bytes, bytes]) -> Iterator[bytes]:
    """The labels that a `meta` element declares: by `charset`, and in the place of a header."""
    yield meta.get(b"charset", b"").rstrip(b"/")  # the slash of XHTML, behind a value without quotes
    if meta.get(b"http-equiv", b"").lower() == b"content-type":
        found = _IN_CONTENT.search(meta.get(b"content", b""))
        yield found[found.lastindex or 0] if found else b""


# ── Which charset a body is in: byte order mark, header, the document's own word, and whether the bytes agree.

_HEAD = 4096
_SAMPLE = 1 << 14
"""Bytes that are looked at to tell whether a body is UTF-8."""

_BEYOND_COINCIDENCE = 3
"""So many well-formed characters, and none that is not, outweigh any other claim."""

_BOMS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_BOM_MARKS = tuple(mark for mark, _ in _BOMS)
_BARE_UTF16 = re.compile(rb"(?:[\t\n\f\r -~]\0){4}|(?P<big>(?:\0[\t\n\f\r -~]){4})")
"""Documents begin with characters of ASCII, whatever they go on with."""
_HEADER = re.compile(r"""charset\s*=\s*["']?\s*([^\s"';,]+)""", re.IGNORECASE)
_ESCAPE = b"\x1b"
"""Begins each change of alphabet in ISO-2022-JP, which has no byte beyond ASCII."""


def unmistakable(body: bytes) -> str | None:
    """The codec that the first bytes leave no doubt about: a byte order mark, or UTF-16 without one.

    >>> unmistakable("<p>1".encode("utf-16-be")), unmistakable(b"\\xef\\xbb\\xbf<p>"), unmistakable(b"<p>1")
    ('utf-16-be', 'utf-8-sig', None)
    """
    if body.startswith(_BOM_MARKS):
        return next(codec for mark, codec in _BOMS if body.startswith(mark))
    bare = _BARE_UTF16.match(body) if b"\0" in body[:2] else None
    if bare is None:
        return None
    return "utf-16-be" if bare["big"] else "utf-16-le"


def head_of(body: bytes) -> bytes:
    """How a body begins, without the white space before it."""
    return body[:_HEAD].lstrip() or body.lstrip()[:_HEAD]


def charset_of(body: bytes, content_type: str) -> str:
    """The codec to read a body with that has no unmistakable mark.

    The first claim counts (header, then what the document says itself), but bytes that are UTF-8 beyond coincidence
    are read as such, and bytes that cannot be UTF-8 are not. Most bodies are, so that few are searched for a claim.

    >>> charset_of("é".encode(), "text/html; charset=iso-8859-1")
    'utf-8'
    >>> charset_of("é".encode("latin-1"), "text/html; charset=utf-8")
    'cp1252'
    """
    header = _in_header(content_type)
    if header is not None and header.startswith("utf-16"):
        return header if b"\0" in head_of(body) else "utf-8"
    if body.isascii():
        return "utf-8" if _ESCAPE not in body else _with_escapes(body, header)
    good, bad = _utf8_evidence(body)
    if good >= _BEYOND_COINCIDENCE and not bad:
        return "utf-8"
    claims = _claims(body, header)
    first = next(claims, "utf-8")
    if first not in ("utf-8", "cp1252"):
        return first
    if good > bad:
        return "utf-8"
    return next((codec for codec in (first, *claims) if codec != "utf-8"), "cp1252")


def _with_escapes(body: bytes, header: str | None) -> str:
    return "iso2022_jp" if next(_claims(body, header), "") == "iso2022_jp" else "utf-8"


def _claims(body: bytes, header: str | None) -> Iterator[str]:
    """Every codec that is named for a body, what counts most first. Nobody looks into the document before he must."""
    if header is not None:
        yield header
    yield from claims_in(body)


@lru_cache(maxsize=256)
def _in_header(content_type: str) -> str | None:
    found = _HEADER.search(content_type)
    return codec_of(found[1]) if found else None


def _utf8_evidence(body: bytes) -> tuple[int, int]:
    """How many characters beyond ASCII are well-formed UTF-8, and how many are not, in a sample that has some."""
    sample = body[:_SAMPLE] if len(body) > _SAMPLE else body
    if sample.isascii():
        pieces = (body[start : start + _SAMPLE] for start in range(_SAMPLE, len(body), _SAMPLE))
        sample = next(piece for piece in pieces if not piece.isascii())
    try:
        text, used = codecs.utf_8_decode(sample, "strict", False)
    except UnicodeDecodeError:
        text = sample.decode(errors="replace")
        bad = text.count("�") - sample.count("�".encode())
        return len(text) - len(text.encode("ascii", "ignore")) - bad, bad
    return used - len(text), 0  # at least one byte more for each such character
