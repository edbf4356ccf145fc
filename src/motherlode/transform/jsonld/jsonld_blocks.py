"""Extract JSON-LD from script elements of HTML pages and from JSON-LD documents, and locate problems in the source."""

import html
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Self
from urllib.parse import unquote

from motherlode.model import Extraction, Problem, Statement, Syntax
from motherlode.model.terms import PREFIXES
from motherlode.transform.bnodes import BlankNames
from motherlode.transform.jsonld.hydration import find_hydration_objects
from motherlode.transform.jsonld.json_decoder import decode
from motherlode.transform.jsonld.jsonld_errors import shorten
from motherlode.transform.jsonld.processor_options import Json, ProcessorOptions
from motherlode.transform.jsonld.to_rdf import ProcessedDocument, to_rdf
from motherlode.transform.options import TransformOptions
from motherlode.www.document import Document, Script
from motherlode.www.html_prefilter import Mark
from motherlode.www.iri import split_curie

_OPENING = re.compile(r"<!--(?:-?>|.*?--!?>|.*)|<script\b[^>]{0,1000}+>", re.IGNORECASE | re.DOTALL)
_CLOSING = re.compile(r"</script|\Z", re.IGNORECASE)
_JSON_LD = "ld+json"
_IRI_SEPARATORS = re.compile(r"[/#:?]")
_MAX_SEPARATORS = 16
_COMPARED_CHARACTERS = 40
"""Characters compared to find a script whose whole content is not in the source, because the HTML parser changed it."""
_REFERENCE_CHARACTERS = 8
"""Characters of a typical character reference such as `&#x1F600`."""
_MAX_SEARCHED_SCRIPTS = 1000
"""Maximum number of script elements searched for the content of a block."""


class ScriptLocations:
    """Converts offsets in the content of scripts to positions in the page."""

    def __init__(self, source: str, *, embedded: bool = True) -> None:
        self._source = source.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd")
        """The text with line ends and NUL normalized as an HTML parser does."""
        self._is_embedded = embedded
        """Whether the content is in script elements. Otherwise it is the whole source."""
        self._located: list[tuple[int, int] | None] = []
        """Line and column of each script so far, counted from zero; None if it was not found."""
        self._passed = 0
        """Number of script elements before the next one to search."""
        self._offset = self._line = self._column = 0
        """Position of the last script found."""

    def position(self, blocks: Sequence[str], offset: int) -> tuple[int, int] | tuple[None, None]:
        """Return the line and column in the page of an offset in the last block. `blocks` are all blocks so far."""
        start: tuple[int, int] | None = (0, 0)
        if self._is_embedded:
            for content in blocks[len(self._located) :]:  # in order, because scripts often start alike
                self._located.append(self._locate_script(content))
            start = self._located[len(blocks) - 1]
        if start is None:
            return None, None
        line, column = start
        before = blocks[-1][:offset]
        breaks = before.count("\n")
        within = len(before) - (before.rfind("\n") + 1)
        return line + breaks + 1, within + 1 + (0 if breaks else column)

    def _locate_script(self, content: str) -> tuple[int, int] | None:
        ahead = self._starts[self._passed : self._passed + _MAX_SEARCHED_SCRIPTS]
        for is_script in (self._is_whole_script, self._has_same_start, self._has_same_start_unescaped):
            for number, start in enumerate(ahead):
                if is_script(start, content):
                    self._passed += number + 1
                    return self._advance(start)
        return None

    def _advance(self, start: int) -> tuple[int, int]:
        """Return line and column of an offset, counted from the last one so that the page is scanned only once."""
        line_end = self._source.rfind("\n", self._offset, start)
        self._column = start - line_end - 1 if line_end != -1 else self._column + start - self._offset
        self._line += self._source.count("\n", self._offset, start)
        self._offset = start
        return self._line, self._column

    @cached_property
    def _starts(self) -> list[int]:
        """Offsets of the contents of JSON-LD scripts. Scripts inside comments are ignored."""
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

    def _is_whole_script(self, start: int, content: str) -> bool:
        return self._source.startswith(content, start) and bool(_CLOSING.match(self._source, start + len(content)))

    def _has_same_start(self, start: int, content: str) -> bool:
        head = content[:_COMPARED_CHARACTERS]
        return bool(head) and self._source.startswith(head, start)

    def _has_same_start_unescaped(self, start: int, content: str) -> bool:
        """Return whether a script starts like `content` after unescaping, as in XHTML with character references."""
        head = content[:_COMPARED_CHARACTERS]
        written = self._source[start : start + _REFERENCE_CHARACTERS * _COMPARED_CHARACTERS]
        return bool(head) and html.unescape(written).startswith(head)


def find_sample(content: str, sample: str) -> int:
    """Return the offset of a string in the text of a block; the first non-space character if it is not found."""
    found = _find_spelling(content, sample) if sample else -1
    if found != -1:
        return found
    # An IRI may be the text combined with a base, a vocabulary or a prefix.
    for joint in list(_IRI_SEPARATORS.finditer(sample))[:_MAX_SEPARATORS]:
        for start in joint.span():
            found = _find_spelling(content, '"' + sample[start:]) if start < len(sample) else -1
            if found != -1:
                return found + 1
    return len(content) - len(content.lstrip())


def _find_spelling(content: str, sample: str) -> int:
    opening, text = ('"', sample[1:]) if sample.startswith('"') else ("", sample)
    escaped = [json.dumps(text, ensure_ascii=False)[1:-1], json.dumps(text)[1:-1]]
    forms = [text, *(form for spelled in escaped for form in (spelled, spelled.replace("/", "\\/")))]
    return next((found for form in forms if (found := content.find(opening + form)) != -1), -1)


# Script elements (JSON-LD 1.1, section 7; JSON-LD 1.1 API, section 9.4)

MEDIA_TYPE = "application/ld+json"


def find_scripts(document: Document) -> Iterator[Script]:
    """Return the JSON-LD scripts of a page in document order."""
    return iter(document.find_scripts(_is_json_ld))


def _is_json_ld(media_type: str) -> bool:
    return media_type.partition(";")[0].strip().lower() == MEDIA_TYPE


_KEYWORDS_WITHOUT_OBJECTS = frozenset({"@id", "@index", "@language", "@type", "@value"})
"""Keywords whose values contain no node objects."""


def extract(document: Document, names: BlankNames, options: TransformOptions) -> Extraction:
    """Extract the JSON-LD scripts and the hydration data of a page. An invalid script does not affect the others.

    If the URL ends with the id of a JSON-LD script as its fragment, only that script is extracted.
    """
    reader = _BlockReader(document, names, options, base=document.iri_base, embedded=True)
    if Mark.JSON_LD in document.marks:
        scripts = list(find_scripts(document))
        identifier = unquote(document.url.partition("#")[2])
        target = next((script for script in scripts if identifier and script.identifier == identifier), None)
        if target is not None:
            return reader.add_blocks([target.content]).finish()
        reader.add_blocks(script.content for script in scripts)
    for value in find_hydration_objects(document, reader.values):
        reader.add_value(value)
    return reader.finish()


def read_document(document: Document, names: BlankNames, options: TransformOptions) -> Extraction:
    """Extract a JSON-LD document."""
    block = document.text.removeprefix("\ufeff")
    return _BlockReader(document, names, options, base=document.iri, embedded=False).add_blocks([block]).finish()


class _BlockReader:
    """Collects the statements and problems of the blocks of a page."""

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
            max_statements=options.statements,
        )
        self._locations: ScriptLocations | None = None
        self._blocks: list[str] = []
        """Contents of all blocks so far, needed to locate the last one."""
        self.values: list[Json] = []
        """The decoded values of all blocks so far."""
        self._statements: list[Statement] = []
        self._problems: list[Problem] = []
        self._missing_contexts: dict[str, None] = {}

    def add_blocks(self, blocks: Iterable[str]) -> Self:
        """Decode and process some blocks."""
        for content in blocks:
            self._add_block(content)
        return self

    def finish(self) -> Extraction:
        """Return the statements and problems so far."""
        return Extraction(
            syntax=Syntax.JSON_LD,
            statements=tuple(self._statements),
            problems=tuple(self._problems),
            wanted=tuple(self._missing_contexts),
        )

    def _add_block(self, content: str) -> None:
        self._blocks.append(content)
        decoded = decode(content)
        for repair in decoded.repairs:
            self._report(repair.message, repair.offset, repaired=True)
        if decoded.failure is not None:
            self._report(f"broken JSON-LD block: {decoded.failure.message}", decoded.failure.offset)
        for value in decoded.values:
            self.add_value(value, content)

    def add_value(self, value: Json, content: str | None = None) -> None:
        """Process a decoded value. Without the content of its block, problems have no position."""
        self.values.append(value)
        left = self._options.max_statements - len(self._statements)
        options = replace(self._options, max_statements=left) if self._statements else self._options
        processed = to_rdf(value, self._names, options)
        self._statements.extend(processed.statements)
        self._missing_contexts.update(dict.fromkeys(processed.wanted))
        for note in processed.notes:
            self._report(note.message, _find_offset(content, note.sample), repaired=note.repaired)
        self._report_lost_content(value, content, processed)

    def _report_lost_content(self, value: Json, content: str | None, processed: ProcessedDocument) -> None:
        """Report content that is dropped without an error, but hardly on purpose."""
        has_content = bool(value.keys() - {"@context"}) if isinstance(value, dict) else bool(value)
        if self._options.expand_context is None and (name := find_undefined_name(value)):
            reason = "the prefix of {} is undefined" if ":" in name else "terms are undefined and left out"
            self._report(f"no @context, so {reason.format(shorten(name))}", _find_offset(content, name))
        elif has_content and not processed.statements and all(note.repaired for note in processed.notes):
            self._report("the block gives no statements", _find_offset(content, ""))

    def _report(self, message: str, offset: int | None, *, repaired: bool = False) -> None:
        """Record a problem at an offset in the last block, or without a position."""
        line = column = None
        if offset is not None:
            if self._locations is None:
                self._locations = ScriptLocations(self._document.text, embedded=self._is_embedded)
            line, column = self._locations.position(self._blocks, offset)
        self._problems.append(
            Problem(syntax=Syntax.JSON_LD, message=message, line=line, column=column, repaired=repaired)
        )


def _find_offset(content: str | None, sample: str) -> int | None:
    return None if content is None else find_sample(content, sample)


def find_undefined_name(value: Json) -> str:
    """Return a quoted term, type or compact IRI that is used outside any context; "" if there is none."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, list):
            waiting.extend(reversed(item))
        elif isinstance(item, dict) and "@context" not in item:
            types = item.get("@type")
            strings = [it for it in (types if isinstance(types, list) else [types]) if isinstance(it, str)]
            for name in (*item, *strings):
                prefix, _ = split_curie(name) or ("", "")
                if name[:1] != "@" and (":" not in name or prefix in PREFIXES):
                    return f'"{name}"'
            waiting.extend(reversed([inner for name, inner in item.items() if name not in _KEYWORDS_WITHOUT_OBJECTS]))
    return ""
