"""The command `extract`: the structured data of files, URLs or a stream."""

import asyncio
import json
import mimetypes
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import pyoxigraph as ox
import typer
from rich.text import Text

from motherlode.cli import is_closed
from motherlode.cli.options import Allow, argument, flag, option
from motherlode.cli.terminal import FAILED, replace_controls, say, stop
from motherlode.crawler import JobError
from motherlode.crawler.config.values import format_count, parse_size, parse_time
from motherlode.crawler.single_page import DocumentPart, InputLimits, InputSource, read_source
from motherlode.model import ContentKind, Problem, Statement, Syntax, TransformResult
from motherlode.model.terms import PREFIXES, iri
from motherlode.www.media_types import MEDIA, by_media_type, essence, fits

if TYPE_CHECKING:
    from motherlode.crawler.page_fetcher import PageFetcher

SYNTAXES = {syntax.value: syntax for syntax in Syntax}


Contexts = Literal["bundled", "fetch"]

ExtractFormat = Literal["nquads", "trig", "turtle", "jsonld", "items"]


def extract(
    sources: Annotated[list[str], argument("FILE|URL|-...", "Files, URLs, or - for stdin.")],
    *,
    base: Annotated[str | None, option("URL", "Base URL for relative references.")] = None,
    media_type: Annotated[str, option("MEDIA", "Media type, if name and content do not show it.", "--type")] = "",
    syntax: Annotated[
        list[str] | None, option("S", f"Only this syntax; may be given several times: {', '.join(SYNTAXES)}.")
    ] = None,
    form: Annotated[ExtractFormat, typer.Option("--format", help="Output format.")] = "nquads",
    allow: Allow = None,
    delay: Annotated[float, option("SECONDS", "Pause between two requests to one host.", min=0)] = 1.0,
    contexts: Annotated[
        Contexts, typer.Option(help="JSON-LD contexts: only those of Motherlode, or fetch others as well.")
    ] = "bundled",
    strict_jsonld: Annotated[bool, flag("--strict-jsonld", "Leave out IRIs of JSON-LD that need a repair.")] = False,
    max_bytes: Annotated[str, option("SIZE", "Maximum size of the input: 500kB, 10MB, 2GB.")] = "1GB",
    timeout: Annotated[str, option("T", "Maximum wait for the next bytes of stdin, a pipe or a device.")] = "60s",
) -> None:
    """Extract the structured data of pages or documents.

    Quads go to stdout, problems to stderr. The formats items and jsonld are indented on a terminal, and are one line
    per source elsewhere.

    \b
    Examples:
      motherlode extract page.html --base https://example.org/page --format turtle
      curl -s https://example.org/ | motherlode extract - --base https://example.org/ --syntax jsonld
      motherlode extract https://example.org/data.ttl
      motherlode extract things.jsonld --contexts fetch
      motherlode extract https://example.org/ --format items
      motherlode extract pages/*.html > all.nq

    A URL is fetched as in a crawl: robots.txt is fetched first and applied, also to redirects, and there is a delay
    between two requests to one host.

    The exit code is 0 even if some blocks were broken, 1 if nothing could be read or the input exceeds a limit, 2 after
    wrong usage. Of several sources, those that can be read are written, and the code is 1 if there was none. More in
    docs/extract.md.
    """
    wanted = _parse_syntaxes(syntax)
    _check_base(base, sources)
    _check_type(media_type)
    limits = _parse_limits(max_bytes, timeout)
    network = Network(tuple(allow or ()), delay, limits.max_bytes)
    get_contexts = network.contexts if contexts == "fetch" else None
    unread = 0
    try:
        for source in sources:
            counter = _Counter()
            try:
                document = open_source(source, base=base, media_type=media_type, network=network)
                parts = read_source(document, wanted, get_contexts, limits, strict_jsonld=strict_jsonld)
                _write(counter.watch(parts), document.url, form, wanted)
            except JobError as error:
                counter.failure = str(error)
            except MemoryError:
                counter.failure = f"{source} needs more memory than there is: a smaller --max-bytes limits the input"
            unread += not counter.report(syntax, is_alone=len(sources) == 1, may_fetch=contexts == "fetch")
    finally:
        network.close()
    if unread == len(sources):
        raise typer.Exit(FAILED)


_UNREADABLE = frozenset({ContentKind.EMPTY, ContentKind.BINARY})
"""Kinds of content without structured data."""


class _Counter:
    """Counts statements and problems, and prints the problems."""

    def __init__(self) -> None:
        self.statements = 0
        self.problems = 0
        self.kind = ContentKind.EMPTY
        self.misses_contexts = False
        self.failure = ""
        """Why the input could not be read to its end. Statements before that are still written as a whole document."""

    def watch(self, parts: Iterable[DocumentPart]) -> Iterator[DocumentPart]:
        """Yield all parts and count their results."""
        try:
            for part in parts:
                self._count(part)
                yield part
        except JobError as error:
            self.failure = str(error)

    def _count(self, part: DocumentPart) -> None:
        self.kind = part.kind
        for problem in part.result.all_problems():
            say(_format_problem(problem))
            self.problems += not problem.repaired
        self.misses_contexts |= any(extraction.wanted for extraction in part.result.extractions)
        self.statements += sum(len(extraction.statements) for extraction in part.result.extractions)

    def report(self, syntaxes: list[str] | None, *, is_alone: bool, may_fetch: bool) -> bool:
        """Print a message if a source has no data or cannot be read. Return whether it could be read.

        If it cannot be read and is the only source (`is_alone`), the command ends.
        """
        if self.failure:
            if is_alone:
                stop(self.failure, code=FAILED)
            say(f"error: {self.failure}")
            return False
        if self.misses_contexts and not may_fetch:
            say("hint: --contexts fetch loads the contexts that are missing")
        if self.statements:
            return True
        if self.problems or self.kind in _UNREADABLE:
            say(f"nothing could be read: the content is {self.kind.value}")
            return False
        within = f" in {' or '.join(syntaxes)}" if syntaxes else ""
        say(f"no structured data found{within}: the content is {self.kind.value}")
        return True


def _nearest(name: str, known: Iterable[str]) -> str:
    from motherlode.policies import nearest  # slow to import, and needed for errors only

    return nearest(name, known)


def _check_base(base: str | None, sources: list[str]) -> None:
    if base is not None and len(sources) > 1:
        stop("--base is the URL of one source: extract the sources one after the other, or give their URLs")
    if base is not None and iri(base) is None:
        stop(f"--base {base!r} is not a URL: give the whole URL of the page, as in https://example.org/page")


def _check_type(media_type: str) -> None:
    """Exit with an error for an unknown media type, because it would be ignored without a message."""
    if not media_type or by_media_type(media_type) is not None or _has_transformer(media_type):
        return
    known = [row.media_types[0] for row in MEDIA.values() if row.media_types]
    stop(f"--type {media_type!r} is not known{_nearest(media_type, known)}; known: {', '.join(known)}")


def _parse_limits(max_bytes: str, timeout: str) -> InputLimits:
    return InputLimits(
        max_bytes=int(_parse_amount("--max-bytes", max_bytes, parse_size)),
        timeout_seconds=_parse_amount("--timeout", timeout, parse_time),
    )


def _parse_amount(flag: str, text: str, parse: Callable[[str], float]) -> float:
    try:
        amount = parse(text)
    except JobError as error:
        stop(f"{flag}: {error}")
    except OverflowError:
        stop(f"{flag} {text[:30]}... is too large")
    if amount <= 0:
        stop(f"{flag} {text} must be greater than 0")
    return amount


def _type_by_name(path: Path) -> str:
    """Return the media type of a file name if a transformer is installed for it. Built-in readers need no type."""
    media_type = mimetypes.guess_type(path.name)[0] or ""
    return media_type if _has_transformer(media_type) else ""


def _has_transformer(media_type: str) -> bool:
    from motherlode.transform.options import installed_transformers

    return any(fits(point.name, essence(media_type)) for point in installed_transformers())


def _parse_syntaxes(names: list[str] | None) -> frozenset[Syntax] | None:
    if not names:
        return None
    for name in names:
        if name not in SYNTAXES:
            stop(f"unknown syntax {name!r}{_nearest(name, SYNTAXES)}; known: {', '.join(SYNTAXES)}")
    return frozenset(SYNTAXES[name] for name in names)


_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://")
_SILENT_WAIT_SECONDS = 3.0


class Network:
    """Fetches pages and contexts. The fetcher is created at first use, because most files need no network."""

    def __init__(self, allow: tuple[str, ...], delay: float, max_bytes: int) -> None:
        self._allow = allow
        self._delay = delay
        self._max_bytes = max_bytes
        self._runner = asyncio.Runner()

    def page(self, url: str, *, base: str | None, media_type: str) -> InputSource:
        return self._runner.run(self._fetcher.page(url, base=base, media_type=media_type))

    def contexts(self, urls: Sequence[str]) -> dict[str, bytes]:
        return self._runner.run(self._fetcher.contexts(urls))

    def close(self) -> None:
        if "_fetcher" in self.__dict__:
            self._runner.run(self._fetcher.close())
        self._runner.close()

    @cached_property
    def _fetcher(self) -> "PageFetcher":
        from motherlode.crawler.page_fetcher import PageFetcher

        try:
            return PageFetcher(allow=self._allow, delay=self._delay, tell_wait=_say_wait, max_bytes=self._max_bytes)
        except ValueError as error:
            stop(str(error))


def open_source(source: str, *, base: str | None, media_type: str, network: Network) -> InputSource:
    if source == "-":
        if is_closed("stdin"):
            stop("stdin is closed: name a file or a URL, or redirect a file to stdin", code=FAILED)
        return InputSource(url=base or "urn:motherlode:stdin", descriptor=sys.stdin.fileno(), content_type=media_type)
    scheme = _SCHEME.match(source)
    if scheme is not None and scheme[1].lower() in ("http", "https"):
        return network.page(source, base=base, media_type=media_type)
    path = Path(source)
    if scheme is not None and not path.exists():
        stop(f"{source}: only http and https URLs are fetched, and files are read by their path")
    url = base or Path(os.path.realpath(path)).as_uri()  # Path.resolve() raises an error for a loop of symbolic links
    return InputSource(url=url, content_type=media_type or _type_by_name(path), path=path)


def _say_wait(host: str, seconds: float) -> None:
    if seconds > _SILENT_WAIT_SECONDS:
        say(f"waiting {seconds:.0f} s before the next request to {host}")


def _format_problem(problem: Problem) -> Text:
    where = "" if problem.line is None else f"{problem.line}:{problem.column or 1}: "
    source = problem.syntax.value if problem.syntax else "page"
    colour = "yellow" if problem.repaired else "red"
    word = "repaired" if problem.repaired else "problem"
    return Text.assemble((word, colour), f" {where}", (source, "bold"), f" {replace_controls(problem.message)}")


def _nquads_lines(result: TransformResult, page: str) -> Iterator[str]:
    seen: set[Statement] = set()
    for extraction in result.extractions:
        for statement in extraction.statements:
            if statement not in seen:
                seen.add(statement)
                subject, predicate, object_, graph = statement
                yield f"{subject} {predicate} {object_} {graph or page} .\n"


def _write(parts: Iterator[DocumentPart], url: str, form: ExtractFormat, syntaxes: frozenset[Syntax] | None) -> None:
    page = f"<{url}>"
    if form == "items":
        _write_items(parts, syntaxes)
    elif form == "jsonld":
        _write_jsonld(part.result for part in parts)
    elif form == "nquads":
        for part in parts:
            sys.stdout.write("".join(_nquads_lines(part.result, page)))
    else:
        _write_rdf((part.result for part in parts), page, form)


def _write_rdf(results: Iterator[TransformResult], page: str, form: Literal["turtle", "trig"]) -> None:
    first = next(results, TransformResult())
    used = _used_prefixes(first, page)
    quads = (quad for result in chain([first], results) for quad in _parse_quads(result, page))
    if form == "turtle":
        ox.serialize((quad.triple for quad in quads), sys.stdout.buffer, ox.RdfFormat.TURTLE, prefixes=used)
    else:
        ox.serialize(quads, sys.stdout.buffer, ox.RdfFormat.TRIG, prefixes=used)


def _write_items(parts: Iterator[DocumentPart], syntaxes: frozenset[Syntax] | None) -> None:
    from motherlode.api.items import read_items  # needed for this format only

    found: dict[str, list[dict[str, Any]]] = {}
    for part in parts:
        for name, items in read_items(part.document, part.result, syntaxes).items():
            found.setdefault(name, []).extend(items)
    _print_json(found)


def _write_jsonld(results: Iterable[TransformResult]) -> None:
    from motherlode.api.jsonld import build_jsonld  # needed for this format only

    extractions = (extraction for result in results for extraction in result.extractions)
    document, omitted = build_jsonld(statement for extraction in extractions for statement in extraction.statements)
    _print_json(document)
    if omitted:
        what = f"{format_count(omitted, 'statement')} left out"
        reason = "JSON-LD 1.1 has no triple terms; use --format trig"
        say(Text.assemble(("problem", "red"), " ", ("jsonld", "bold"), f" {what}: {reason}"))
    if omitted and not document:
        raise typer.Exit(FAILED)


def _print_json(value: Any) -> None:
    """Write JSON, indented on a terminal, on one line elsewhere."""
    try:
        text = json.dumps(value, ensure_ascii=False, indent=2 if sys.stdout.isatty() else None)
    except RecursionError:
        stop("the data is nested too deep for JSON output: use --format nquads", code=FAILED)
    sys.stdout.buffer.write(text.encode(errors="replace") + b"\n")


def _used_prefixes(result: TransformResult, page: str) -> dict[str, str]:
    text = "".join(_nquads_lines(result, page))
    return {name: namespace for name, namespace in PREFIXES.items() if f"<{namespace}" in text}


def _parse_quads(result: TransformResult, page: str) -> Iterator[ox.Quad]:
    return ox.parse("".join(_nquads_lines(result, page)).encode(), ox.RdfFormat.N_QUADS, lenient=True)
