"""Links in HTTP headers: Link (RFC 8288), Content-Location and Refresh."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from motherlode.model import Link, LinkSource
from motherlode.www.iri import resolve_and_check
from motherlode.www.urls import resolve

_MAX_LINKS = 50
_TARGET = re.compile(r"[\s,]*<([^<>]*)>")
_PARAMETER = re.compile(r"""\s*+;\s*+([^\s=;,]*+)\s*+(?:=\s*+(?:"((?:[^"\\]|\\.)*+)"?+|([^;,]*+)))?+""")
"""A parameter of a link. It may be empty, and the end of the header may end a quoted string (RFC 8288, B.3)."""
_REFRESH = re.compile(r"""\s*[0-9.]+(?:\s*[;,]|\s)\s*(?:url\s*=\s*)?(?:"([^"]*)|'([^']*)|(.*))""", re.IGNORECASE)
"""Seconds and URL, as in the "shared declarative refresh steps" of the HTML standard."""
_JSON_LD_CONTEXT = "http://www.w3.org/ns/json-ld#context"
_RESOURCE_RELATIONS = frozenset(
    {"stylesheet", "preload", "prefetch", "preconnect", "dns-prefetch", "icon", "modulepreload", _JSON_LD_CONTEXT}
)


def header_links(headers: Mapping[str, str], *, page_url: str) -> list[Link]:
    """Return the links in the headers of a response. The names of `headers` are in lower case.

    >>> headers = {"link": '</data.ttl>; rel="alternate"; type="text/turtle", </s.css>; rel=stylesheet'}
    >>> [(link.url, link.rel, link.type) for link in header_links(headers, page_url="http://ex.org/page")]
    [('http://ex.org/data.ttl', 'alternate', 'text/turtle')]
    """
    found: dict[str, Link] = {}
    for target, parameters in _parse_link_header(headers.get("link", "")):
        rel = " ".join(parameters.get("rel", "").lower().split())
        url = resolve(page_url, target)
        if url is not None and url != page_url and not _RESOURCE_RELATIONS & set(rel.split()):
            kind = parameters.get("type", "").strip().lower()
            title = parameters.get("title", "")[:120]
            found.setdefault(url, Link(url=url, source=LinkSource.HEADER, rel=rel, type=kind, title=title))
        if len(found) >= _MAX_LINKS:
            break
    location = _other_page(page_url, headers.get("content-location", ""))
    if location is not None:
        found.setdefault(location, Link(url=location, source=LinkSource.HEADER, rel="content-location"))
    next_page = _other_page(page_url, refresh_target(headers.get("refresh", "")))
    if next_page is not None:
        found[next_page] = Link(url=next_page, source=LinkSource.REFRESH)
    return list(found.values())


def refresh_target(value: str) -> str:
    """Return the URL in the value of a Refresh header or meta element, or "" if it has none.

    >>> refresh_target("5; URL='/next'"), refresh_target("0;/b?c=d"), refresh_target("30")
    ('/next', '/b?c=d', '')
    """
    found = _REFRESH.match(value)
    return found[found.lastindex or 0] if found else ""


def _other_page(page_url: str, reference: str) -> str | None:
    """Resolve a reference. Return None if it is empty, invalid or the page itself."""
    reference = reference.strip()
    url = resolve(page_url, reference) if reference else None
    return None if url == page_url else url


def context_links(headers: Mapping[str, str], *, page_url: str) -> tuple[str, ...]:
    """Return the JSON-LD contexts in the headers of a response for plain JSON (JSON-LD 1.1, section 6.1).

    >>> headers = {"link": '</c.jsonld>; rel="http://www.w3.org/ns/json-ld#context"; type="application/ld+json"'}
    >>> context_links(headers, page_url="http://ex.org/data.json")
    ('http://ex.org/c.jsonld',)
    """
    value = headers.get("link", "")
    if _JSON_LD_CONTEXT not in value:
        return ()
    links = [(target, parameters.get("rel", "").split()) for target, parameters in _parse_link_header(value)]
    named = (target for target, rels in links if target and _JSON_LD_CONTEXT in rels)
    return tuple(dict.fromkeys(resolve_and_check(page_url, target).value for target in named))[:_MAX_LINKS]


def _parse_link_header(value: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield each target of a Link header with its parameters. Stop at the first syntax error."""
    position = 0
    while (match := _TARGET.match(value, position)) is not None:
        target, position = match[1].strip(), match.end()
        parameters: dict[str, str] = {}
        while (parameter := _PARAMETER.match(value, position)) is not None:
            text = parameter[2] if parameter[2] is not None else (parameter[3] or "").rstrip()
            parameters.setdefault(parameter[1].lower(), re.sub(r"\\(.)", r"\1", text))
            position = parameter.end()
        yield target, parameters
