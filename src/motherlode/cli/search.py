"""`search`: words lead to what a crawl has found."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import Annotated

import typer
from rich.padding import Padding
from rich.text import Text

from motherlode.cli.index import up_to_date
from motherlode.cli.terminal import FAILED, harmless, print_json, say, stop, unfolded
from motherlode.crawler import CrawlFolder, JobError
from motherlode.index.fulltext import Hit, Search, WordIndex, WordSearcher
from motherlode.index.snapshot import DamagedError
from motherlode.model.terms import PREFIXES

_REBUILD_SHOWN = 1_000
_INDENT = 3
"""Columns by which what is told of a find stands in."""


def search(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of a crawl.")],
    words: Annotated[list[str] | None, typer.Argument(metavar="WORDS...", help="What to look for.")] = None,
    *,
    limit: Annotated[int, typer.Option(metavar="N", min=1, help="Most results.")] = 10,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object with all results.")] = False,
    type_: Annotated[
        str, typer.Option("--type", metavar="IRI", help="Only subjects of this type: schema:Recipe.")
    ] = "",
    predicate: Annotated[str, typer.Option(metavar="IRI", help="Only words of this predicate: schema:name.")] = "",
    host: Annotated[str, typer.Option(metavar="H", help="Only pages of this host, or of a domain.")] = "",
    language: Annotated[str, typer.Option(metavar="L", help="Only words in this language: de finds de-CH, too.")] = "",
    rebuild: Annotated[bool, typer.Option("--rebuild", help="Make the index of words anew from the quads.")] = False,
) -> None:
    """Find what the crawl knows by words.

    Subjects are told, ranked, each with its name, type, text and page.

    \b
    Examples:
      motherlode search out pizza margherita
      motherlode search out '"san marzano" -canned' --type schema:Recipe --limit 20
      motherlode search out -- -canned tomato               a minus in front needs -- before it
      motherlode search out Naturkunde --language de --host example.org --json

    Words count without case and accents, and as beginnings of longer words. "Words in quotes" stand together,
    -word must be absent. Where no subject has all words, those with some of them are shown. Inside a SPARQL query,
    use SERVICE ml:search { ?s ml:matches "words" }: see docs/search.md.
    """
    place = CrawlFolder(folder)
    try:
        place.require()
        up_to_date(place)
        if rebuild:
            _rebuild(place)
        asked_for = " ".join(words or ())
        if not asked_for.strip():
            if rebuild:
                return
            stop(f"no words to look for: motherlode search {folder} WORDS...")
        asked = Search(words=asked_for, limit=limit, type=type_, predicate=predicate, host=host, language=language)
        if asked.problem:
            stop(f"--{asked.problem}")
        hits = WordSearcher(place.words).search(asked)
    except JobError as error:
        stop(str(error))
    except DamagedError as error:  # the quads, of which the words are made
        stop(str(error), code=FAILED)
    except FileNotFoundError:
        stop(f"{folder} has no index of words (words = false?): `motherlode search {folder} --rebuild` makes one")
    except (ValueError, OSError) as error:
        command = f"motherlode search {folder} --rebuild"
        stop(f"the index of words cannot be read: {error}. `{command}` makes it anew", code=FAILED)
    if as_json:
        print_json({"words": asked.words, "count": len(hits), "results": [hit.summary() for hit in hits]})
    else:
        _print(hits, folder)


def _rebuild(place: CrawlFolder) -> None:
    from motherlode.index import QuadStore

    place.lock()
    try:
        index = WordIndex(place.words)
        pages = index.rebuild(QuadStore(place.store, read_only=True), each=_tell)
        index.close()
    finally:
        place.unlock()
    say(f"the words of {pages:,} pages are in {place.words}")


def _tell(pages: int) -> None:
    if pages % _REBUILD_SHOWN == 0:
        say(f"{pages:,} pages")


def _print(hits: list[Hit], folder: Path) -> None:
    console = unfolded()
    if not hits:
        say("nothing was found; fewer or other words, or no filters, may find more")
    for rank, hit in enumerate(hits, 1):
        head = Text(f"{rank}. ", style="dim")
        head.append(harmless(hit.label or hit.subject), style="bold")
        if hit.types:
            head.append(harmless(f"  {', '.join(map(short, hit.types[:4]))}"), style="cyan")
        console.print(head)
        console.print(Text(f"   {harmless(hit.subject)}"), soft_wrap=True)
        text = Text(harmless(f"{short(hit.predicate)}: "), style="dim")
        shown = Text(harmless(hit.snippet.text), style="not dim")
        for start, end in hit.snippet.marks:
            shown.stylize("bold yellow", start, end)
        console.print(Padding(text + shown, (0, 0, 0, _INDENT), expand=False))
        console.print(Text(harmless(f"   on {hit.page}{hit.other_pages}"), style="dim"), soft_wrap=True)
    if hits:
        say(f"ask for all about one: motherlode query {quote(str(folder))} 'DESCRIBE <IRI>'")


def short(iri: str) -> str:
    """An IRI with a common prefix, where there is one.

    >>> short("http://schema.org/name"), short("urn:x")
    ('schema:name', 'urn:x')
    """
    for prefix, start in PREFIXES.items():
        if iri.startswith(start) and len(iri) > len(start):
            return f"{prefix}:{iri[len(start) :]}"
    return iri
