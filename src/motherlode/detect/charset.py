"""Which charset a body is in: byte order mark, header, the document's own word, and whether the bytes agree."""

from __future__ import annotations

import codecs
import re
from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType

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
_META = re.compile(rb"""<meta\s[^>]*?charset\s*=\s*["']?\s*([^\s"'/>;]+)""", re.IGNORECASE)
_XML = re.compile(rb"""<\?xml\s[^>]*?encoding\s*=\s*["']([A-Za-z0-9._:\-]+)["']""")
_COMMENT = re.compile(rb"<!--(?:.*?-->|.*)", re.DOTALL)

_CODECS = {
    "utf-8": "utf-8 utf8 unicode-1-1-utf-8 unicode11utf8 unicode20utf8 x-unicode20utf8",
    "cp1252": "windows-1252 cp1252 x-cp1252 iso-8859-1 iso8859-1 iso88591 iso_8859-1 iso_8859-1:1987 iso-ir-100 latin1"
    " latin-1 l1 ascii us-ascii ansi_x3.4-1968 cp819 ibm819 csisolatin1",
    "cp1254": "windows-1254 cp1254 x-cp1254 iso-8859-9 iso8859-9 iso88599 iso_8859-9 latin5 l5 iso-ir-148 csisolatin5",
    "cp874": "windows-874 dos-874 tis-620 iso-8859-11 iso8859-11 iso885911",
    "gb18030": "gb18030 gbk x-gbk gb2312 gb_2312 gb_2312-80 chinese csgb2312 iso-ir-58 csiso58gb231280",
    "big5hkscs": "big5 big5-hkscs cn-big5 csbig5 x-x-big5",
    "cp949": "euc-kr cseuckr korean ks_c_5601-1987 ks_c_5601-1989 ksc5601 ksc_5601 iso-ir-149 windows-949",
    "cp932": "shift_jis shift-jis sjis x-sjis ms932 ms_kanji csshiftjis windows-31j",
    "euc_jp": "euc-jp cseucpkdfmtjapanese x-euc-jp",
    "iso2022_jp": "iso-2022-jp csiso2022jp",
    "koi8_r": "koi8-r koi8 koi cskoi8r koi8_r",
    "koi8_u": "koi8-u koi8-ru",
    "cp866": "ibm866 cp866 866 csibm866",
    "mac_roman": "macintosh mac x-mac-roman csmacintosh",
    "mac_cyrillic": "x-mac-cyrillic x-mac-ukrainian",
    "utf-16-le": "utf-16 utf-16le ucs-2 unicode iso-10646-ucs-2 csunicode unicodefeff",
    "utf-16-be": "utf-16be unicodefffe",
    **{f"cp125{n}": f"windows-125{n} cp125{n} x-cp125{n}" for n in (0, 1, 3, 5, 6, 7, 8)},
    **{f"iso8859_{n}": f"iso-8859-{n} iso8859-{n} iso8859{n} iso_8859-{n}" for n in (*range(2, 9), 10, *range(13, 17))},
}
CODECS: Mapping[str, str] = MappingProxyType(
    {label: codec for codec, labels in _CODECS.items() for label in labels.split()}
    | {"iso-8859-8-i": "iso8859_8", "iso-8859-8-e": "iso8859_8", "latin2": "iso8859_2", "latin-9": "iso8859_15"}
)
"""Python's codec for each label of a charset (WHATWG Encoding, section 4.2). No other codec is ever used."""


def codec_of(label: str) -> str | None:
    """Python's codec for a charset label as the web means it, or None.

    >>> codec_of(" ISO-8859-1 "), codec_of("GB2312"), codec_of("utf-7"), codec_of("rot13")
    ('cp1252', 'gb18030', None, None)
    """
    return CODECS.get(label.strip().lower())


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

    The first claim counts (header, then `meta` or XML declaration), but bytes that are UTF-8 beyond coincidence are
    read as such, and bytes that cannot be UTF-8 are not.

    >>> charset_of("é".encode(), "text/html; charset=iso-8859-1")
    'utf-8'
    >>> charset_of("é".encode("latin-1"), "text/html; charset=utf-8")
    'cp1252'
    """
    first = _in_header(content_type) or _in_document(head_of(body)) or "utf-8"
    if first.startswith("utf-16"):
        return first if b"\0" in head_of(body) else "utf-8"
    if body.isascii():
        return first if first == "iso2022_jp" else "utf-8"
    good, bad = _utf8_evidence(body)
    if first in ("utf-8", "cp1252"):
        return "utf-8" if good > bad else _other_than_utf8(body, content_type)
    return "utf-8" if good >= _BEYOND_COINCIDENCE and not bad else first


def _other_than_utf8(body: bytes, content_type: str) -> str:
    """The first claim that is not refuted for bytes that are not UTF-8."""
    claims = (_in_header(content_type), _in_document(head_of(body)))
    return next((codec for codec in claims if codec not in (None, "utf-8")), None) or "cp1252"


@lru_cache(maxsize=256)
def _in_header(content_type: str) -> str | None:
    found = _HEADER.search(content_type)
    return codec_of(found[1]) if found else None


def _in_document(head: bytes) -> str | None:
    found = _XML.match(head) or _META.search(_COMMENT.sub(b"", head) if b"<!--" in head else head)
    codec = codec_of(found[1].decode("ascii", "replace")) if found else None
    # a document that could be read so far is not in UTF-16, whatever it says of itself
    return "utf-8" if codec is not None and codec.startswith("utf-16") else codec


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
        return sum(character > "\x7f" for character in text) - bad, bad
    return used - len(text), 0  # at least one byte more for each such character
