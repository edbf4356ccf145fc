"""Write and read RDF terms in N-Triples syntax, and the prefixes that queries need not declare."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
XSD = "http://www.w3.org/2001/XMLSchema#"
RDF_TYPE = f"<{RDF}type>"

_FORBIDDEN_IN_IRI = re.compile(r'[\x00-\x20<>"{}|^`\\\ud800-\udfff]')
IRI_START = (
    r"[A-Za-z][A-Za-z0-9+.\-]*+:"
    r"(?://(?:[^/?#@:>\[\]]*+(?![^/?#>])"  # the common case: a host name without user or port
    r"|(?:[^/?#@>\[\]]*+@)?(?:\[[0-9A-Fa-f:.]+\]|[^/?#@:>\[\]]*+)(?::[0-9]*+)?(?![^/?#>]))|(?!//))"
)
"""Pattern of the start of an IRI: the scheme and, if present, a valid authority (RFC 3986, section 3.2)."""
_ABSOLUTE = re.compile(IRI_START)
_IMPLICIT_DATATYPES = frozenset({XSD + "string", RDF + "langString", RDF + "dirLangString"})
"""Datatypes that N-Triples does not write: those of plain strings and of strings with a language tag."""
_LANGUAGE = re.compile(r"[a-z]{1,8}(-[a-z0-9]{1,8})*")
_ESCAPES = (("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n"), ("\r", "\\r"))
"""The backslash is first, because the other escapes add backslashes."""
_SURROGATES = re.compile(r"[\ud800-\udfff]")
_NOT_IN_PAGE_IRI = re.compile(r'[\x00-\x20<>"{}|^`\\\ud800-\udfff\[\]]|%(?![0-9A-Fa-f]{2})')
_AUTHORITY = re.compile(r"[^:/?#]+://\[[^\]]*\]")


def iri(value: str) -> str | None:
    """Return the term of an absolute IRI, or None if N-Triples cannot represent it.

    >>> iri("http://example.org/a"), iri("no scheme"), iri("http://example.org/{x}"), iri("http://[bad")
    ('<http://example.org/a>', None, None, None)
    """
    if _FORBIDDEN_IN_IRI.search(value) or not _ABSOLUTE.match(value):
        return None
    return f"<{value}>"


@lru_cache(maxsize=1024)
def _language_tag(language: str) -> str:
    """Return the language tag in lower case, with hyphens for underscores (en_US); "" if it is invalid."""
    tag = language.lower().replace("_", "-")
    return tag if _LANGUAGE.fullmatch(tag) else ""


def literal(value: str, *, language: str = "", datatype: str = "") -> str:
    r"""Return the term of a literal. An invalid language tag or datatype is dropped, except that en_US means en-US.

    >>> literal('say "hi"\n'), literal("chat", language="fr"), literal("1", datatype=XSD + "integer")
    ('"say \\"hi\\"\\n"', '"chat"@fr', '"1"^^<http://www.w3.org/2001/XMLSchema#integer>')
    """
    if '"' in value or "\n" in value or "\\" in value or "\r" in value:
        for character, escaped in _ESCAPES:
            value = value.replace(character, escaped)
    if not value.isascii():
        value = _replace_surrogates(value)
    if language and (tag := _language_tag(language)):
        return f'"{value}"@{tag}'
    if datatype and (term := _datatype_term(datatype)):
        return f'"{value}"^^{term}'
    return f'"{value}"'


def _replace_surrogates(value: str) -> str:
    """Replace lone surrogates. Encoding is a faster test than a search for them."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return _SURROGATES.sub("�", value)
    return value


@lru_cache(maxsize=1024)
def _datatype_term(datatype: str) -> str:
    """Return the term of a datatype; "" for the datatypes of strings and if it is not an IRI."""
    return "" if datatype in _IMPLICIT_DATATYPES else iri(datatype) or ""


def page_iri(url: str) -> str:
    """Return the term that names a page: its URL, with the characters escaped that an IRI may not contain.

    >>> page_iri("http://example.org/a|b?c={d}"), page_iri("http://[::1]/50%?a[0]=1")
    ('<http://example.org/a%7Cb?c=%7Bd%7D>', '<http://[::1]/50%25?a%5B0%5D=1>')
    """
    host = _AUTHORITY.match(url)  # matches only IPv6 addresses, whose brackets are not escaped
    start = host.end() if host else 0
    return f"<{url[:start]}{_NOT_IN_PAGE_IRI.sub(lambda match: f'%{ord(match[0]):02X}', url[start:])}>"


def iri_value(term: str) -> str:
    """Return the IRI of an IRI term, without its angle brackets."""
    return term[1:-1]


# ── Prefixes that queries and targets may use without declaring them ─────────────────────────────────

PREFIXES: dict[str, str] = json.loads(Path(__file__).with_name("prefixes.json").read_bytes())


_SCHEMES_WITHOUT_SLASHES = frozenset(
    {"cid", "data", "did", "doi", "info", "mailto", "ni", "oid", "tag", "tel", "urn", "uuid"}
)
"""Schemes of IRIs that look like a prefixed name but are not."""


def expand_prefix(name: str, prefixes: Mapping[str, str] = PREFIXES) -> str | None:
    """Return the IRI of a prefixed name, or a name that is no prefixed name unchanged; None if the prefix is unknown.

    >>> expand_prefix("foaf:name"), expand_prefix("urn:x"), expand_prefix("fof:name")
    ('http://xmlns.com/foaf/0.1/name', 'urn:x', None)
    """
    prefix, colon, local = name.partition(":")
    if not colon or local.startswith("//"):
        return name
    if prefix in prefixes:
        return prefixes[prefix] + local
    return name if prefix.lower() in _SCHEMES_WITHOUT_SLASHES else None


def prefixed_name(iri: str) -> str:
    """Return an IRI as a prefixed name, or unchanged if no common prefix fits.

    >>> prefixed_name("http://schema.org/name"), prefixed_name("urn:x")
    ('schema:name', 'urn:x')
    """
    for prefix, start in PREFIXES.items():
        if iri.startswith(start) and len(iri) > len(start):
            return f"{prefix}:{iri[len(start) :]}"
    return iri
