"""JSON-LD to RDF: one decoded document in, its statements out (JSON-LD 1.1 API, section 9.1, `toRdf`)."""

from __future__ import annotations

from dataclasses import dataclass

from motherlode.model import Statement
from motherlode.transform.blank import BlankNames
from motherlode.transform.jsonld.active import ActiveContext
from motherlode.transform.jsonld.errors import ErrorCode, JsonLdError, LimitExceeded
from motherlode.transform.jsonld.expansion import Expander
from motherlode.transform.jsonld.notes import Note, Notes
from motherlode.transform.jsonld.processing import ContextProcessor
from motherlode.transform.jsonld.rdf import Emitter
from motherlode.transform.jsonld.settings import Json, ProcessorOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class Processed:
    """What one document says, and what was wrong with it."""

    statements: tuple[Statement, ...]
    """Each once, in the order of the document."""
    notes: tuple[Note, ...] = ()
    wanted: tuple[str, ...] = ()
    """Remote contexts that could not be loaded."""


def to_rdf(document: Json, names: BlankNames, options: ProcessorOptions) -> Processed:
    """The statements of a decoded document. Raises `JsonLdError` only if the options are strict.

    >>> from motherlode.model import Syntax
    >>> names = BlankNames("http://example.org/", Syntax.JSON_LD)
    >>> document = {"@context": {"name": "http://xmlns.com/foaf/0.1/name"}, "@id": "#me", "name": "Ann"}
    >>> to_rdf(document, names, ProcessorOptions(base="http://example.org/")).statements
    (('<http://example.org/#me>', '<http://xmlns.com/foaf/0.1/name>', '"Ann"', ''),)
    """
    notes = Notes(options.limits.problems)
    emitter = Emitter(options, notes, names)
    try:
        _process(document, options, notes, emitter)
    except RecursionError:
        _give_up(LimitExceeded(ErrorCode.LOADING_DOCUMENT_FAILED, "nested too deep"), options, notes)
    except JsonLdError as error:
        _give_up(error, options, notes)
    return Processed(
        statements=tuple(dict.fromkeys(emitter.statements)), notes=tuple(notes.all()), wanted=tuple(notes.wanted)
    )


def _give_up(error: JsonLdError, options: ProcessorOptions, notes: Notes) -> None:
    if options.strict:
        raise error
    notes.add(str(error), error.detail)


def _process(document: Json, options: ProcessorOptions, notes: Notes, emitter: Emitter) -> None:
    contexts = ContextProcessor(options, notes)
    expander = Expander(options, notes, contexts)
    active = _start(contexts, options.expand_context)
    # One item of a long array after the other: what comes before a fault is kept, and memory stays low.
    alone = not isinstance(document, list)
    for item in [document] if alone else document:
        try:
            expanded = expander.expand(active, None, item)
        except LimitExceeded:
            raise
        except JsonLdError as error:
            _give_up(error, options, notes)
            continue
        if alone and isinstance(expanded, dict) and expanded.keys() == {"@graph"}:
            expanded = expanded["@graph"]
        if expanded is not None:
            emitter.emit(expanded if isinstance(expanded, list) else [expanded])


def _start(contexts: ContextProcessor, expand_context: Json) -> ActiveContext:
    if expand_context is None:
        return contexts.initial
    if isinstance(expand_context, dict) and "@context" in expand_context:
        expand_context = expand_context["@context"]
    return contexts.embedded(contexts.initial, expand_context)
