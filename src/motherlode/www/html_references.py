"""References of HTML and RDFa as IRIs: resolved by RFC 3986, section 5, and otherwise left as their author spelt them.

The frontier's addresses (`www.urls`) are rewritten until each page has one; the IRIs of statements must not be. Only
characters that no IRI can hold are escaped, as browsers do, so that a space in a path does not cost a statement.
What a browser would send in a page's own charset is written so before it becomes an address: see `query_in`.
"""

from __future__ import annotations

import codecs
import re
from functools import lru_cache, partial

from motherlode.model.terms import IRI_START

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:")
_START = re.compile(IRI_START)
_PARTS = re.compile(r"(?P<scheme>[^:/?#]+:)(?P<authority>//[^/?#]*)?(?P<path>[^?#]*)(?P<query>\?[^#]*)?")
_FORBIDDEN = re.compile(r'[\x00-\x20<>"{}|^`\\\ud800-\udfff]')
_SPACES = " \t\n\f\r"
_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]+")
_NOT_IN_QUERIES = re.compile(rb"[^!$-&(-;=?-~]")
"""Bytes that are always escaped in a query (URL standard, 1.3, "special-query percent-encode set")."""
_LACKING = "motherlode.lacking"
"""Our name for what is done with characters that a charset has not."""


def is_absolute(reference: str) -> bool:
    """Whether a reference names its own scheme.

    >>> is_absolute("mailto:ann@example.org"), is_absolute("a/b:c"), is_absolute("")
    (True, False, False)
    """
    return _SCHEME.match(reference) is not None


def is_valid(resolved: str) -> bool:
    """Whether a reference that was resolved and escaped is an IRI: it has a scheme, and a host that can be one.

    >>> is_valid("http://example.org/a"), is_valid("mailto:ann@example.org"), is_valid("http://[bad"), is_valid("a")
    (True, True, False, False)
    """
    return _START.match(resolved) is not None


@lru_cache(maxsize=8192)
def resolve_iri(base: str, reference: str) -> str:
    """The IRI that a reference means at a base.

    >>> resolve_iri("http://a/b/c/d;p?q", "../g?y#s"), resolve_iri("http://a/b/c/d;p?q", "#s")
    ('http://a/b/g?y#s', 'http://a/b/c/d;p?q#s')
    >>> resolve_iri("http://a/b/c", "x y"), resolve_iri("http://a/b/c", "http://A/../x")
    ('http://a/b/x%20y', 'http://A/../x')
    """
    reference = reference.strip(_SPACES)
    if not _SCHEME.match(reference):
        reference = _joined(base, reference)
    return escaped(reference) if _FORBIDDEN.search(reference) else reference


def escaped(text: str) -> str:
    """Characters that no IRI can hold, percent-encoded.

    >>> escaped("a b{c}")
    'a%20b%7Bc%7D'
    """
    if not _FORBIDDEN.search(text):
        return text
    return _FORBIDDEN.sub(lambda match: "".join(f"%{byte:02X}" for byte in match[0].encode(errors="replace")), text)


def query_in(codec: str, reference: str) -> str:
    """A reference of HTML with its query in the page's charset, as browsers send it (URL standard, 4.4, "query state").

    Paths are in UTF-8 in any case. What the charset lacks is written as HTML would write it.

    >>> query_in("cp1251", "/путь?q=да,я#я"), query_in("cp1252", "?q=да")
    ('/путь?q=%E4%E0,%FF#я', '?q=%26%231076%3B%26%231072%3B')
    """
    before, hash_sign, fragment = reference.partition("#")
    path, mark, query = before.partition("?")
    return path + mark + _BEYOND_ASCII.sub(partial(_escaped_in, codec), query) + hash_sign + fragment


def _escaped_in(codec: str, match: re.Match[str]) -> str:
    written = match[0].encode(codec, _LACKING)
    return _NOT_IN_QUERIES.sub(lambda byte: b"%%%02X" % ord(byte[0]), written).decode("ascii")


def _by_number(error: UnicodeError) -> tuple[str, int]:
    """URL standard, 1.3, "percent-encode after encoding": the number of the character, in escapes."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lacking = error.object[error.start : error.end]
    return "".join(f"%26%23{ord(character)}%3B" for character in lacking), error.end


codecs.register_error(_LACKING, _by_number)


def without_fragment(iri: str) -> str:
    return iri.partition("#")[0]


def _joined(base: str, reference: str) -> str:
    parts = _PARTS.match(base)
    if parts is None:
        return reference
    scheme, authority = parts["scheme"], parts["authority"] or ""
    if reference.startswith("//"):
        return scheme + reference
    head = scheme + authority
    if not reference or reference[0] == "#":
        return f"{head}{parts['path']}{parts['query'] or ''}{reference}"
    if reference[0] == "?":
        return f"{head}{parts['path']}{reference}"
    path, rest = _split_path(reference)
    if path[0] != "/":
        folder = parts["path"][: parts["path"].rfind("/") + 1]
        path = (folder or ("/" if authority else "")) + path
    return head + (_without_dots(path) if "." in path else path) + rest


def _split_path(reference: str) -> tuple[str, str]:
    ends = [at for at in (reference.find("?"), reference.find("#")) if at != -1]
    end = min(ends) if ends else len(reference)
    return reference[:end], reference[end:]


def _without_dots(path: str) -> str:
    """RFC 3986, section 5.2.4.

    >>> _without_dots("/a/b/c/./../../g"), _without_dots("/../a/..")
    ('/a/g', '/')
    """
    kept: list[str] = []
    segments = path.split("/")
    for segment in segments:
        if segment == "..":
            if len(kept) > 1:
                kept.pop()
        elif segment != ".":
            kept.append(segment)
    if segments[-1] in (".", ".."):
        kept.append("")
    return "/".join(kept)
