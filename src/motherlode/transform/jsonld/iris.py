"""IRIs: telling them apart, resolving references (RFC 3986, section 5.2), and spelling them as terms."""

from __future__ import annotations

import re
from functools import lru_cache

from motherlode.model import terms

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:").match
_PARTS = re.compile(r"(?:([A-Za-z][A-Za-z0-9+.\-]*):)?(?://([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?", re.DOTALL)
_LANGUAGE = re.compile(r"[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8})*").fullmatch
_LONGEST = 65_536
_REMEMBERED = 512
"""Longer strings are not kept in memory for the next time."""


def is_absolute(value: str) -> bool:
    """Whether a string starts as an IRI does: with a scheme.

    >>> is_absolute("http://example.org/"), is_absolute("#a:b"), is_absolute("name")
    (True, False, False)
    """
    return _SCHEME(value) is not None


def is_blank(value: str) -> bool:
    return value.startswith("_:")


def well_formed(value: str) -> str | None:
    """The term of an IRI, or None where it is not one.

    >>> well_formed("http://example.org/a#b"), well_formed("http://example.org/a#b#c"), well_formed("a")
    ('<http://example.org/a#b>', None, None)
    """
    return _known_term(value) if len(value) <= _REMEMBERED else _term(value)


def _term(value: str) -> str | None:
    if value.count("#") > 1 or len(value) > _LONGEST:
        return None
    return terms.iri(value)


_known_term = lru_cache(maxsize=16_384)(_term)


def is_language_tag(value: str) -> bool:
    """Whether a tag is well-formed by BCP 47, section 2.2.9 (its general shape).

    >>> is_language_tag("de-AT"), is_language_tag("en_US")
    (True, False)
    """
    return _LANGUAGE(value) is not None


def resolve(base: str, reference: str) -> str:
    """The IRI that a reference means against a base; the base's path is not normalised unless it is used.

    >>> resolve("http://a/b/c/d;p?q", "../../../g"), resolve("http://a", "g"), resolve("http://a/b#c", "")
    ('http://a/g', 'http://a/g', 'http://a/b')
    """
    scheme, authority, path, query, fragment = _split(reference)
    if scheme is not None:
        return _join(scheme, authority, _remove_dots(path), query, fragment)
    split = _split_known if len(base) <= _REMEMBERED else _split
    base_scheme, base_authority, base_path, base_query, _ = split(base)
    if authority is not None:
        return _join(base_scheme, authority, _remove_dots(path), query, fragment)
    if not path:
        return _join(base_scheme, base_authority, base_path, base_query if query is None else query, fragment)
    if not path.startswith("/"):
        path = _merge(base_authority, base_path, path)
    return _join(base_scheme, base_authority, _remove_dots(path), query, fragment)


_Parts = tuple[str | None, str | None, str, str | None, str | None]


def _split(value: str) -> _Parts:
    found = _PARTS.fullmatch(value)
    assert found is not None  # every string matches: all parts are optional
    scheme, authority, path, query, fragment = found.groups()
    return scheme, authority, path or "", query, fragment


_split_known = lru_cache(maxsize=256)(_split)


def _merge(authority: str | None, base_path: str, path: str) -> str:
    if authority is not None and not base_path:
        return "/" + path
    return base_path[: base_path.rfind("/") + 1] + path


def _remove_dots(path: str) -> str:
    """RFC 3986, section 5.2.4, on whole segments."""
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


def _join(scheme: str | None, authority: str | None, path: str, query: str | None, fragment: str | None) -> str:
    return "".join(
        (
            f"{scheme}:" if scheme is not None else "",
            f"//{authority}" if authority is not None else "",
            path,
            f"?{query}" if query is not None else "",
            f"#{fragment}" if fragment is not None else "",
        )
    )
