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
_IRI_SEPARATORS = re.compile(r"[/#:?]")
_MAX_SEPARATORS = 16
_COMPARED_CHARACTERS = 40
"""Characters by which a script is known again whose whole content is not in the source: the parser may have mended it.
"""
_REFERENCE_CHARACTERS = 8
"""Characters of a usual character reference: `&#x1F600`."""
_MAX_SEARCHED_SCRIPTS = 1000
"""Scripts that are passed over to find one."""


class ScriptLocations:
    """Finds offsets of a script's content in the page that it came from.

    >>> page = '<p>\\n<script type="application/ld+json">{}</script>'
    >>> ScriptLocations(page).position(["{}"], 1)
    (2, 37)
    """

    def __init__(self, source: str, *, embedded: bool = True) -> None:
        self._source = _normalize_source(source)
        self._is_embedded = embedded
        """Whether the content stands in script elements; else it is the whole source."""
        self._located: list[tuple[int, int] | None] = []
        """Line and column of each script so far, from zero; None where it could not be found."""
        self._passed = 0
        """Starts of scripts that lie before the next one."""
        self._offset = self._line = self._column = 0
        """Where the last script began that was found."""

    def position(self, blocks: Sequence[str], offset: int) -> tuple[int, int] | tuple[None, None]:
        """Line and column of an offset in the last of some scripts; they are all of the page's up to it, in order."""
        start = self._start(blocks) if self._is_embedded else (0, 0)
        if start is None:
            return None, None
        line, column = start
        before = blocks[-1][:offset]
        breaks = before.count("\n")
        within = len(before) - (before.rfind("\n") + 1)
        return line + breaks + 1, within + 1 + (0 if breaks else column)

    def _start(self, blocks: Sequence[str]) -> tuple[int, int] | None:
        """Where the last block begins: behind those before it, for scripts often begin alike."""
        for content in blocks[len(self._located) :]:
            self._located.append(self._locate_script(content))
        return self._located[len(blocks) - 1]

    def _locate_script(self, content: str) -> tuple[int, int] | None:
        ahead = self._starts[self._passed : self._passed + _MAX_SEARCHED_SCRIPTS]
        found = next((number for number, start in enumerate(ahead) if self._is_whole_script(start, content)), None)
        if found is None and (head := content[:_COMPARED_CHARACTERS]):
            found = next((number for number, start in enumerate(ahead) if self._source.startswith(head, start)), None)
            if found is None:
                found = next(
                    (number for number, start in enumerate(ahead) if self._starts_with_unescaped(start, head)), None
                )
        if found is None:
            return None
        self._passed += found + 1
        self._advance(ahead[found])
        return self._line, self._column

    def _advance(self, start: int) -> None:
        """Counts on from the last script, so that all of them together cost one look at the page."""
        line_end = self._source.rfind("\n", self._offset, start)
        self._column = start - line_end - 1 if line_end != -1 else self._column + start - self._offset
        self._line += self._source.count("\n", self._offset, start)
        self._offset = start

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

    def _starts_with_unescaped(self, start: int, head: str) -> bool:
        """Whether a script begins so, but for character references, which the scripts of XHTML may have."""
        return html.unescape(self._source[start : start + _REFERENCE_CHARACTERS * _COMPARED_CHARACTERS]).startswith(
            head
        )

    def _is_whole_script(self, start: int, content: str) -> bool:
        return self._source.startswith(content, start) and bool(_CLOSING.match(self._source, start + len(content)))


def _normalize_source(source: str) -> str:
    """Text as an HTML parser takes it in: line ends are all the same, and there is no NUL."""
    return source.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd")


def find_sample(content: str, sample: str) -> int:
    """The offset of a string of the document in its text; that of the first character where it cannot be found.

    >>> find_sample('{"a": "x\\\\"y"}', 'x"y'), find_sample('{"a": "b c"}', "http://example.org/b c")
    (7, 7)
    """
    found = _find_spelling(content, sample) if sample else -1
    if found == -1:
        # An IRI may have been put together from a base, a vocabulary or a prefix and what stands in the text.
        for joint in list(_IRI_SEPARATORS.finditer(sample))[:_MAX_SEPARATORS]:
            for start in (joint.start(), joint.end()):
                found = _find_spelling(content, '"' + sample[start:]) if start < len(sample) else -1
                if found != -1:
                    return found + 1
        return len(content) - len(content.lstrip())
    return found


def _find_spelling(content: str, sample: str) -> int:
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
        return _decode_strictly(_find_script_text(document, unquote(fragment)))
    blocks = find_scripts(document)
    if not extract_all:
        first = next(blocks, None)
        return [] if first is None else _decode_strictly(first.content)
    merged: list[Json] = []
    for script in blocks:
        value = _decode_strictly(script.content)
        merged.extend(value if isinstance(value, list) else [value])
    return merged


def _find_script_text(document: Document, identifier: str) -> str:
    for node in document.html.css("[id]"):
        if node.attributes.get("id") == identifier:
            if node.tag != "script" or not _is_json_ld(node.attributes.get("type") or ""):
                raise JsonLdError(ErrorCode.LOADING_DOCUMENT_FAILED, f"#{identifier} is no JSON-LD script")
            return node.text()
    raise JsonLdError(ErrorCode.LOADING_DOCUMENT_FAILED, f"no element #{identifier}")


def _decode_strictly(content: str) -> Json:
    try:
        return msgspec.json.decode(content)
    except (ValueError, RecursionError) as error:
        raise JsonLdError(ErrorCode.INVALID_SCRIPT_ELEMENT, str(error)) from error


# ── The two ways in: JSON-LD blocks of an HTML page, and documents that are JSON-LD as a whole.

_KEYWORDS_WITHOUT_OBJECTS = frozenset({"@id", "@index", "@language", "@type", "@value"})
"""Keywords whose values hold no objects, or objects that are plain JSON."""


def extract(document: Document, names: BlankNames, options: TransformOptions) -> Extraction:
    """What the JSON-LD blocks of a page say. Each block stands alone: a broken one costs no other."""
    reader = _BlockReader(document, names, options, base=document.iri_base, embedded=True)
    for script in find_scripts(document):
        reader.add_block(script.content)
    return reader.extraction()


def read_document(document: Document, names: BlankNames, options: TransformOptions) -> Extraction:
    """What a JSON-LD document says."""
    reader = _BlockReader(document, names, options, base=document.iri, embedded=False)
    reader.add_block(document.text.removeprefix("\ufeff"))
    return reader.extraction()


class _BlockReader:
    """What has been found on a page so far."""

    def __init__(
        self, document: Document, names: BlankNames, options: TransformOptions, *, base: str, embedded: bool
    ) -> None:
        self._document = document
        self._names = names
        self._is_embedded = embedded
        self._options = ProcessorOptions(
            base=base,
            expand_context=options.context or None,
            strict=False,
            strict_iris=options.strict_jsonld,
            contexts=options.contexts,
            limits=ProcessorLimits(statements=options.statements),
        )
        self._locations: ScriptLocations | None = None
        self._blocks: list[str] = []
        """The contents of all blocks so far: a block's place is behind those of the blocks before it."""
        self._statements: list[Statement] = []
        self._problems: list[Problem] = []
        self._missing_contexts: dict[str, None] = {}

    def extraction(self) -> Extraction:
        return Extraction(
            syntax=Syntax.JSON_LD,
            statements=tuple(self._statements),
            problems=tuple(self._problems),
            wanted=tuple(self._missing_contexts),
        )

    def add_block(self, content: str) -> None:
        self._blocks.append(content)
        decoded = decode(content)
        for repair in decoded.repairs:
            self._report(repair.message, repair.offset, repaired=True)
        if decoded.failure is not None:
            self._report(f"broken JSON-LD block: {decoded.failure.message}", decoded.failure.offset)
        for value in decoded.values:
            processed = self._process(value)
            self._statements.extend(processed.statements)
            self._missing_contexts.update(dict.fromkeys(processed.wanted))
            for note in processed.notes:
                self._report(note.message, find_sample(content, note.sample), repaired=note.repaired)
            self._report_lost_content(value, content, processed)

    def _report_lost_content(self, value: Json, content: str, processed: ProcessedDocument) -> None:
        """What is dropped by the rules, without an error, but surely not by the author's will."""
        if self._options.expand_context is None and (name := find_undefined_name(value)):
            reason = "the prefix of {} means nothing" if ":" in name else "terms mean nothing and are left out"
            self._report(f"no @context, so {reason.format(shorten(name))}", find_sample(content, name))
        elif not processed.statements and all(note.repaired for note in processed.notes) and _has_content(value):
            self._report("no statement comes of the block", find_sample(content, ""))

    def _process(self, value: Json) -> ProcessedDocument:
        left = self._options.limits.statements - len(self._statements)
        options = self._options
        if left < options.limits.statements:
            options = replace(options, limits=replace(options.limits, statements=left))
        return to_rdf(value, self._names, options)

    def _report(self, message: str, offset: int, *, repaired: bool = False) -> None:
        """Notes a trouble in the last block."""
        if self._locations is None:
            self._locations = ScriptLocations(self._document.text, embedded=self._is_embedded)
        line, column = self._locations.position(self._blocks, offset)
        self._problems.append(
            Problem(syntax=Syntax.JSON_LD, message=message, line=line, column=column, repaired=repaired)
        )


def _has_content(value: Json) -> bool:
    """False for empty documents, and for contexts that others refer to."""
    return bool(value.keys() - {"@context"}) if isinstance(value, dict) else bool(value)


def find_undefined_name(value: Json) -> str:
    """Return a quoted term, type or compact IRI of an object outside of every context; "" if none is found.

    >>> find_undefined_name([{"@context": {}, "a": {"b": 1}}, {"http://example.org/": [{"@type": "C"}]}])
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
            waiting.extend(reversed([inner for name, inner in item.items() if name not in _KEYWORDS_WITHOUT_OBJECTS]))
    return ""


def _strings(value: Json) -> list[str]:
    return [one for one in (value if isinstance(value, list) else [value]) if isinstance(one, str)]
