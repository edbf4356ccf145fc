"""`extract`: the facts of one file, page or stream, on their own."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterable, Iterator
from enum import Enum
from itertools import chain
from pathlib import Path
from typing import Annotated

import pyoxigraph as ox
import typer
from rich.markup import escape

from motherlode.cli.output import FAILED, stop, terminal
from motherlode.crawl import JobError
from motherlode.crawl.single import Source, fetch_source, read_source
from motherlode.model import Facts, Problem, Statement, Syntax
from motherlode.model.prefixes import PREFIXES
from motherlode.policy import nearest


class FactsFormat(Enum):
    NQUADS = "nquads"
    TRIG = "trig"
    TURTLE = "turtle"
    JSONLD = "jsonld"


_SERIALISERS = {
    FactsFormat.TRIG: ox.RdfFormat.TRIG,
    FactsFormat.TURTLE: ox.RdfFormat.TURTLE,
    FactsFormat.JSONLD: ox.RdfFormat.JSON_LD,
}


def extract(
    source: Annotated[str, typer.Argument(metavar="FILE|URL|-", help="A file, an address, or - for stdin.")],
    *,
    base: Annotated[
        str | None, typer.Option(metavar="URL", help="The page's address, for relative references.")
    ] = None,
    media_type: Annotated[
        str, typer.Option("--type", metavar="MEDIA", help="The media type, where name and content don't tell.")
    ] = "",
    syntax: Annotated[
        list[str] | None, typer.Option(metavar="S", help="Only this syntax; may be given several times.")
    ] = None,
    form: Annotated[FactsFormat, typer.Option("--format", help="How to write the facts.")] = FactsFormat.NQUADS,
    allow: Annotated[
        list[str] | None, typer.Option(metavar="RANGE", help="Private address ranges that may be fetched from.")
    ] = None,
) -> None:
    """Extract the structured data of one page or document: quads to stdout, problems to stderr.

    \b
    Examples:
      motherlode extract page.html --base https://example.org/page --format turtle
      curl -s https://example.org/ | motherlode extract - --base https://example.org/ --syntax jsonld
      motherlode extract https://example.org/data.ttl

    The exit code is 0 even where some blocks were broken, 1 where nothing could be read at all, 2 on wrong usage.
    """
    wanted = _syntaxes(syntax)
    tally = _Tally()
    try:
        got = _source(source, base=base, media_type=media_type, allow=tuple(allow or ()))
        _write(tally.watch(read_source(got, wanted)), got.url, form)
    except JobError as error:
        stop(str(error), code=FAILED)
    if tally.statements:
        return
    if tally.problems:
        terminal.print("nothing could be read")
        raise typer.Exit(FAILED)
    terminal.print("no structured data found")


class _Tally:
    """Shows problems as facts pass by, and counts."""

    def __init__(self) -> None:
        self.statements = 0
        self.problems = 0

    def watch(self, parts: Iterable[Facts]) -> Iterator[Facts]:
        for part in parts:
            for problem in part.all_problems():
                terminal.print(_sentence(problem))
                self.problems += not problem.mended
            self.statements += sum(len(extraction.statements) for extraction in part.extractions)
            yield part


def _syntaxes(names: list[str] | None) -> frozenset[Syntax] | None:
    if not names:
        return None
    known = {made.value: made for made in Syntax}
    for name in names:
        if name not in known:
            stop(f"unknown syntax {name!r}{nearest(name, known)}; known: {', '.join(known)}")
    return frozenset(known[name] for name in names)


def _source(source: str, *, base: str | None, media_type: str, allow: tuple[str, ...]) -> Source:
    if source == "-":
        return Source(url=base or "urn:motherlode:stdin", body=sys.stdin.buffer.read(), content_type=media_type)
    if source.startswith(("http://", "https://")):
        return asyncio.run(fetch_source(source, base=base, media_type=media_type, allow=allow))
    path = Path(source)
    return Source(url=base or path.resolve().as_uri(), content_type=media_type, path=path)


def _sentence(problem: Problem) -> str:
    where = "" if problem.line is None else f"{problem.line}:{problem.column or 1}: "
    what = problem.syntax.value if problem.syntax else "page"
    colour = "yellow" if problem.mended else "red"
    word = "mended" if problem.mended else "problem"
    return f"[{colour}]{word}[/] {where}[bold]{what}[/] {escape(problem.message)}"


def _lines(facts: Facts, page: str) -> Iterator[str]:
    seen: set[Statement] = set()
    for extraction in facts.extractions:
        for statement in extraction.statements:
            if statement not in seen:
                seen.add(statement)
                subject, predicate, object_, graph = statement
                yield f"{subject} {predicate} {object_} {graph or page} .\n"


def _write(parts: Iterator[Facts], url: str, form: FactsFormat) -> None:
    page = f"<{url}>"
    if form is FactsFormat.NQUADS:
        for part in parts:
            sys.stdout.write("".join(_lines(part, page)))
        return
    first = next(parts, Facts())
    text = "".join(_lines(first, page))
    used = {name: namespace for name, namespace in PREFIXES.items() if f"<{namespace}" in text}
    quads = (quad for part in chain([first], parts) for quad in _quads(part, page))
    if form is FactsFormat.TURTLE:
        ox.serialize((quad.triple for quad in quads), sys.stdout.buffer, ox.RdfFormat.TURTLE, prefixes=used)
    else:
        ox.serialize(quads, sys.stdout.buffer, _SERIALISERS[form], prefixes=used)
    if form is FactsFormat.JSONLD:
        sys.stdout.buffer.write(b"\n")


def _quads(facts: Facts, page: str) -> Iterator[ox.Quad]:
    return ox.parse("".join(_lines(facts, page)).encode(), ox.RdfFormat.N_QUADS, lenient=True)
