"""The command `compact`: drop old versions of pages from the log of a crawl."""

from typing import TYPE_CHECKING

import msgspec

from motherlode.cli.options import AsJson, IdleCrawlDir, open_crawl
from motherlode.cli.terminal import print_json, say
from motherlode.crawler import CrawlFolder
from motherlode.crawler.config.values import format_count

if TYPE_CHECKING:
    from motherlode.index.compaction import Compaction


def compact(folder: IdleCrawlDir, *, as_json: AsJson = False) -> None:
    """Drop old versions of pages from the log of a crawl.

    The log keeps every version of a page that was fetched again, for `query --at` and `export --at`. This command keeps
    only the newest version of each page. The store, the words and `changes` stay as they are. The crawl must not be
    running. More in docs/index-later.md.

    \b
    Examples:
      motherlode compact out
      motherlode compact out --json
    """
    from motherlode.cli.crawl_run import stop_after_failure

    crawl = open_crawl(folder)
    try:
        counts = _compact(crawl)
    except (OSError, RuntimeError) as error:
        stop_after_failure(error, crawl, command="compact")
    if as_json:
        print_json(msgspec.to_builtins(counts))
        return
    say(
        f"{counts.dropped:,} of {format_count(counts.versions, 'version')} of pages dropped; "
        f"the log has {counts.bytes_after:,} bytes instead of {counts.bytes_before:,}"
    )


def _compact(crawl: CrawlFolder) -> "Compaction":
    from motherlode.crawler.index_later import compact as compact_crawl

    crawl.lock()
    try:
        return compact_crawl(crawl)
    finally:
        crawl.unlock()
