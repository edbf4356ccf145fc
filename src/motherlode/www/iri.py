"""IRIs of statements: one rule for every syntax.

1. An absolute IRI stays as written.
2. A relative reference is resolved against its base by RFC 3986, section 5.2.
3. White space around an IRI is removed, and each character that RFC 3987 does not allow at its place is
   percent-encoded. Non-ASCII letters are allowed and stay. The caller records a problem.

The URLs that a crawl fetches follow the URL Standard instead (`www.urls`), because servers expect them in the form
that browsers send.
"""

import re
from functools import cache, lru_cache
from typing import NamedTuple

_MAX_CACHED_LENGTH = 512
"""Longer references, such as data URLs, are not kept in the caches."""
_HTML_SPACE = " \t\n\f\r"
_ASCII_SPACE = "".join(map(chr, range(0x21)))

_UCS = "\\xa0-\\ud7ff\\uf900-\\ufdcf\\ufdf0-\\uffef\\U000e1000-\\U000efffd" + "".join(
    f"\\U{plane:04x}0000-\\U{plane:04x}fffd" for plane in range(0x1, 0xE)
)
_PRIVATE = "\\ue000-\\uf8ff\\U000f0000-\\U000ffffd\\U00100000-\\U0010fffd"
_ESCAPE = "%[0-9A-Fa-f]{2}"
_SCHEME = r"[A-Za-z][A-Za-z0-9+.\-]*+:"
_ABSOLUTE = re.compile(_SCHEME)
_HTTP_URL = re.compile("https?://[^/]", re.IGNORECASE)
_SCHEME_REST = re.compile("(?:https?(?::|(?=/)))?/*", re.IGNORECASE)
_WITHOUT_PATH = re.compile(r"https?://[^/?#]+", re.IGNORECASE)
_PARTS = re.compile(r"(?:([A-Za-z][A-Za-z0-9+.\-]*+):)?(?://([^/?#]*+))?([^?#]*+)(?:\?([^#]*+))?(?:#(.*+))?", re.DOTALL)


class _Grammar(NamedTuple):
    """Patterns of a whole IRI, and of what its parts may not contain."""

    iri: re.Pattern[str]
    not_in_authority: re.Pattern[str]
    not_in_path: re.Pattern[str]
    not_in_query: re.Pattern[str]
    not_in_fragment: re.Pattern[str]


def _compile_grammar(ucs: str, private: str) -> _Grammar:
    """Compile the grammar of RFC 3987 (section 2.2) with these characters besides those of ASCII."""
    common = rf"A-Za-z0-9\-._~!$&'()*+,;={ucs}"  # unreserved characters and sub-delimiters
    path, query, fragment = f"{common}:@/", f"{common}:@/?{private}", f"{common}:@/?"
    host = _part(common)
    authority = (
        rf"(?:{host}(?=[/?#]|\Z)"  # a host name alone, as in most IRIs
        rf"|(?:{_part(common + ':')}@)?+(?:\[(?:[0-9A-Fa-f:.]++|v[0-9A-Fa-f]++\.[{common}:]++)\]|{host})"
        r"(?::[0-9]*+)?+(?=[/?#]|\Z))"
    )
    iri = rf"{_SCHEME}(?://{authority}|(?!//)){_part(path)}(?:\?{_part(query)})?+(?:\#{_part(fragment)})?+"
    forbidden = (_forbidden_outside(part) for part in (rf"{common}:@\[\]", path, query, fragment))
    return _Grammar(re.compile(iri), *forbidden)


def _part(characters: str) -> str:
    return f"(?:[{characters}]++|{_ESCAPE})*+"


def _forbidden_outside(characters: str) -> re.Pattern[str]:
    """Return a pattern for all characters that a part may not have, and for a percent sign that starts no escape."""
    return re.compile(rf"[^{characters}%]|%(?![0-9A-Fa-f]{{2}})")


_ASCII_GRAMMAR = _compile_grammar("", "")


@cache
def _unicode_grammar() -> _Grammar:
    """Return the grammar with all characters. It takes 15 ms to compile, and most processes never need it."""
    return _compile_grammar(_UCS, _PRIVATE)


def _grammar_for(text: str) -> _Grammar:
    return _ASCII_GRAMMAR if text.isascii() else _unicode_grammar()


_REPLACEMENT = "\ufffd".encode()

Parts = tuple[str | None, str | None, str, str | None, str | None]
"""Scheme, authority, path, query and fragment; None for a part that is missing."""


class Iri(NamedTuple):
    """An IRI of a statement, and whether it is valid or was repaired."""

    value: str
    term: str
    """The IRI as a term of N-Triples. No statement may have it unless `is_valid`."""
    is_valid: bool
    """False if the text has no scheme or an impossible host, which cannot be repaired."""
    is_repaired: bool
    """True if the text had surrounding white space, or characters that an IRI may not have."""


def is_absolute(reference: str) -> bool:
    """Return whether a reference has a scheme."""
    return _ABSOLUTE.match(reference) is not None


def without_scheme_rest(reference: str) -> str | None:
    """Return an HTTP URL whose scheme is incomplete without the rest of it; None if the scheme is complete.

    >>> [without_scheme_rest(it) for it in ("https:a.example", "http//a.example", "//a.example", "a.example")]
    ['a.example', 'a.example', 'a.example', 'a.example']
    >>> [without_scheme_rest(it) for it in ("http://a.example", "urn:a")]
    [None, None]
    """
    rest = reference if _HTTP_URL.match(reference) else _SCHEME_REST.sub("", reference, count=1)
    return None if is_absolute(rest) else rest


def without_fragment(iri: str) -> str:
    return iri.partition("#")[0]


def split_curie(text: str) -> tuple[str, str] | None:
    """Return prefix and reference of a CURIE, which JSON-LD calls a compact IRI; None if the text is not one."""
    prefix, colon, reference = text.partition(":")
    return None if not colon or reference.startswith("//") else (prefix, reference)


def complete_namespace(iri: str) -> str:
    """Return a namespace with a slash added if it has no path. Terms would become part of the host name otherwise.

    >>> complete_namespace("http://schema.org"), complete_namespace("http://schema.org/")
    ('http://schema.org/', 'http://schema.org/')
    """
    return iri + "/" if _WITHOUT_PATH.fullmatch(iri) else iri


def check(text: str) -> Iri:
    """Return an absolute IRI for use in statements, repaired if necessary.

    >>> check("http://example.org/é x#a#b").value, check("http://example.org/a[0]?b=50%").value
    ('http://example.org/é%20x#a%23b', 'http://example.org/a%5B0%5D?b=50%25')
    >>> check("http://[bad").is_valid, check("no scheme").is_valid, check("http://A.example/../x").is_repaired
    (False, False, False)
    """
    return _known_check(text) if len(text) <= _MAX_CACHED_LENGTH else _check(text)


def resolve_and_check(base: str, reference: str) -> Iri:
    """Resolve a reference against a base and check it. Surrounding white space is allowed, as in HTML."""
    if len(reference) > _MAX_CACHED_LENGTH or len(base) > _MAX_CACHED_LENGTH:
        return _check(resolve(base, reference.strip(_HTML_SPACE)))
    return _known_resolve_and_check(base, reference)


def resolve(base: str, reference: str) -> str:
    """Resolve a reference against a base (RFC 3986, section 5.2), without repairs.

    An absolute IRI stays as written, also if it has dot segments.

    >>> resolve("http://a/b/c/d;p?q", "../../../g"), resolve("http://a", "g"), resolve("http://a/b#c", "")
    ('http://a/g', 'http://a/g', 'http://a/b')
    >>> resolve("http://a/b", "http://A/../x"), resolve("http://a/b", "//c/./d")
    ('http://A/../x', 'http://c/d')
    """
    if _ABSOLUTE.match(reference):
        return reference
    split_base = _known_split if len(base) <= _MAX_CACHED_LENGTH else split
    scheme, base_authority, base_path, base_query, _ = split_base(base)
    _, authority, path, query, fragment = split(reference)
    if authority is not None:
        return join((scheme, authority, _remove_dot_segments(path), query, fragment))
    if not path:
        return join((scheme, base_authority, base_path, base_query if query is None else query, fragment))
    if path[0] != "/":
        folder = base_path[: base_path.rfind("/") + 1]
        path = ("/" if base_authority is not None and not base_path else folder) + path
    return join((scheme, base_authority, _remove_dot_segments(path), query, fragment))


def split(reference: str) -> Parts:
    """Return the parts of a reference (RFC 3986, appendix B)."""
    found = _PARTS.fullmatch(reference)
    assert found is not None  # every part is optional, so every string matches
    scheme, authority, path, query, fragment = found.groups()
    return scheme, authority, path or "", query, fragment


def join(parts: Parts) -> str:
    """Return the reference with these parts (RFC 3986, section 5.3)."""
    scheme, authority, path, query, fragment = parts
    text = path if authority is None else f"//{authority}{path}"
    if scheme is not None:
        text = f"{scheme}:{text}"
    if query is not None:
        text = f"{text}?{query}"
    return text if fragment is None else f"{text}#{fragment}"


def repair_message(iri: Iri) -> str:
    """Return the message of the problem that every syntax records for a repaired IRI."""
    return f"not a valid IRI, read as {iri.term[:200]}{'' if len(iri.term) <= 200 else '…'}"


def _check(text: str) -> Iri:
    grammar = _grammar_for(text)
    if grammar.iri.fullmatch(text):
        return Iri(text, f"<{text}>", True, False)
    repaired = _repair(text, grammar)
    return Iri(repaired, f"<{repaired}>", grammar.iri.fullmatch(repaired) is not None, repaired != text)


_known_check = lru_cache(maxsize=16_384)(_check)
_known_split = lru_cache(maxsize=256)(split)


@lru_cache(maxsize=8_192)
def _known_resolve_and_check(base: str, reference: str) -> Iri:
    return _check(resolve(base, reference.strip(_HTML_SPACE)))


def _repair(text: str, grammar: _Grammar) -> str:
    scheme, authority, path, query, fragment = split(text.strip(_ASCII_SPACE))
    return join(
        (
            scheme,
            None if authority is None else grammar.not_in_authority.sub(_percent_encode, authority),
            grammar.not_in_path.sub(_percent_encode, path),
            None if query is None else grammar.not_in_query.sub(_percent_encode, query),
            None if fragment is None else grammar.not_in_fragment.sub(_percent_encode, fragment),
        )
    )


def _percent_encode(found: re.Match[str]) -> str:
    try:
        encoded = found[0].encode()
    except UnicodeEncodeError:  # a lone surrogate is not a character
        encoded = _REPLACEMENT
    return "".join(f"%{byte:02X}" for byte in encoded)


def _remove_dot_segments(path: str) -> str:
    """Remove dot segments (RFC 3986, section 5.2.4)."""
    if "." not in path:
        return path
    kept: list[str] = []
    segments = path.split("/")
    for segment in segments:
        if segment == "..":
            if len(kept) > 1 or (kept and kept[0]):
                kept.pop()
        elif segment != ".":
            kept.append(segment)
    if segments[-1] in (".", ".."):
        kept.append("")
    return "/".join(kept)
