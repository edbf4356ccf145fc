"""Terms in N-Triples spelling: how they are written, and how they are read apart again."""

from __future__ import annotations

import re
from functools import lru_cache

RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
XSD = "http://www.w3.org/2001/XMLSchema#"
RDF_TYPE = f"<{RDF}type>"

_FORBIDDEN_IN_IRI = re.compile(r'[\x00-\x20<>"{}|^`\\\ud800-\udfff]')
IRI_START = (
    r"[A-Za-z][A-Za-z0-9+.\-]*+:"
    r"(?://(?:[^/?#@:>\[\]]*+(?![^/?#>])"  # a plain host, as nearly all are
    r"|(?:[^/?#@>\[\]]*+@)?(?:\[[0-9A-Fa-f:.]+\]|[^/?#@:>\[\]]*+)(?::[0-9]*+)?(?![^/?#>]))|(?!//))"
)
"""How an IRI starts, as a pattern: a scheme, and if it names a host, one that can be (RFC 3986, section 3.2)."""
_ABSOLUTE = re.compile(IRI_START)
_TOLD_OTHERWISE = frozenset({XSD + "string", RDF + "langString", RDF + "dirLangString"})
"""Datatypes that a literal has without naming them: of plain strings, and of those with a language tag only."""
_LANGUAGE = re.compile(r"[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8})*")
_ESCAPES = (("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n"), ("\r", "\\r"))
"""The backslash first, because the others bring new ones."""
_SURROGATES = re.compile(r"[\ud800-\udfff]")
_NOT_IN_PAGE_IRI = re.compile(r'[\x00-\x20<>"{}|^`\\\ud800-\udfff\[\]]|%(?![0-9A-Fa-f]{2})')
_AUTHORITY = re.compile(r"[^:/?#]+://\[[^\]]*\]")


def iri(value: str) -> str | None:
    """The term of an absolute IRI, or None where N-Triples could not hold it.

    >>> iri("http://example.org/a"), iri("no scheme"), iri("http://example.org/{x}"), iri("http://[bad")
    ('<http://example.org/a>', None, None, None)
    """
    if _FORBIDDEN_IN_IRI.search(value) or not _ABSOLUTE.match(value):
        return None
    return f"<{value}>"


@lru_cache(maxsize=1024)
def _language_tag(language: str) -> str:
    """The tag as we spell it, or "" where it is none."""
    return language.lower() if _LANGUAGE.fullmatch(language) else ""


def literal(value: str, *, language: str = "", datatype: str = "") -> str:
    r"""The term of a literal; a language tag or datatype that is none is dropped.

    >>> literal('say "hi"\n'), literal("chat", language="fr"), literal("1", datatype=XSD + "integer")
    ('"say \\"hi\\"\\n"', '"chat"@fr', '"1"^^<http://www.w3.org/2001/XMLSchema#integer>')
    """
    if '"' in value or "\n" in value or "\\" in value or "\r" in value:
        for character, escaped in _ESCAPES:
            value = value.replace(character, escaped)
    if not value.isascii():
        value = _encodable(value)
    if language and (tag := _language_tag(language)):
        return f'"{value}"@{tag}'
    if datatype and (term := _datatype_term(datatype)):
        return f'"{value}"^^{term}'
    return f'"{value}"'


def _encodable(value: str) -> str:
    """Text without lone surrogates. Trying is faster than looking for them."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return _SURROGATES.sub("�", value)
    return value


@lru_cache(maxsize=1024)
def _datatype_term(datatype: str) -> str:
    """The term of a datatype that has to be told; "" for those of strings and what is no IRI."""
    return "" if datatype in _TOLD_OTHERWISE else iri(datatype) or ""


def page_iri(url: str) -> str:
    """The term that names a page: its URL, with the few characters escaped that URLs may hold but IRIs may not.

    >>> page_iri("http://example.org/a|b?c={d}"), page_iri("http://[::1]/50%?a[0]=1")
    ('<http://example.org/a%7Cb?c=%7Bd%7D>', '<http://[::1]/50%25?a%5B0%5D=1>')
    """
    host = _AUTHORITY.match(url)  # of an IPv6 address, whose brackets stay
    start = host.end() if host else 0
    return f"<{url[:start]}{_NOT_IN_PAGE_IRI.sub(lambda match: f'%{ord(match[0]):02X}', url[start:])}>"


def is_iri(term: str) -> bool:
    return term.startswith("<")


def iri_value(term: str) -> str:
    """The IRI inside an IRI term."""
    return term[1:-1]


# ── Prefixes that queries and targets may use without declaring them.

PREFIXES = {
    "schema": "http://schema.org/",
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "owl": "http://www.w3.org/2002/07/owl#",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
    "skos": "http://www.w3.org/2004/02/skos/core#",
    "foaf": "http://xmlns.com/foaf/0.1/",
    "dc": "http://purl.org/dc/elements/1.1/",
    "dcterms": "http://purl.org/dc/terms/",
    "dcat": "http://www.w3.org/ns/dcat#",
    "prov": "http://www.w3.org/ns/prov#",
    "void": "http://rdfs.org/ns/void#",
    "sioc": "http://rdfs.org/sioc/ns#",
    "ml": "urn:motherlode:vocabulary:",
    "og": "http://ogp.me/ns#",
    "vcard": "http://www.w3.org/2006/vcard/ns#",
    "geo": "http://www.w3.org/2003/01/geo/wgs84_pos#",
    "doap": "http://usefulinc.com/ns/doap#",
    "bibo": "http://purl.org/ontology/bibo/",
    "gr": "http://purl.org/goodrelations/v1#",
    "cc": "http://creativecommons.org/ns#",
    "org": "http://www.w3.org/ns/org#",
    "time": "http://www.w3.org/2006/time#",
    "as": "https://www.w3.org/ns/activitystreams#",
    "dbo": "http://dbpedia.org/ontology/",
    "dbr": "http://dbpedia.org/resource/",
    "wd": "http://www.wikidata.org/entity/",
    "wdt": "http://www.wikidata.org/prop/direct/",
}
