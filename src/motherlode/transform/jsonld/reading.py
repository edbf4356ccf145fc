"""The two ways in: JSON-LD blocks of an HTML page, and documents that are JSON-LD as a whole."""

from __future__ import annotations

from dataclasses import replace

from motherlode.model import Extraction, Problem, Statement, Syntax
from motherlode.model.prefixes import PREFIXES
from motherlode.transform.blank import BlankNames
from motherlode.transform.jsonld.decoding import decode
from motherlode.transform.jsonld.notes import shorten
from motherlode.transform.jsonld.places import Places, find_sample
from motherlode.transform.jsonld.processor import Processed, to_rdf
from motherlode.transform.jsonld.scripts import find_scripts
from motherlode.transform.jsonld.settings import Json, Limits, ProcessorOptions
from motherlode.transform.options import TransformOptions
from motherlode.www.document import Document

_PLAIN_VALUES = frozenset({"@id", "@index", "@language", "@type", "@value"})
"""Keywords whose values hold no objects, or objects that are plain JSON."""


def extract(document: Document, names: BlankNames, options: TransformOptions) -> Extraction:
    """What the JSON-LD blocks of a page say. Each block stands alone: a broken one costs no other."""
    gathered = _Gathered(document, names, options, base=document.iri_base, embedded=True)
    for script in find_scripts(document):
        gathered.add_block(script.content)
    return gathered.extraction()


def read_document(document: Document, names: BlankNames, options: TransformOptions) -> Extraction:
    """What a JSON-LD document says."""
    gathered = _Gathered(document, names, options, base=document.iri, embedded=False)
    gathered.add_block(document.text.removeprefix("\ufeff"))
    return gathered.extraction()


class _Gathered:
    """What has been found on a page so far."""

    def __init__(
        self, document: Document, names: BlankNames, options: TransformOptions, *, base: str, embedded: bool
    ) -> None:
        self._document = document
        self._names = names
        self._embedded = embedded
        self._left = options.statements
        self._options = ProcessorOptions(
            base=base,
            expand_context=options.context or None,
            strict=False,
            strict_iris=options.strict_jsonld,
            contexts=options.contexts,
            limits=Limits(statements=options.statements),
        )
        self._places: Places | None = None
        self._blocks: list[str] = []
        """The contents of all blocks so far: a block's place is behind those of the blocks before it."""
        self._statements: list[Statement] = []
        self._problems: list[Problem] = []
        self._wanted: dict[str, None] = {}

    def extraction(self) -> Extraction:
        return Extraction(
            syntax=Syntax.JSON_LD,
            statements=tuple(self._statements),
            problems=tuple(self._problems),
            wanted=tuple(self._wanted),
        )

    def add_block(self, content: str) -> None:
        self._blocks.append(content)
        reading = decode(content)
        for repair in reading.repairs:
            self._tell(repair.message, repair.offset, mended=True)
        if reading.failure is not None:
            self._tell(f"broken JSON-LD block: {reading.failure.message}", reading.failure.offset)
        for value in reading.values:
            processed = self._process(value)
            self._statements.extend(processed.statements)
            self._wanted.update(dict.fromkeys(processed.wanted))
            for note in processed.notes:
                self._tell(note.message, find_sample(content, note.sample), mended=note.mended)
            self._tell_of_silence(value, content, processed)

    def _tell_of_silence(self, value: Json, content: str, processed: Processed) -> None:
        """What is dropped by the rules, without an error, but surely not by the author's will."""
        if self._options.expand_context is None and (name := undefined_name(value)):
            reason = "the prefix of {} means nothing" if ":" in name else "terms mean nothing and are left out"
            self._tell(f"no @context, so {reason.format(shorten(name))}", find_sample(content, name))
        elif not processed.statements and all(note.mended for note in processed.notes) and _says_something(value):
            self._tell("no statement comes of the block", find_sample(content, ""))

    def _process(self, value: Json) -> Processed:
        left = self._options.limits.statements - len(self._statements)
        options = self._options
        if left < options.limits.statements:
            options = replace(options, limits=replace(options.limits, statements=left))
        return to_rdf(value, self._names, options)

    def _tell(self, message: str, offset: int, *, mended: bool = False) -> None:
        """Notes a trouble in the last block."""
        if self._places is None:
            self._places = Places(self._document.text, embedded=self._embedded)
        line, column = self._places.position(self._blocks, offset)
        self._problems.append(Problem(syntax=Syntax.JSON_LD, message=message, line=line, column=column, mended=mended))


def _says_something(value: Json) -> bool:
    """False for empty documents, and for contexts that others refer to."""
    return bool(value.keys() - {"@context"}) if isinstance(value, dict) else bool(value)


def undefined_name(value: Json) -> str:
    """Return a quoted term, type or compact IRI of an object outside of every context; "" if none is found.

    >>> undefined_name([{"@context": {}, "a": {"b": 1}}, {"http://example.org/": [{"@type": "C"}]}])
    '"C"'
    """
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, list):
            waiting.extend(reversed(item))
        elif isinstance(item, dict) and "@context" not in item:
            for name in (*item, *_strings(item.get("@type"))):
                prefix, colon, rest = name.partition(":")
                if name[:1] != "@" and (not colon or (prefix in PREFIXES and not rest.startswith("//"))):
                    return f'"{name}"'
            waiting.extend(reversed([inner for name, inner in item.items() if name not in _PLAIN_VALUES]))
    return ""


def _strings(value: Json) -> list[str]:
    return [one for one in (value if isinstance(value, list) else [value]) if isinstance(one, str)]
