"""The command `changes`: print how pages changed between two visits, as an RDF patch."""

import sys
from typing import Annotated

from motherlode.cli.index import update_index
from motherlode.cli.options import CrawlDir, open_crawl, option, parse_moment
from motherlode.cli.terminal import say
from motherlode.crawler.config.values import format_count
from motherlode.index.rdf_patch import changes_path, read_changes


def changes(
    folder: CrawlDir,
    *,
    since: Annotated[str, option("T", "Only from this time on: 2026-01-31 or 2026-01-31T12:00:00Z.")] = "",
) -> None:
    """Print the changes of pages as an RDF patch.

    These are the changes that `motherlode crawl --refresh` found. More in docs/refresh.md.

    \b
    Each changed page is one transaction, with the page and the time as headers:
      H page <http://example.org/> .
      H time "2026-01-31T12:00:00.000+00:00"^^<http://www.w3.org/2001/XMLSchema#dateTime> .
      TX .
      D <http://example.org/#a> <http://schema.org/price> "10" <http://example.org/> .
      A <http://example.org/#a> <http://schema.org/price> "12" <http://example.org/> .
      TC .

    \b
    Examples:
      motherlode changes out
      motherlode changes out --since 2026-01-31
    """
    crawl = open_crawl(folder)
    begin = parse_moment(since, "--since") if since else None
    update_index(crawl)
    count = 0
    for change in read_changes(changes_path(crawl.store), begin):
        sys.stdout.writelines(change.lines)
        count += 1
    say(f"{format_count(count, 'page')} changed")
