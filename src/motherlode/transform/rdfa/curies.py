"""Terms, CURIEs and IRIs in attribute values (RDFa Core 1.1, section 7.4), and the declarations that they depend on."""

import re
from collections.abc import Iterator, Mapping
from copy import copy
from enum import Enum

from motherlode.model import Statement
from motherlode.model.terms import RDF_TYPE, literal
from motherlode.model.terms import iri as iri_term
from motherlode.transform.bnodes import BlankNames
from motherlode.transform.rdfa.evaluation_context import PREFIXES, XHV, EvaluationContext, HostLanguage
from motherlode.transform.rdfa.sparse_tree import SCOPING, RdfaElement
from motherlode.transform.source_locations import IriProblems
from motherlode.www.iri import (
    Iri,
    check,
    complete_namespace,
    is_absolute,
    resolve_and_check,
    split_curie,
    without_fragment,
)
from motherlode.www.xml import is_ncname

_RDFA = "http://www.w3.org/ns/rdfa#"
_DESCRIPTION = "<http://purl.org/dc/terms/description>"
_MAX_ENTRIES = 1_000


class ProcessorMessage(Enum):
    """The classes of messages. All are warnings except `DOCUMENT_ERROR`."""

    DOCUMENT_ERROR = "DocumentError"
    UNRESOLVED_CURIE = "UnresolvedCURIE"
    UNRESOLVED_TERM = "UnresolvedTerm"
    PREFIX_REDEFINITION = "PrefixRedefinition"


class ProcessorGraph:
    """Collects messages, repairs and invalid IRIs of one document."""

    def __init__(self) -> None:
        self.messages: dict[tuple[ProcessorMessage, str], None] = {}
        self.repairs: dict[str, str] = {}
        """The description of each repair of a namespace, and the original text."""
        self.iri_problems = IriProblems()
        """The invalid and the repaired IRIs. Statements with an invalid IRI must be removed."""

    def record_term(self, iri: Iri) -> str:
        """Return the term of an IRI, also of an invalid one, and record whether it is invalid or repaired."""
        self.iri_problems.record(iri)
        return iri.term

    def add_message(self, message: ProcessorMessage, description: str) -> None:
        if len(self.messages) < _MAX_ENTRIES:
            self.messages[message, description] = None

    def add_repair(self, description: str, original: str) -> None:
        if len(self.repairs) < _MAX_ENTRIES:
            self.repairs[description] = original

    def statements(self, page_url: str, names: BlankNames) -> Iterator[Statement]:
        """Yield the messages as statements about blank nodes."""
        page = iri_term(page_url)
        for message, description in self.messages:
            node = names.fresh()
            yield node, RDF_TYPE, f"<{_RDFA}{message.value}>", ""
            is_error = message is ProcessorMessage.DOCUMENT_ERROR
            yield node, RDF_TYPE, f"<{_RDFA}{'Error' if is_error else 'Warning'}>", ""
            yield node, _DESCRIPTION, literal(description, language="en"), ""
            if page is not None:
                yield node, f"<{_RDFA}context>", page, ""


# Terms and CURIEs

INITIAL_TOKENS: dict[str, str] = {}
"""Cache for all pages: the IRI of each token in the initial context, such as `og:title`."""
_MAX_TOKENS = 4_096
_TERM = re.compile(r"[^\W\d][\w.\-/·]*")


class CurieResolver:
    """Resolves attribute values to RDF terms. The result is None if the value must be ignored."""

    def __init__(self, *, url: str, terms: Mapping[str, str], names: BlankNames, graph: ProcessorGraph) -> None:
        self._url = url
        self._terms = terms
        self._names = names
        self._graph = graph

    def resolve_predicates(self, value: str, context: EvaluationContext) -> list[str]:
        """Return the IRIs of a list of TERMorCURIEorAbsIRI without blank nodes, which cannot be predicates."""
        only = context.tokens.get(value)
        if only is not None:
            return [only]
        return [term for term in self.resolve_types(value, context) if term[0] == "<"]

    def resolve_types(self, value: str, context: EvaluationContext) -> list[str]:
        """Return the terms of a list of TERMorCURIEorAbsIRI."""
        found = (self.resolve_token(token, context) for token in value.split())
        return list(dict.fromkeys(term for term in found if term is not None))

    def resolve_token(self, token: str, context: EvaluationContext) -> str | None:
        """Return the term of one TERMorCURIEorAbsIRI."""
        known = context.tokens.get(token)
        if known is not None:
            return known
        found = self._term(token, context) if ":" not in token else self._curie_or_iri(token, context)
        # IRIs with problems are not cached, because each page reports them
        if found is None or found[0] != "<" or found in self._graph.iri_problems:
            return found
        if len(context.tokens) < _MAX_TOKENS:
            context.tokens[token] = found
        return found

    def _term(self, token: str, context: EvaluationContext) -> str | None:
        if _TERM.fullmatch(token):
            if context.vocabulary:
                return self._graph.record_term(check(context.vocabulary + token))
            lowered = token.lower()
            iri = self._terms.get(token) or next(
                (iri for term, iri in self._terms.items() if term.lower() == lowered), None
            )
            if iri is not None:
                return f"<{iri}>"
        self._graph.add_message(ProcessorMessage.UNRESOLVED_TERM, f"no such term: {token}")
        return None

    def _curie_or_iri(self, token: str, context: EvaluationContext) -> str | None:
        term = self._curie(token, context)
        if term is not None:
            return term
        if is_absolute(token):
            return self._graph.record_term(check(token))
        self._graph.add_message(ProcessorMessage.UNRESOLVED_CURIE, f"no such prefix: {token}")
        return None

    def _curie(self, token: str, context: EvaluationContext) -> str | None:
        """Return the term of a CURIE; None if the token is not a CURIE or its prefix is unknown."""
        curie = split_curie(token)
        if curie is None:
            return None
        prefix, reference = curie
        if prefix == "_":
            return self._names.for_label(reference)
        iri = context.prefixes.get(prefix.lower()) if prefix else XHV
        # a relative namespace is resolved against the document's URL, not against the base (test 0319 of the suite)
        return None if iri is None else self._graph.record_term(resolve_and_check(self._url, iri + reference))

    def resolve_resource(self, value: str, context: EvaluationContext) -> str | None:
        """Return the term of one SafeCURIEorCURIEorIRI."""
        value = value.strip()
        if value.startswith("[") and value.endswith("]"):
            term = self._curie(value[1:-1].strip(), context)
            if term is None and len(value) > 2:
                self._graph.add_message(ProcessorMessage.UNRESOLVED_CURIE, f"no such prefix: {value}")
            return term
        return self._curie(value, context) or self.resolve_reference(value, context)

    def resolve_reference(self, value: str, context: EvaluationContext) -> str | None:
        """Return the term of an IRI reference, as in `href` and `src`."""
        iri = resolve_and_check(context.base, value)
        return self._graph.record_term(iri) if is_absolute(iri.value) else None


# Declarations of an element

_TOKEN_CONTEXT = frozenset({"vocab", "xml:base"})
"""Attributes that change the meaning of tokens."""
_USES_VOCABULARY = f"<{_RDFA}usesVocabulary>"
_MAPPING_FAULT = re.compile(r"(?<!\S)([^\s:]+:)(?=https?://)|[,;](?=\s|\Z)")
_MAX_PREFIXES = 1_000
"""Maximum number of prefixes in scope of one element. Each element that declares one copies them all."""


def apply_declarations(
    element: RdfaElement, context: EvaluationContext, *, host: HostLanguage, graph: ProcessorGraph
) -> tuple[EvaluationContext, tuple[Statement, ...]]:
    """Return the context after the element's own declarations, and the statement about its vocabulary, if any."""
    attributes = element.attributes
    if not element.namespaces and SCOPING.isdisjoint(attributes):
        return context, ()
    context = copy(context)
    if not _TOKEN_CONTEXT.isdisjoint(attributes):
        context.tokens = {}
    stated: tuple[Statement, ...] = ()
    if host.has_xml_base and "xml:base" in attributes:
        base = resolve_and_check(context.base, attributes["xml:base"])
        context.base = without_fragment(base.value)
        graph.record_term(base)
    if "vocab" in attributes:
        given = attributes["vocab"].strip()
        context.vocabulary = ""
        if given:
            vocabulary = resolve_and_check(context.base, given)
            graph.record_term(vocabulary)
            context.vocabulary = _add_slash(vocabulary.value, graph)
            term = graph.record_term(check(context.vocabulary))
            stated = ((f"<{context.base}>", _USES_VOCABULARY, term, ""),)
    if element.namespaces or "prefix" in attributes:
        _add_prefixes(element, context, graph)
    if "xml:lang" in attributes:
        context.language = attributes["xml:lang"].strip()
    elif host.is_html and "lang" in attributes:
        context.language = attributes["lang"].strip()
    return context, stated


def _add_prefixes(element: RdfaElement, context: EvaluationContext, graph: ProcessorGraph) -> None:
    prefixes, declared = dict(context.prefixes), dict(context.declared)
    for prefix, iri in element.namespaces.items():
        if len(declared) < _MAX_PREFIXES:
            declared[prefix] = iri
            if prefix != "_" and is_ncname(prefix):
                prefixes[prefix.lower()] = _add_slash(iri, graph)
    for prefix, iri in _iter_mappings(_repair_mappings(element.attributes.get("prefix", ""), graph)):
        if PREFIXES.get(prefix, iri) != iri:
            graph.add_message(ProcessorMessage.PREFIX_REDEFINITION, f"{prefix} is now {iri}")
        if len(prefixes) < _MAX_PREFIXES:
            prefixes[prefix] = declared[prefix] = _add_slash(iri, graph)
    context.declared = declared
    if prefixes != context.prefixes:  # many pages declare prefixes of the initial context; the cache stays valid then
        context.prefixes, context.tokens = prefixes, {}


def _add_slash(iri: str, graph: ProcessorGraph) -> str:
    """Return a namespace with a slash added if it has no path, and record the repair."""
    namespace = complete_namespace(iri)
    if namespace != iri:
        graph.add_repair(f"a slash was added to the namespace {iri}", iri)
    return namespace


def _repair_mappings(text: str, graph: ProcessorGraph) -> str:
    """Return a prefix attribute with the spaces that are missing after prefixes, and without separators after IRIs."""
    repaired = _MAPPING_FAULT.sub(lambda fault: f"{fault[0]} " if fault[1] else "", text)
    if repaired != text:
        graph.add_repair(f"faulty prefix attribute, read as {repaired[:200]}", text)
    return repaired


def _iter_mappings(text: str) -> Iterator[tuple[str, str]]:
    """Yield the prefixes and IRIs of a prefix attribute. Other words are skipped."""
    words = iter(text.split())
    for word in words:
        if not word.endswith(":"):
            continue
        iri = next(words, None)
        prefix = word[:-1].lower()
        if iri is not None and prefix != "_" and is_ncname(prefix):
            yield prefix, iri
