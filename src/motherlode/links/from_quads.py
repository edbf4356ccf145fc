"""Links from statements: the IRIs that a page's facts mention, with the predicate that led to them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from functools import partial
from itertools import islice
from typing import Any

import msgspec
import pyoxigraph as ox

from motherlode.links.href import LinkOptions, is_asset, is_name
from motherlode.model import Link, LinkSource, Syntax, TransformResult
from motherlode.model.sparql import query_in_order, tokens
from motherlode.model.terms import PREFIXES, RDF_TYPE, iri
from motherlode.www.urls import canonical

_VOCABULARIES = (
    "<http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "<http://www.w3.org/2000/01/rdf-schema#",
    "<http://www.w3.org/2001/XMLSchema#",
    "<http://www.w3.org/2002/07/owl#",
    "<http://www.w3.org/2004/02/skos/core#",
    "<http://www.w3.org/1999/xhtml/vocab#",
    "<http://www.w3.org/2006/vcard/ns#",
    "<http://www.w3.org/ns/",
    "<http://purl.org/dc/",
    "<http://purl.org/goodrelations/v1#",
    "<http://xmlns.com/foaf/0.1/",
    "<http://rdfs.org/sioc/ns#",
    "<http://rdf.data-vocabulary.org/#",
    "<http://ogp.me/ns",
    "<http://schema.org/",
    "<https://schema.org/",
    "<http://www.schema.org/",
    "<https://www.schema.org/",
)
"""Where the terms live that pages everywhere use."""


def quad_links(facts: TransformResult, *, page_url: str, options: LinkOptions) -> list[Link]:
    """One link for each http(s) IRI in object or subject place, with the first predicate that named it."""
    found: dict[str, Link] = {}
    for term, predicate in _mentioned_iris(facts, options):
        url = canonical(term[1:-1])
        if url is None or url == page_url or url in found:
            continue
        if is_asset(url, options.kept_extensions) and not is_name(url, predicate[1:-1]):
            continue
        found[url] = Link(url=url, source=LinkSource.TRIPLE, predicate=predicate[1:-1])
        if len(found) >= options.page_links:
            break
    return list(found.values())


def _mentioned_iris(facts: TransformResult, options: LinkOptions) -> Iterator[tuple[str, str]]:
    """Terms that are http(s) IRIs, each once, with its first predicate.

    Page facts are left out, for they say again what the links of the HTML have said.
    """
    wanted = options.predicates
    types_too = options.follow_vocabulary
    unwanted = () if options.follow_vocabulary else _VOCABULARIES
    seen: set[str] = set()
    for extraction in facts.extractions:
        if extraction.syntax is Syntax.PAGE:
            continue
        for subject, predicate, value, _graph in extraction.statements:
            if wanted is not None and predicate[1:-1] not in wanted:
                continue
            if value.startswith("<http") and value not in seen and (types_too or predicate != RDF_TYPE):
                seen.add(value)
                if not value.startswith(unwanted):
                    yield value, predicate
            if subject not in seen and subject.startswith("<http"):
                seen.add(subject)
                if not subject.startswith(unwanted):
                    yield subject, predicate


# ── Which links to follow, as the user says: by predicates, by a query, by what a statement's term is.

LINK_PREFIXES = {**PREFIXES, "rss": "http://purl.org/rss/1.0/", "content": "http://purl.org/rss/1.0/modules/content/"}
"""The known prefixes, and those that only links need."""
_MOST_SOLUTIONS = 100_000


class TermScope(Enum):
    """What a followed IRI may be in its statement."""

    ABOX = "abox"
    """Instances: subjects and objects, but no classes and no terms of the vocabularies that everybody uses."""
    TBOX = "tbox"
    """Terminology: the classes and the properties that a page uses."""
    BOTH = "both"


class LinkRules(msgspec.Struct, frozen=True, kw_only=True):
    """The table `[links]`. It travels to the reader processes."""

    predicates: tuple[str, ...] = ()
    """IRIs; where any are given, only the objects of statements with one of them are followed."""
    query: str = ""
    """A SELECT over the page's facts; every IRI or address that it gives is followed."""
    scope: TermScope = TermScope.ABOX
    html: bool = True
    """Follow the anchors, link elements and frames of HTML and the entries of feeds. A refresh is a redirect, and is
    followed anyway; sitemaps have a key of their own in the job."""

    @property
    def chooses(self) -> bool:
        """True where predicates or a query replace the plain rule that every IRI is a link."""
        return bool(self.predicates or self.query)


EVERYTHING = LinkRules()
"""What is followed where nobody chose."""
_KEYS = frozenset({"predicates", "query", "scope", "html", "follow", "deny"})
"""`follow` and `deny` are regular expressions over addresses, which the crawl applies: see crawl/filters.py."""


def link_rules_from(table: Mapping[str, Any]) -> LinkRules:
    """The table as a user writes it; ValueError for what cannot be meant.

    >>> following_from({"predicates": ["rdfs:seeAlso"], "html": False}).predicates
    ('http://www.w3.org/2000/01/rdf-schema#seeAlso',)
    >>> following_from({"scope": "tbox"}).html, following_from({"deny": ["/tag/"]}).html
    (False, True)
    """
    unknown = sorted(set(table) - _KEYS)
    if unknown:
        raise ValueError(f"unknown key {unknown[0]!r}; known: {', '.join(sorted(_KEYS))}")
    names = _texts(table, "predicates")
    query = table.get("query", "")
    scope = table.get("scope", TermScope.ABOX.value)
    if not isinstance(query, str):
        raise ValueError(f"query should be a text, not {query!r}")
    if query:
        _checked(query)
    if scope not in [known.value for known in TermScope]:
        raise ValueError(f'scope must be "abox", "tbox" or "both"; got {scope!r}')
    html = table.get("html", not (names or query or scope == TermScope.TBOX.value))
    if not isinstance(html, bool):
        raise ValueError(f"html should be true or false, not {html!r}")
    return LinkRules(predicates=tuple(map(_expanded, names)), query=query, scope=TermScope(scope), html=html)


def _texts(table: Mapping[str, Any], key: str) -> list[str]:
    values = table.get(key, [])
    if not isinstance(values, (list, tuple)) or not all(isinstance(value, str) for value in values):
        raise ValueError(f"{key} should be a list of texts, not {values!r}")
    return list(values)


def _expanded(name: str) -> str:
    """The IRI that a user means by `foaf:homepage`, or the IRI itself."""
    prefix, colon, local = name.strip("<> ").partition(":")
    if colon and not local.startswith("//"):
        if prefix not in LINK_PREFIXES:
            known = ", ".join(sorted(LINK_PREFIXES))
            raise ValueError(f"predicates: the prefix of {name!r} is not known; write the IRI, or use one of {known}")
        return LINK_PREFIXES[prefix] + local
    if not colon or iri(name.strip("<> ")) is None:
        raise ValueError(f"predicates: {name!r} is no IRI; as in rdfs:seeAlso or http://xmlns.com/foaf/0.1/homepage")
    return name.strip("<> ")


def _checked(query: str) -> None:
    if any(token.is_word("SERVICE") for token in tokens(query)):
        raise ValueError("query: it is asked of the page's own facts: SERVICE, which goes to the network, has no place")
    try:
        answer = ox.Store().query(query, base_iri="http://example.org/", prefixes=LINK_PREFIXES)
    except (SyntaxError, ValueError, RuntimeError, OSError) as error:  # the latter two: unknown functions and the like
        raise ValueError(f"query: it is not SPARQL that can be answered: {str(error).partition(chr(10))[0]}") from error
    if not isinstance(answer, ox.QuerySolutions):
        raise ValueError("query: it must be a SELECT, whose solutions are the links")


def followed(facts: TransformResult, following: LinkRules, *, page_url: str, options: LinkOptions) -> list[Link]:
    """The links of a page's facts that the user wants, each address once."""
    if not following.chooses and following.scope is TermScope.ABOX:
        return quad_links(facts, page_url=page_url, options=options)
    found: dict[str, Link] = {}
    for text, predicate in _mentions(facts, following, page_url, options):
        url = canonical(text)
        if url is None or url == page_url or url in found:
            continue
        if is_asset(url, options.kept_extensions) and not is_name(url, predicate):
            continue
        found[url] = Link(url=url, source=LinkSource.TRIPLE, predicate=predicate)
        if len(found) >= options.page_links:
            break
    return list(found.values())


def _mentions(
    facts: TransformResult, following: LinkRules, page_url: str, options: LinkOptions
) -> Iterator[tuple[str, str]]:
    """Addresses as they are written, with the predicate that led to each."""
    if following.predicates:
        yield from _by_predicate(facts, frozenset(f"<{name}>" for name in following.predicates))
    if following.query:
        yield from ((text, "") for text in _by_query(facts, following.query, page_url))
    if following.scope is not TermScope.ABOX:
        yield from _terminology(facts)
    if following.scope is not TermScope.TBOX and not following.chooses:
        yield from ((link.url, link.predicate) for link in quad_links(facts, page_url=page_url, options=options))


def _by_predicate(facts: TransformResult, predicates: frozenset[str]) -> Iterator[tuple[str, str]]:
    for extraction in facts.extractions:
        for _, predicate, value, _ in extraction.statements:
            if predicate in predicates and (address := _address(value)):
                yield address, predicate[1:-1]


def _address(term: str) -> str:
    """The address that a term is or spells, or "".

    >>> _address("<http://ex.org/>"), _address('" http://ex.org/ "'), _address('"see http://ex.org/"')
    ('http://ex.org/', 'http://ex.org/', '')
    """
    if term.startswith("<"):
        return term[1:-1]
    if not term.startswith('"'):
        return ""
    text = term[1 : term.rfind('"')].strip()
    return text if text.startswith(("http://", "https://")) and not re.search(r"[\s\\]", text) else ""


def _terminology(facts: TransformResult) -> Iterator[tuple[str, str]]:
    """Properties and classes in use, LDSpider's TBox."""
    for extraction in facts.extractions:
        for _, predicate, value, _ in extraction.statements:
            yield predicate[1:-1], predicate[1:-1]
            if predicate == RDF_TYPE and value.startswith("<"):
                yield value[1:-1], RDF_TYPE[1:-1]


def _by_query(facts: TransformResult, query: str, page_url: str) -> Iterator[str]:
    """What a SELECT over all facts of the page gives; `<>` in it is the page."""
    lines = {f"{s} {p} {o} .\n" for extraction in facts.extractions for s, p, o, _ in extraction.statements}
    if not lines:
        return
    store = ox.Store()
    store.load("".join(sorted(lines)).encode("utf-8", "replace"), ox.RdfFormat.N_TRIPLES, lenient=True)
    answer = query_in_order(partial(store.query, base_iri=page_url, prefixes=LINK_PREFIXES), query)
    if isinstance(answer, ox.QuerySolutions):
        names = [variable.value for variable in answer.variables]
        for solution in islice(answer, _MOST_SOLUTIONS):
            yield from _addresses(solution[name] for name in names)


def _addresses(terms: Iterable[Any]) -> Iterator[str]:
    for term in terms:
        if isinstance(term, ox.NamedNode):
            yield term.value
        elif isinstance(term, ox.Literal) and (address := _address(f'"{term.value}"')):
            yield address
