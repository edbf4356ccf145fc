"""`filter`: say which addresses a crawl leaves out, while it runs."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from motherlode.cli.terminal import FAILED, print_json, print_table, say, stop
from motherlode.crawler import CrawlFolder
from motherlode.crawler.url_rules import add_filter, read_filters, remove_filter

_VALUE = "To add: a regular expression. To remove: the number of a filter, as list shows it."


class FilterAction(Enum):
    ADD = "add"
    LIST = "list"
    REMOVE = "remove"


def filter(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of a crawl, running or not.")],
    action: Annotated[FilterAction, typer.Argument(metavar="add|list|remove", help="What to do.")] = FilterAction.LIST,
    value: Annotated[str | None, typer.Argument(metavar="REGEX|N", help=_VALUE)] = None,
    *,
    allow: Annotated[
        bool, typer.Option("--allow/--deny", help="Addresses must match one that allows, and none that denies.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="List as JSON.")] = False,
) -> None:
    """Say which addresses a crawl leaves out, while it runs.

    Regular expressions are added, listed and removed, which addresses must match, or must not.

    \b
    Examples:
      motherlode filter out add '/(login|cart)/'          from now on such addresses are left out
      motherlode filter out add --allow '^https?://[^/]*[.]example[.]org/'
      motherlode filter out                               what is there, with numbers
      motherlode filter out remove 1

    A running crawl takes a change up at its next checkpoint, within one to five seconds. An expression is looked for
    anywhere in the address; ^ and $ bind it to the ends. It applies to links that are found from then on and to URLs
    that wait already; what it refuses is counted by `motherlode stats`. Look-around and back-references are not
    supported, so that no expression can be slow. More in docs/links.md.
    """
    place = CrawlFolder(folder)
    path = place.filters
    try:
        place.require()
        if action is FilterAction.LIST:
            _list(place, as_json=as_json)
        elif value is None:
            stop("name a regular expression to add" if action is FilterAction.ADD else "name the number of a filter")
        elif action is FilterAction.ADD:
            made = add_filter(path, value, deny=not allow)
            say(f"filter {made.number} {'allows' if allow else 'denies'} {made.pattern}")
        elif not value.isascii() or not value.isdigit():
            stop(f"{value!r} is not the number of a filter: `motherlode filter {folder} list` shows the numbers")
        else:
            gone = remove_filter(path, int(value))
            say(f"filter {gone.number} removed: {gone.pattern}")
    except ValueError as error:  # a JobError is one, too
        stop(str(error))
    except OSError as error:
        stop(f"{path} cannot be written: {error.strerror}", code=FAILED)


def _list(place: CrawlFolder, *, as_json: bool) -> None:
    found = read_filters(place.filters)
    if as_json:
        kinds = {True: "deny", False: "allow"}
        print_json([{"number": one.number, "kind": kinds[one.deny], "pattern": one.pattern} for one in found])
    elif found:
        rows = [(str(one.number), "deny" if one.deny else "allow", one.pattern) for one in found]
        print_table(("number", "kind", "pattern"), rows)
    else:
        say(f"no filters; `motherlode filter {place.path} add REGEX` adds one")
