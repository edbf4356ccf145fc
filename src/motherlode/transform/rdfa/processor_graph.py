"""The processor graph: what the processor has to say about a document (RDFa Core 1.1, section 7.6)."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum

from motherlode.model import Statement
from motherlode.model.terms import RDF_TYPE, iri, literal
from motherlode.transform.bnodes import BlankNames
from motherlode.www.iri import Iri, repair_message

_RDFA = "http://www.w3.org/ns/rdfa#"
_DESCRIPTION = "<http://purl.org/dc/terms/description>"
_MOST_ENTRIES = 1_000


class ProcessorMessage(Enum):
    """The classes of entries; each is an error or a warning."""

    DOCUMENT_ERROR = "DocumentError"
    UNRESOLVED_CURIE = "UnresolvedCURIE"
    UNRESOLVED_TERM = "UnresolvedTerm"
    PREFIX_REDEFINITION = "PrefixRedefinition"

    @property
    def is_error(self) -> bool:
        return self is ProcessorMessage.DOCUMENT_ERROR


class ProcessorGraph:
    """Collects entries."""

    def __init__(self) -> None:
        self.entries: dict[tuple[ProcessorMessage, str], None] = {}
        self.repaired: dict[str, str] = {}
        """What was read otherwise than it was written, and how that was written."""
        self.refused: dict[str, None] = {}
        """Terms that are no valid IRIs: no statement may have them."""
        self._repaired: set[str] = set()

    def term(self, iri: Iri) -> str:
        """The term of an IRI. The rules go on with one that is not valid, so that what it says is said of no other."""
        if not iri.is_valid:
            self.refused[iri.term] = None
        elif iri.is_repaired and len(self._repaired) < _MOST_ENTRIES:
            self._repaired.add(iri.term)
            self.mend(repair_message(iri), iri.value)
        return iri.term

    def is_faulty(self, term: str) -> bool:
        """Whether there is something to tell of a term, so that its meaning must not be taken from a memory."""
        return term in self.refused or term in self._repaired

    def add(self, trouble: ProcessorMessage, description: str) -> None:
        if len(self.entries) < _MOST_ENTRIES:
            self.entries[trouble, description] = None

    def mend(self, description: str, written: str) -> None:
        if len(self.repaired) < _MOST_ENTRIES:
            self.repaired[description] = written

    def statements(self, page_url: str, names: BlankNames) -> Iterator[Statement]:
        page = iri(page_url)
        for trouble, description in self.entries:
            node = names.fresh()
            yield node, RDF_TYPE, f"<{_RDFA}{trouble.value}>", ""
            yield node, RDF_TYPE, f"<{_RDFA}{'Error' if trouble.is_error else 'Warning'}>", ""
            yield node, _DESCRIPTION, literal(description, language="en"), ""
            if page is not None:
                yield node, f"<{_RDFA}context>", page, ""
