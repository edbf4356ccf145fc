"""Where in a page a trouble is: lines and columns, worked out only when there is a trouble to tell."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from urllib.parse import unquote

import msgspec

from motherlode.model import Extraction, Problem, Statement, Syntax
from motherlode.model.terms import PREFIXES
from motherlode.transform.bnodes import BlankNames
from motherlode.transform.jsonld.errors import ErrorCode, JsonLdError, shorten
from motherlode.transform.jsonld.json_decoder import decode
from motherlode.transform.jsonld.processor_options import Json, ProcessorLimits, ProcessorOptions
from motherlode.transform.jsonld.to_rdf import ProcessedDocument, to_rdf
from motherlode.transform.options import TransformOptions
from motherlode.www import html_scripts as scripts
from motherlode.www.document import Document
from motherlode.www.html_scripts import Script

_OPENING = re.compile(r"<!--(?:-?>|.*?--!?>|.*)|<script\b[^>]{0,1000}+>", re.IGNORECASE | re.DOTALL)
_CLOSING = re.compile(r"</script|\Z", re.IGNORECASE)
_JSON_LD = "ld+json"
_JOINTS = re.compile(r"[/#:?]")
_MOST_JOINTS = 16
_COMPARED = 40
"""Characters by which a script is known again whose whole content is not in the source: the parser may have mended it.
"""
_LONGEST_REFERENCE = 8
"""Characters of a usual character reference: `&#x1F600`."""
_MOST_PASSED = 1000
"""Scripts that are passed over to find one."""


class SourceLocations:
    """Finds offsets of a script's content in the page that it came from.

    >>> page = '<p>\\n<script type="application/ld+json">{}</script>'
    >>> Places(page).position(["{}"], 1)
    (2, 37)
    """

    def __init__(self, source: str, *, embedded: bool = True) -> None:
        self._source = _as_parsed(source)
        self._embedded = embedded
        """Whether the content stands in script elements; else it is the whole source."""
        self._placed: list[tuple[int, int] | None] = []
        """Line and column of each script so far, from zero; None where it could not be found."""
        self._passed = 0
        """Starts of scripts that lie before the next one."""
        self._at = self._line = self._column = 0
        """Where the last script began that was found."""

    def position(self, blocks: Sequence[str], offset: int) -> tuple[int, int] | tuple[None, None]:
        """Line and column of an offset in the last of some scripts; they are all of the page's up to it, in order."""
        start = self._start(blocks) if self._embedded else (0, 0)
        if start is None:
            return None, None
        line, column = start
        before = blocks[-1][:offset]
        breaks = before.count("\n")
        within = len(before) - (before.rfind("\n") + 1)
        return line + breaks + 1, within + 1 + (0 if breaks else column)

    def _start(self, blocks: Sequence[str]) -> tuple[int, int] | None:
        """Where the last block begins: behind those before it, for scripts often begin alike."""
        for content in blocks[len(self._placed) :]:
            self._placed.append(self._place(content))
        return self._placed[len(blocks) - 1]

    def _place(self, content: str) -> tuple[int, int] | None:
        ahead = self._starts[self._passed : self._passed + _MOST_PASSED]
        found = next((number for number, start in enumerate(ahead) if self._is_whole(start, content)), None)
        if found is None and (head := content[:_COMPARED]):
            found = next((number for number, start in enumerate(ahead) if self._source.startswith(head, start)), None)
            if found is None:
                found = next((number for number, start in enumerate(ahead) if self._is_spelt(start, head)), None)
        if found is None:
            return None
        self._passed += found + 1
        self._move(ahead[found])
        return self._line, self._column

    def _move(self, start: int) -> None:
        """Counts on from the last script, so that all of them together cost one look at the page."""
        line_end = self._source.rfind("\n", self._at, start)
        self._column = start - line_end - 1 if line_end != -1 else self._column + start - self._at
        self._line += self._source.count("\n", self._at, start)
        self._at = start

    @cached_property
    def _starts(self) -> list[int]:
        """Where the content of each JSON-LD script begins. Scripts in comments are none."""
        found: list[int] = []
        position = 0
        while opening := _OPENING.search(self._source, position):
            position = opening.end()
            if opening[0].startswith("<!--"):
                continue
            if _JSON_LD in html.unescape(opening[0]).lower():
                found.append(position)
            closing = _CLOSING.search(self._source, position)
            position = closing.end() if closing else position
        return found

    def _is_spelt(self, start: int, head: str) -> bool:
        """Whether a script begins so, but for character references, which the scripts of XHTML may have."""
        return html.unescape(self._source[start : start + _LONGEST_REFERENCE * _COMPARED]).startswith(head)

    def _is_whole(self, start: int, content: str) -> bool:
        return self._source.startswith(content, start) and bool(_CLOSING.match(self._source, start + len(content)))


def _as_parsed(source: str) -> str:
    """Text as an HTML parser takes it in: line ends are all the same, and there is no NUL."""
    return source.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd")


def find_sample(content: str, sample: str) -> int:
    """The offset of a string of the document in its text; that of the first character where it cannot be found.

    >>> find_sample('{"a": "x\\\\"y"}', 'x"y'), find_sample('{"a": "b c"}', "http://example.org/b c")
    (7, 7)
    """
    found = _find(content, sample) if sample else -1
    if found == -1:
        # An IRI may have been put together from a base, a vocabulary or a prefix and what stands in the text.
        for joint in list(_JOINTS.finditer(sample))[:_MOST_JOINTS]:
            for start in (joint.start(), joint.end()):
                found = _find(content, '"' + sample[start:]) if start < len(sample) else -1
                if found != -1:
                    return found + 1
        return len(content) - len(content.lstrip())
    return found


def _find(content: str, sample: str) -> int:
    found = content.find(sample)
    if found != -1:
        return found
    opening, text = ('"', sample[1:]) if sample.startswith('"') else ("", sample)
    for spelled in (json.dumps(text, ensure_ascii=False)[1:-1], json.dumps(text)[1:-1]):
        for form in (spelled, spelled.replace("/", "\\/")):
            found = content.find(opening + form)
            if found != -1:
                return found
    return -1


# ── JSON-LD script elements of an HTML page (JSON-LD 1.1, section 7; JSON-LD 1.1 API, section 9.4).

MEDIA_TYPE = "application/ld+json"


def find_scripts(document: Document) -> Iterator[Script]:
    """The page's JSON-LD blocks in their order."""
    return iter(scripts.find_scripts(document, _is_json_ld))


def _is_json_ld(media_type: str) -> bool:
    return media_type.partition(";")[0].strip().lower() == MEDIA_TYPE


def load_scripts(document: Document, *, fragment: str = "", extract_all: bool = False) -> Json:
    """One decoded document of a page's blocks, with the errors that the specification demands.

    With a fragment, the element of that identifier; else all blocks in one array, or the first block alone.
    """
    if fragment:
        return _strictly_decoded(_targeted(document, unquote(fragment)))
    blocks = find_scripts(document)
    if not extract_all:
        first = next(blocks, None)
        return [] if first is None else _strictly_decoded(first.content)
    merged: list[Json] = []
    for script in blocks:
        value = _strictly_decoded(script.content)
        merged.extend(value if isinstance(value, list) else [value])
    return merged


def _targeted(document: Document, identifier: str) -> str:
    for node in document.html.css("[id]"):
        if node.attributes.get("id") == identifier:
            if node.tag != "script" or not _is_json_ld(node.attributes.get("type") or ""):
                raise JsonLdError(ErrorCode.LOADING_DOCUMENT_FAILED, f"#{identifier} is no JSON-LD script")
            return node.text()
    raise JsonLdError(ErrorCode.LOADING_DOCUMENT_FAILED, f"no element #{identifier}")


def _strictly_decoded(content: str) -> Json:
    try:
        return msgspec.json.decode(content)
    except (ValueError, RecursionError) as error:
        raise JsonLdError(ErrorCode.INVALID_SCRIPT_ELEMENT, str(error)) from error


# ── The two ways in: JSON-LD blocks of an HTML page, and documents that are JSON-LD as a whole.

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
            limits=ProcessorLimits(statements=options.statements),
        )
        self._places: SourceLocations | None = None
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
            self._tell(repair.message, repair.offset, repaired=True)
        if reading.failure is not None:
            self._tell(f"broken JSON-LD block: {reading.failure.message}", reading.failure.offset)
        for value in reading.values:
            processed = self._process(value)
            self._statements.extend(processed.statements)
            self._wanted.update(dict.fromkeys(processed.wanted))
            for note in processed.notes:
                self._tell(note.message, find_sample(content, note.sample), repaired=note.repaired)
            self._tell_of_silence(value, content, processed)

    def _tell_of_silence(self, value: Json, content: str, processed: ProcessedDocument) -> None:
        """What is dropped by the rules, without an error, but surely not by the author's will."""
        if self._options.expand_context is None and (name := undefined_name(value)):
            reason = "the prefix of {} means nothing" if ":" in name else "terms mean nothing and are left out"
            self._tell(f"no @context, so {reason.format(shorten(name))}", find_sample(content, name))
        elif not processed.statements and all(note.repaired for note in processed.notes) and _says_something(value):
            self._tell("no statement comes of the block", find_sample(content, ""))

    def _process(self, value: Json) -> ProcessedDocument:
        left = self._options.limits.statements - len(self._statements)
        options = self._options
        if left < options.limits.statements:
            options = replace(options, limits=replace(options.limits, statements=left))
        return to_rdf(value, self._names, options)

    def _tell(self, message: str, offset: int, *, repaired: bool = False) -> None:
        """Notes a trouble in the last block."""
        if self._places is None:
            self._places = SourceLocations(self._document.text, embedded=self._embedded)
        line, column = self._places.position(self._blocks, offset)
        self._problems.append(
            Problem(syntax=Syntax.JSON_LD, message=message, line=line, column=column, repaired=repaired)
        )


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
