"""Terms, CURIEs and IRIs in attribute values (RDFa Core 1.1, section 7.4)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from copy import copy

from motherlode.model import Statement
from motherlode.transform.bnodes import BlankNames
from motherlode.transform.rdfa.evaluation_context import PREFIXES, XHV, EvaluationContext, HostLanguage, is_name
from motherlode.transform.rdfa.processor_graph import ProcessorGraph, ProcessorMessage
from motherlode.transform.rdfa.sparse_tree import SCOPING, RdfaElement
from motherlode.www.iri import check, is_absolute, resolve_and_check, without_fragment

INITIAL_TOKENS: dict[str, str] = {}
"""What tokens mean in the initial context, from page to page: `og:title` is `og:title` everywhere."""
_MOST_TOKENS = 4_096
_TERM = re.compile(r"[^\W\d][\w.\-/·]*")


class Resolver:
    """Turns what attributes say into terms. None stands for a value that must be ignored."""

    def __init__(self, *, url: str, terms: Mapping[str, str], names: BlankNames, report: ProcessorGraph) -> None:
        self._url = url
        self._terms = terms
        self._names = names
        self._report = report

    def predicates(self, value: str, context: EvaluationContext) -> list[str]:
        """The IRIs of a list of TERMorCURIEorAbsIRI. A predicate cannot be a blank node."""
        only = context.tokens.get(value)
        if only is not None:
            return [only]
        tokens = value.split()
        found = (self.token(token, context) for token in tokens)
        return list(dict.fromkeys(term for term in found if term is not None and term[0] == "<"))

    def types(self, value: str, context: EvaluationContext) -> list[str]:
        found = (self.token(token, context) for token in value.split())
        return list(dict.fromkeys(term for term in found if term is not None))

    def token(self, token: str, context: EvaluationContext) -> str | None:
        """One TERMorCURIEorAbsIRI."""
        known = context.tokens.get(token)
        if known is not None:
            return known
        found = self._term(token, context) if ":" not in token else self._curie_or_iri(token, context)
        if found is None or found[0] != "<" or self._report.is_faulty(found):  # of which the next page must hear, too
            return found
        if len(context.tokens) < _MOST_TOKENS:
            context.tokens[token] = found
        return found

    def _term(self, token: str, context: EvaluationContext) -> str | None:
        if _TERM.fullmatch(token):
            if context.vocabulary:
                return self._report.term(check(context.vocabulary + token))
            iri = self._terms.get(token) or self._in_any_case(token.lower())
            if iri is not None:
                return f"<{iri}>"
        self._report.add(ProcessorMessage.UNRESOLVED_TERM, f"no such term: {token}")
        return None

    def _in_any_case(self, lowered: str) -> str | None:
        return next((iri for term, iri in self._terms.items() if term.lower() == lowered), None)

    def _curie_or_iri(self, token: str, context: EvaluationContext) -> str | None:
        term = self._curie(token, context)
        if term is not None:
            return term
        if is_absolute(token):
            return self._report.term(check(token))
        self._report.add(ProcessorMessage.UNRESOLVED_CURIE, f"no such prefix: {token}")
        return None

    def _curie(self, token: str, context: EvaluationContext) -> str | None:
        """The term of a CURIE; None where the token is none, or its prefix is unknown."""
        prefix, colon, reference = token.partition(":")
        if not colon or reference.startswith("//"):
            return None
        if prefix == "_":
            return self._names.for_label(reference)
        iri = context.prefixes.get(prefix.lower()) if prefix else XHV
        # a relative namespace is resolved against the document: no base element reaches it (test 0319 of the suite)
        return None if iri is None else self._report.term(resolve_and_check(self._url, iri + reference))

    def resource(self, value: str, context: EvaluationContext) -> str | None:
        """One SafeCURIEorCURIEorIRI."""
        value = value.strip()
        if value.startswith("[") and value.endswith("]"):
            term = self._curie(value[1:-1].strip(), context)
            if term is None and len(value) > 2:
                self._report.add(ProcessorMessage.UNRESOLVED_CURIE, f"no such prefix: {value}")
            return term
        return self._curie(value, context) or self.reference(value, context)

    def reference(self, value: str, context: EvaluationContext) -> str | None:
        """One IRI, as `href` and `src` hold it."""
        iri = resolve_and_check(context.base, value)
        return self._report.term(iri) if is_absolute(iri.value) else None


# ── How an element changes the context for itself and what is inside (RDFa Core 1.1, section 7.5, steps 2 to 4).

_REBASING = frozenset({"vocab", "xml:base"})
_USES = "<http://www.w3.org/ns/rdfa#usesVocabulary>"
_ONLY_A_HOST = re.compile(r"https?://[^/?#]+", re.IGNORECASE)
_MOST_PREFIXES = 1_000
"""In force at one place; each element that adds one copies them all."""


def scoped(
    element: RdfaElement, context: EvaluationContext, *, host: HostLanguage, report: ProcessorGraph
) -> tuple[EvaluationContext, tuple[Statement, ...]]:
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


def _add_prefixes(element: RdfaElement, context: EvaluationContext, report: ProcessorGraph) -> None:
    prefixes, declared = dict(context.prefixes), dict(context.declared)
    for prefix, iri in element.namespaces.items():
        if len(declared) < _MOST_PREFIXES:
            declared[prefix] = iri
            if prefix != "_" and is_name(prefix):
                prefixes[prefix.lower()] = _with_path(iri, report)
    for prefix, iri in _mappings(element.attributes):
        if PREFIXES.get(prefix, iri) != iri:
            report.add(ProcessorMessage.PREFIX_REDEFINITION, f"{prefix} is now {iri}")
        if len(prefixes) < _MOST_PREFIXES:
            prefixes[prefix] = declared[prefix] = _with_path(iri, report)
    context.declared = declared
    if prefixes != context.prefixes:  # many pages declare what is known anyway, and tokens mean what they meant
        context.prefixes, context.tokens = prefixes, {}


def _with_path(iri: str, report: ProcessorGraph) -> str:
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
