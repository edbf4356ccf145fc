"""The processor graph: errors and warnings about a document (RDFa Core 1.1, section 7.6)."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum

from motherlode.model import Statement
from motherlode.model.terms import RDF_TYPE, iri, literal
from motherlode.transform.bnodes import BlankNames
from motherlode.www.iri import Iri, repair_message

_RDFA = "http://www.w3.org/ns/rdfa#"
_DESCRIPTION = "<http://purl.org/dc/terms/description>"
_MAX_ENTRIES = 1_000
"""Entries of each kind that are recorded for one document."""


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
        """Class and description of each message."""
        self.repairs: dict[str, str] = {}
        """The description of each repair, and the original text."""
        self.invalid_terms: dict[str, None] = {}
        """Terms that are not valid IRIs. Statements with them must be removed."""
        self._repaired_terms: set[str] = set()

    def record_term(self, iri: Iri) -> str:
        """Return the term of an IRI and record whether it is invalid or repaired.

        The processing rules also need an invalid IRI, because otherwise they would attach its properties to another
        subject.
        """
        if not iri.is_valid:
            self.invalid_terms[iri.term] = None
        elif iri.is_repaired and len(self._repaired_terms) < _MAX_ENTRIES:
            self._repaired_terms.add(iri.term)
            self.add_repair(repair_message(iri), iri.value)
        return iri.term

    def has_problem(self, term: str) -> bool:
        """Whether a term was invalid or repaired. It must not be cached, because each page reports its problems."""
        return term in self.invalid_terms or term in self._repaired_terms

    def add_message(self, message: ProcessorMessage, description: str) -> None:
        if len(self.messages) < _MAX_ENTRIES:
            self.messages[message, description] = None

    def add_repair(self, description: str, original: str) -> None:
        if len(self.repairs) < _MAX_ENTRIES:
            self.repairs[description] = original

    def statements(self, page_url: str, names: BlankNames) -> Iterator[Statement]:
        """Yield the messages as statements about blank nodes."""
        page = iri(page_url)
        for message, description in self.messages:
            node = names.fresh()
            yield node, RDF_TYPE, f"<{_RDFA}{message.value}>", ""
            is_error = message is ProcessorMessage.DOCUMENT_ERROR
            yield node, RDF_TYPE, f"<{_RDFA}{'Error' if is_error else 'Warning'}>", ""
            yield node, _DESCRIPTION, literal(description, language="en"), ""
            if page is not None:
                yield node, f"<{_RDFA}context>", page, ""
