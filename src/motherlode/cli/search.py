"""The command `search`: full-text search in the data of a crawl."""

from pathlib import Path
from shlex import quote
from typing import Annotated

from rich.padding import Padding
from rich.text import Text

from motherlode.cli.index import update_index
from motherlode.cli.options import AsJson, CrawlDir, argument, flag, open_crawl, option
from motherlode.cli.terminal import FAILED, folding_printer, print_json, replace_controls, say, stop
from motherlode.crawler import CrawlFolder, JobError
from motherlode.index.fulltext import Hit, Search, WordSearcher
from motherlode.index.snapshot import DamagedError, is_refused
from motherlode.model.terms import prefixed_name

_PROGRESS_PAGES = 1_000
_INDENT_COLUMNS = 3


def search(
    folder: CrawlDir,
    words: Annotated[list[str] | None, argument("WORDS...", "The words to search for.")] = None,
    *,
    limit: Annotated[int, option("N", "Maximum number of results.", min=1)] = 10,
    as_json: AsJson = False,
    type_: Annotated[str, option("IRI", "Only subjects of this type: schema:Recipe.", "--type")] = "",
    predicate: Annotated[str, option("IRI", "Only words of this predicate: schema:name.")] = "",
    host: Annotated[str, option("H", "Only pages of this host, or of a domain.")] = "",
    language: Annotated[str, option("L", "Only words in this language: de also finds de-CH.")] = "",
    rebuild: Annotated[bool, flag("--rebuild", "Rebuild the index of words from the quads.")] = False,
) -> None:
    """Search the data of a crawl by words.

    The results are ranked subjects, each with its name, type, text and page.

    \b
    Examples:
      motherlode search out pizza margherita
      motherlode search out '"san marzano" -canned' --type schema:Recipe --limit 20
      motherlode search out -- -canned tomato               a word that begins with - needs -- before it
      motherlode search out Naturkunde --language de --host example.org --json

    Case and accents are ignored, and a word also matches longer words that begin with it. "Words in quotes" match as a
    phrase, -word excludes. If no subject has all words, subjects with some of them are shown, then those with words
    that differ by one letter. Inside a SPARQL query, use SERVICE ml:search { ?s ml:matches "words" }: see
    docs/search.md.
    """
    crawl = open_crawl(folder)
    try:
        update_index(crawl)
        if rebuild:
            _rebuild(crawl)
        text = " ".join(words or ())
        if not text.strip():
            if rebuild:
                return
            stop(f"no words to search for: write motherlode search {folder} WORDS...")
        request = Search(words=text, limit=limit, type=type_, predicate=predicate, host=host, language=language)
        if request.problem:
            stop(f"--{request.problem}")
        hits = _search(crawl, request)
    except JobError as error:
        stop(str(error))
    except DamagedError as error:  # of the quad store, which `--rebuild` reads
        stop(str(error), code=FAILED)
    except FileNotFoundError:
        stop(f"{folder} has no index of words (words = false?): `motherlode search {folder} --rebuild` builds one")
    except (ValueError, OSError) as error:
        command = f"motherlode search {folder} --rebuild"
        stop(f"the index of words cannot be read: {error}. `{command}` builds it again", code=FAILED)
    if as_json:
        print_json({"words": request.words, "count": len(hits), "results": [hit.summary() for hit in hits]})
    else:
        _print_hits(hits, folder)


def _search(folder: CrawlFolder, request: Search) -> list[Hit]:
    """Search the index of words. A damaged one is built again first."""
    try:
        return WordSearcher(folder.words).search(request)
    except ValueError as error:
        if is_refused(error):
            raise
        say(f"the index of words in {folder.words} cannot be used ({error}): it is built again")
    _rebuild(folder)
    return WordSearcher(folder.words).search(request)


def _rebuild(folder: CrawlFolder) -> None:
    from motherlode.crawler.verification import rebuild_words

    folder.lock()
    try:
        pages = rebuild_words(folder, each=_say_progress)
    finally:
        folder.unlock()
    say(f"the words of {pages:,} pages are in {folder.words}")


def _say_progress(pages: int) -> None:
    if pages % _PROGRESS_PAGES == 0:
        say(f"{pages:,} pages")


def _print_hits(hits: list[Hit], folder: Path) -> None:
    console = folding_printer()
    if not hits:
        say("nothing was found: try fewer or other words, or no filters")
    for rank, hit in enumerate(hits, 1):
        head = Text(f"{rank}. ", style="dim")
        head.append(replace_controls(hit.label or hit.subject), style="bold")
        if hit.types:
            head.append(replace_controls(f"  {', '.join(map(prefixed_name, hit.types[:4]))}"), style="cyan")
        console.print(head)
        console.print(Text(f"   {replace_controls(hit.subject)}"), soft_wrap=True)
        text = Text(replace_controls(f"{prefixed_name(hit.predicate)}: "), style="dim")
        shown = Text(replace_controls(hit.snippet.text), style="not dim")
        for start, end in hit.snippet.marks:
            shown.stylize("bold yellow", start, end)
        console.print(Padding(text + shown, (0, 0, 0, _INDENT_COLUMNS), expand=False))
        console.print(Text(replace_controls(f"   on {hit.page}{hit.other_pages}"), style="dim"), soft_wrap=True)
    if hits:
        say(f"everything about one of them: motherlode query {quote(str(folder))} 'DESCRIBE <IRI>'")
