"""Links from statements: the IRIs that a page's facts mention, with the predicate that led to them."""

from __future__ import annotations

from collections.abc import Iterator

from motherlode.extract.addresses import is_asset, is_name
from motherlode.extract.options import ExtractOptions
from motherlode.model import Facts, Link, LinkSource, Syntax
from motherlode.model.terms import RDF_TYPE
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


def fact_links(facts: Facts, *, page_url: str, options: ExtractOptions) -> list[Link]:
    """One link for each http(s) IRI in object or subject place, with the first predicate that named it."""
    found: dict[str, Link] = {}
    for term, predicate in _mentions(facts, options):
        url = canonical(term[1:-1])
        if url is None or url == page_url or url in found:
            continue
        if is_asset(url, options.kept_extensions) and not is_name(url, predicate[1:-1]):
            continue
        found[url] = Link(url=url, source=LinkSource.TRIPLE, predicate=predicate[1:-1])
        if len(found) >= options.page_links:
            break
    return list(found.values())


def _mentions(facts: Facts, options: ExtractOptions) -> Iterator[tuple[str, str]]:
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
