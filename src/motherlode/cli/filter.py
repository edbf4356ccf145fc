"""The command `filter`: change which URLs a crawl fetches, also while it runs."""

from typing import Annotated, Literal

import typer

from motherlode.cli.options import AsJson, CrawlDir, argument, open_crawl
from motherlode.cli.terminal import FAILED, print_json, print_table, say, stop
from motherlode.crawler import CrawlFolder
from motherlode.crawler.url_rules import add_filter, read_filters, remove_filter

_VALUE_HELP = "To add: a regular expression. To remove: the number of a filter, which list shows."


FilterAction = Literal["add", "list", "remove"]


def filter(
    folder: CrawlDir,
    action: Annotated[FilterAction, argument("add|list|remove", "What to do.")] = "list",
    value: Annotated[str | None, argument("REGEX|N", _VALUE_HELP)] = None,
    *,
    allow: Annotated[
        bool,
        typer.Option(
            "--allow/--deny", help="A URL must match an allowing filter, if there is any, and no denying one."
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Change which URLs a crawl fetches, also while it runs.

    A filter is a regular expression that URLs must match, or must not match.

    \b
    Examples:
      motherlode filter out add '/(login|cart)/'          such URLs are refused from now on
      motherlode filter out add --allow '^https?://[^/]*[.]example[.]org/'
      motherlode filter out                               lists the filters with their numbers
      motherlode filter out remove 1

    A running crawl reads changes at its next checkpoint, within one to five seconds. An expression may match anywhere
    in the URL; ^ and $ match its ends. Filters apply to new links and to waiting URLs. `motherlode stats` counts the
    refused URLs. Look-around and back-references are not supported, because they can be slow. More in docs/links.md.
    """
    crawl = open_crawl(folder)
    path = crawl.filters
    try:
        if action == "list":
            _list(crawl, as_json=as_json)
        elif value is None:
            stop("give a regular expression to add" if action == "add" else "give the number of a filter")
        elif action == "add":
            added = add_filter(path, value, deny=not allow)
            say(f"filter {added.number} {'allows' if allow else 'denies'} {added.pattern}")
        elif not value.isascii() or not value.isdigit():
            stop(f"{value!r} is not the number of a filter: `motherlode filter {folder} list` shows the numbers")
        else:
            removed = remove_filter(path, int(value))
            say(f"filter {removed.number} removed: {removed.pattern}")
    except ValueError as error:
        stop(str(error))
    except OSError as error:
        stop(f"{path} cannot be written: {error.strerror}", code=FAILED)


def _list(folder: CrawlFolder, *, as_json: bool) -> None:
    columns = ("number", "kind", "pattern")
    rows = [(one.number, "deny" if one.deny else "allow", one.pattern) for one in read_filters(folder.filters)]
    if as_json:
        print_json([dict(zip(columns, row, strict=True)) for row in rows])
    elif rows:
        print_table(columns, [(str(number), kind, pattern) for number, kind, pattern in rows])
    else:
        say(f"no filters; `motherlode filter {folder.path} add REGEX` adds one")
