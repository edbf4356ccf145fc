"""Links from statements: the IRIs in the statements of a page, with the predicate of each.

`LinkRules` says which of them a user wants to follow: by predicates, by a query, or by their role in a statement.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec
import pyoxigraph as ox

from motherlode.links.href import LinkOptions, is_asset, is_name
from motherlode.model import Link, LinkSource, Syntax, TransformResult
from motherlode.model.sparql import query_in_order, tokens
from motherlode.model.terms import PREFIXES, RDF_TYPE, expand_prefix, iri
from motherlode.www.urls import canonical

_VOCABULARIES = tuple(
    f"<{name}" for name in Path(__file__).with_name("vocabularies.txt").read_text(encoding="ascii").split()
)
"""Namespaces of common vocabularies, as beginnings of IRI terms. Their terms are not followed as links."""


def _links(mentions: Iterable[tuple[str, str]], page_url: str, options: LinkOptions) -> list[Link]:
    """Return links for pairs of IRI and predicate, each URL once, without assets and the page itself."""
    found: dict[str, Link] = {}
    for text, predicate in mentions:
        url = canonical(text)
        if url is None or url == page_url or url in found:
            continue
        if is_asset(url, options.kept_extensions) and not is_name(url, predicate):
            continue
        found[url] = Link(url=url, source=LinkSource.TRIPLE, predicate=predicate)
        if len(found) >= options.page_links:
            break
    return list(found.values())


def _iris(result: TransformResult) -> Iterator[tuple[str, str]]:
    """Yield each http(s) IRI once, with its first predicate.

    Classes and terms of common vocabularies are skipped, because they are few and occur on every page. Statements of
    `Syntax.PAGE` are skipped, because they repeat the links of the HTML.
    """
    seen: set[str] = set()
    for extraction in result.extractions:
        if extraction.syntax is Syntax.PAGE:
            continue
        for subject, predicate, value, _graph in extraction.statements:
            if value.startswith("<http") and value not in seen and predicate != RDF_TYPE:
                seen.add(value)
                if not value.startswith(_VOCABULARIES):
                    yield value[1:-1], predicate[1:-1]
            if subject not in seen and subject.startswith("<http"):
                seen.add(subject)
                if not subject.startswith(_VOCABULARIES):
                    yield subject[1:-1], predicate[1:-1]


# The user's rules ----------------------------------------------------------------------------------------------------

LINK_PREFIXES = {**PREFIXES, "rss": "http://purl.org/rss/1.0/", "content": "http://purl.org/rss/1.0/modules/content/"}
"""The known prefixes, and two more for feeds."""
_MAX_SOLUTIONS = 100_000


class TermScope(Enum):
    """The roles that a followed IRI may have in its statement."""

    ABOX = "abox"
    """Instances: subjects and objects, but no classes and no terms of common vocabularies."""
    TBOX = "tbox"
    """Terminology: the classes and properties that a page uses."""
    BOTH = "both"


class LinkRules(msgspec.Struct, frozen=True, kw_only=True):
    """The table `[links]` of a job. It is sent to the parser processes."""

    predicates: tuple[str, ...] = ()
    """IRIs of predicates. If there are any, only the objects of statements with one of these predicates are
    followed."""
    query: str = ""
    """A SELECT query on the page's statements. Every IRI or URL in its solutions is followed."""
    index_query: str = ""
    """A SELECT query on the statements of all pages so far. The crawler runs it: see crawler/engine/index_query.py."""
    scope: TermScope = TermScope.ABOX
    html: bool = True
    """Whether to follow anchors, link elements and frames of HTML and entries of feeds. A refresh is a redirect and is
    always followed. Sitemaps have a key of their own in the job."""


FOLLOW_ALL = LinkRules()
_KEYS = frozenset({"predicates", "query", "index_query", "scope", "html", "follow", "deny"})
"""The keys of the table `[links]`. `follow` and `deny` are regular expressions on URLs, which the crawler applies
(crawler/url_rules.py)."""


def link_rules_from(table: Mapping[str, Any]) -> LinkRules:
    """Return the rules of a table as written by a user. Raise ValueError if it is invalid.

    >>> link_rules_from({"predicates": ["rdfs:seeAlso"], "html": False}).predicates
    ('http://www.w3.org/2000/01/rdf-schema#seeAlso',)
    >>> link_rules_from({"scope": "tbox"}).html, link_rules_from({"deny": ["/tag/"]}).html
    (False, True)
    """
    unknown = sorted(set(table) - _KEYS)
    if unknown:
        raise ValueError(f"unknown key {unknown[0]!r}; known: {', '.join(sorted(_KEYS))}")
    names = table.get("predicates", [])
    if not isinstance(names, (list, tuple)) or not all(isinstance(name, str) for name in names):
        raise ValueError(f"predicates must be a list of strings, not {names!r}")
    query, index_query = (_read_query(table, key) for key in ("query", "index_query"))
    scope = table.get("scope", TermScope.ABOX.value)
    if scope not in [known.value for known in TermScope]:
        raise ValueError(f'scope must be "abox", "tbox" or "both"; got {scope!r}')
    html = table.get("html", not (names or query or scope == TermScope.TBOX.value))
    if not isinstance(html, bool):
        raise ValueError(f"html must be true or false, not {html!r}")
    predicates = tuple(map(_expand, names))
    return LinkRules(predicates=predicates, query=query, index_query=index_query, scope=TermScope(scope), html=html)


def _expand(name: str) -> str:
    """Return the IRI of a prefixed name such as `foaf:homepage`, or the IRI itself."""
    expanded = expand_prefix(name.strip("<> "), LINK_PREFIXES)
    if expanded is None:
        known = ", ".join(sorted(LINK_PREFIXES))
        raise ValueError(f"predicates: the prefix of {name!r} is unknown; write the IRI, or use one of {known}")
    if iri(expanded) is None:
        raise ValueError(
            f"predicates: {name!r} is not an IRI; write for example rdfs:seeAlso or http://xmlns.com/foaf/0.1/homepage"
        )
    return expanded


def _read_query(table: Mapping[str, Any], key: str) -> str:
    """Return the SELECT query of a key, or "". Raise ValueError if it is invalid."""
    query = table.get(key, "")
    if not isinstance(query, str):
        raise ValueError(f"{key} must be a string, not {query!r}")
    if not query:
        return ""
    if any(token.is_word("SERVICE") for token in tokens(query)):
        what = "the statements of the page" if key == "query" else "the index"
        raise ValueError(f"{key}: SERVICE is not allowed, because the query reads only {what}")
    try:
        result = ox.Store().query(query, base_iri="http://example.org/", prefixes=LINK_PREFIXES)
    except (SyntaxError, ValueError, RuntimeError, OSError) as error:  # the last two: for example unknown functions
        raise ValueError(f"{key}: it is not valid SPARQL: {str(error).partition(chr(10))[0]}") from error
    if not isinstance(result, ox.QuerySolutions):
        raise ValueError(f"{key}: it must be a SELECT; its solutions are the links")
    return query


def statement_links(result: TransformResult, rules: LinkRules, *, page_url: str, options: LinkOptions) -> list[Link]:
    """Return the links of a page's statements that the user wants to follow, each URL once."""
    return _links(_mentions(result, rules, page_url, options), page_url, options)


def _mentions(
    result: TransformResult, rules: LinkRules, page_url: str, options: LinkOptions
) -> Iterator[tuple[str, str]]:
    wanted = frozenset(f"<{name}>" for name in rules.predicates)
    for extraction in result.extractions if wanted else ():
        for _, predicate, value, _ in extraction.statements:
            if predicate in wanted and (url := url_of_term(value)):
                yield url, predicate[1:-1]
    if rules.query:
        yield from ((text, "") for text in _by_query(result, rules.query, page_url))
    if rules.scope is not TermScope.ABOX:  # the properties and classes in use (the TBox of LDSpider)
        for extraction in result.extractions:
            for _, predicate, value, _ in extraction.statements:
                yield predicate[1:-1], predicate[1:-1]
                if predicate == RDF_TYPE and value.startswith("<"):
                    yield value[1:-1], RDF_TYPE[1:-1]
    # predicates or a query replace the default rule that every IRI is a link
    if rules.scope is not TermScope.TBOX and not rules.predicates and not rules.query:
        yield from _iris(result)


def url_of_term(term: str) -> str:
    """Return the URL that a term is or contains as its text, or "".

    >>> url_of_term("<http://ex.org/>"), url_of_term('" http://ex.org/ "'), url_of_term('"see http://ex.org/"')
    ('http://ex.org/', 'http://ex.org/', '')
    """
    if term.startswith("<"):
        return term[1:-1]
    if not term.startswith('"'):
        return ""
    text = term[1 : term.rfind('"')].strip()
    return text if text.startswith(("http://", "https://")) and not re.search(r"[\s\\]", text) else ""


def _by_query(result: TransformResult, query: str, page_url: str) -> Iterator[str]:
    """Yield the URLs in the solutions of a SELECT on all statements of the page. `<>` is the page."""
    lines = {f"{s} {p} {o} .\n" for extraction in result.extractions for s, p, o, _ in extraction.statements}
    if not lines:
        return
    store = ox.Store()
    store.load("".join(sorted(lines)).encode("utf-8", "replace"), ox.RdfFormat.N_TRIPLES, lenient=True)
    solutions = query_in_order(partial(store.query, base_iri=page_url, prefixes=LINK_PREFIXES), query)
    if isinstance(solutions, ox.QuerySolutions):
        names = [variable.value for variable in solutions.variables]
        for term in (solution[name] for solution in islice(solutions, _MAX_SOLUTIONS) for name in names):
            if isinstance(term, ox.NamedNode):
                yield term.value
            elif isinstance(term, ox.Literal) and (url := url_of_term(f'"{term.value}"')):
                yield url
