"""How an element changes the context for itself and what is inside (RDFa Core 1.1, section 7.5, steps 2 to 4)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from copy import copy

from motherlode.model import Statement
from motherlode.transform.rdfa.context import Context
from motherlode.transform.rdfa.hosts import PREFIXES, Host
from motherlode.transform.rdfa.names import is_name
from motherlode.transform.rdfa.report import Report, Trouble
from motherlode.transform.rdfa.tree import SCOPING, Element
from motherlode.www.iri import check, resolve_and_check, without_fragment

_REBASING = frozenset({"vocab", "xml:base"})
_USES = "<http://www.w3.org/ns/rdfa#usesVocabulary>"
_ONLY_A_HOST = re.compile(r"https?://[^/?#]+", re.IGNORECASE)
_MOST_PREFIXES = 1_000
"""In force at one place; each element that adds one copies them all."""


def scoped(element: Element, context: Context, *, host: Host, report: Report) -> tuple[Context, tuple[Statement, ...]]:
    """The context after the element's own declarations, and the statement that a vocabulary makes."""
    attributes = element.attributes
    if not element.namespaces and SCOPING.isdisjoint(attributes):
        return context, ()
    context = copy(context)
    if not _REBASING.isdisjoint(attributes):
        context.tokens = {}
    stated: tuple[Statement, ...] = ()
    if host.has_xml_base and "xml:base" in attributes:
        base = resolve_and_check(context.base, attributes["xml:base"])
        context.base = without_fragment(base.value)
        report.term(base)
    if "vocab" in attributes:
        given = attributes["vocab"].strip()
        context.vocabulary = ""
        if given:
            vocabulary = resolve_and_check(context.base, given)
            report.term(vocabulary)
            context.vocabulary = _with_path(vocabulary.value, report)
            stated = ((f"<{context.base}>", _USES, report.term(check(context.vocabulary)), ""),)
    if element.namespaces or "prefix" in attributes:
        _add_prefixes(element, context, report)
    if "xml:lang" in attributes:
        context.language = attributes["xml:lang"].strip()
    elif host.is_html and "lang" in attributes:
        context.language = attributes["lang"].strip()
    return context, stated


def _add_prefixes(element: Element, context: Context, report: Report) -> None:
    prefixes, declared = dict(context.prefixes), dict(context.declared)
    for prefix, iri in element.namespaces.items():
        if len(declared) < _MOST_PREFIXES:
            declared[prefix] = iri
            if prefix != "_" and is_name(prefix):
                prefixes[prefix.lower()] = _with_path(iri, report)
    for prefix, iri in _mappings(element.attributes):
        if PREFIXES.get(prefix, iri) != iri:
            report.add(Trouble.PREFIX_REDEFINITION, f"{prefix} is now {iri}")
        if len(prefixes) < _MOST_PREFIXES:
            prefixes[prefix] = declared[prefix] = _with_path(iri, report)
    context.declared = declared
    if prefixes != context.prefixes:  # many pages declare what is known anyway, and tokens mean what they meant
        context.prefixes, context.tokens = prefixes, {}


def _with_path(iri: str, report: Report) -> str:
    """A namespace that is a host and nothing else lacks its slash: terms would run into the host's name.

    >>> _with_path("https://schema.org", Report()), _with_path("http://example.org/x", Report())
    ('https://schema.org/', 'http://example.org/x')
    """
    if not _ONLY_A_HOST.fullmatch(iri):
        return iri
    report.mend(f"the namespace {iri} was given a slash at its end", iri)
    return iri + "/"


def _mappings(attributes: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The pairs of a prefix attribute; what has not the form of a pair is passed over.

    >>> list(_mappings({"prefix": "a: http://a/ nonsense _: http://b/ 1: http://1/ C: http://c/"}))
    [('a', 'http://a/'), ('c', 'http://c/')]
    """
    words = iter(attributes.get("prefix", "").split())
    for word in words:
        if not word.endswith(":"):
            continue
        iri = next(words, None)
        prefix = word[:-1].lower()
        if iri is not None and prefix != "_" and is_name(prefix):
            yield prefix, iri
