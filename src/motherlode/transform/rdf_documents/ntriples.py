"""Read N-Triples and N-Quads. Each line is a statement, so an invalid line loses only itself.

If the strict parser rejects a line, a lenient parser reads it again, as in Turtle. Invalid IRIs such as
`<http://example.org/50%>` are repaired and the statement is kept.
"""

from __future__ import annotations

from collections.abc import Iterator

import pyoxigraph as ox

from motherlode.model import Problem, Statement, Syntax
from motherlode.transform.rdf_documents.parser_terms import (
    Batches,
    BlankNodeRenamer,
    IriRepair,
    RepairReporter,
    convert_quad,
    find_fault,
    read_batch,
)
from motherlode.transform.rdf_documents.source import Source

_BLOCK_BYTES = 1 << 16
_MAX_LINE_BYTES = 1 << 24
"""Maximum length of a line. The parser accepts no longer ones."""


def read_lines(source: Source, syntax: Syntax, rdf_format: ox.RdfFormat, names: BlankNodeRenamer) -> Batches:
    """Parse blocks of lines at once, and line by line only if a block has an error."""
    repairs = RepairReporter(syntax)
    for offset, block in _read_blocks(source, syntax):
        if isinstance(block, Problem):
            yield block
            continue
        try:
            yield _parse_block(block, rdf_format, names)
        except SyntaxError:
            line, _ = source.position_of(offset)
            for number, text in enumerate(block.splitlines(), line):
                try:
                    yield _parse_block(text, rdf_format, names)
                except SyntaxError as error:
                    statements, repaired = _parse_leniently(text, rdf_format, names)
                    if repaired:
                        yield from repairs.problems(repaired, line=number, column=error.offset)
                    else:
                        yield Problem(syntax=syntax, message=parser_message(error), line=number, column=error.offset)
                    yield statements


def _parse_block(text: bytes, rdf_format: ox.RdfFormat, names: BlankNodeRenamer) -> list[Statement]:
    parser = ox.parse(text, rdf_format)
    found: list[Statement] = []
    while read_batch(parser, names, found):
        pass
    return found


def _parse_leniently(
    line: bytes, rdf_format: ox.RdfFormat, names: BlankNodeRenamer
) -> tuple[list[Statement], list[IriRepair]]:
    """Return the statements of a line and its repaired IRIs; two empty lists if the line has other errors."""
    repaired: list[IriRepair] = []
    try:
        statements = [convert_quad(quad, names.rename, repaired) for quad in ox.parse(line, rdf_format, lenient=True)]
    except SyntaxError:
        return [], []
    return ([], []) if any(map(find_fault, statements)) else (statements, repaired)


def parser_message(error: SyntaxError) -> str:
    """Return the message of a parser error without its position."""
    message = error.msg
    return message.partition(": ")[2] if message.startswith("Parser error ") else message


def _read_blocks(source: Source, syntax: Syntax) -> Iterator[tuple[int, bytes | Problem]]:
    """Yield blocks of whole lines of about `_BLOCK_BYTES` bytes, each with its offset."""
    offset = 0
    while block := source.get(offset, _BLOCK_BYTES):
        end = block.rfind(b"\n") + 1
        if not end and len(block) == _BLOCK_BYTES:
            end = _find_line_end(source, offset)
            if end - offset > _MAX_LINE_BYTES:
                line, _ = source.position_of(offset)
                message = f"a line longer than {_MAX_LINE_BYTES} bytes was left out"
                yield offset, Problem(syntax=syntax, message=message, line=line, column=1)
                offset = end
                continue
            block = source.get(offset, end - offset)
        elif end:
            block = block[:end]
        yield offset, block
        offset += len(block)


def _find_line_end(source: Source, offset: int) -> int:
    """Return the offset after the next line break, or the end of the document."""
    while block := source.get(offset, _BLOCK_BYTES):
        end = block.find(b"\n") + 1
        if end:
            return offset + end
        offset += len(block)
    return offset
