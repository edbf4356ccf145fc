"""Which charset a body is in: byte order mark, header, the document's own word, and whether the bytes agree."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from functools import lru_cache

from motherlode.detect.labels import codec_of
from motherlode.detect.prescan import claims_in

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
