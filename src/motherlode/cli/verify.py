"""The command `verify`: check that the files of a crawl are complete and agree with each other."""

from shlex import quote
from typing import Annotated

import typer

from motherlode.cli.options import AsJson, IdleCrawlDir, flag, open_crawl
from motherlode.cli.terminal import FAILED, print_json, print_table, say
from motherlode.crawler import CrawlFolder, JobError
from motherlode.crawler.config.values import format_count
from motherlode.crawler.verification import FolderProblem, Part, Verification
from motherlode.crawler.verification import repair as repair_findings
from motherlode.crawler.verification import verify as verify_folder


def verify(
    folder: IdleCrawlDir,
    *,
    repair: Annotated[
        bool,
        flag(
            "--repair",
            "Build a damaged store or index of words again from the log, queue pages again that are lost, and cut "
            "incomplete WARC records off.",
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Check that a crawl has lost nothing.

    Every page that the frontier counts as fetched must be in the store, with the hash of what was fetched, and in the
    index of words. Every quad must belong to a page. Checksums of the log, the store and the WARC files are compared.
    The exit code is 0 if all is right and 1 if problems are left. The crawl must not be running: see docs/verify.md.

    \b
    Examples:
      motherlode verify out
      motherlode verify out --repair && motherlode resume out
      motherlode verify out --json
    """
    crawl = open_crawl(folder)
    found = _verify(crawl, repair=repair)
    if as_json:
        print_json(found.summary())
    else:
        _print_result(found, crawl)
    if not found.is_good:
        raise typer.Exit(FAILED)


def _verify(crawl: CrawlFolder, *, repair: bool) -> Verification:
    """Verify a crawl, and repair it if wanted. JobError if the crawl is running."""
    if not repair:
        if crawl.is_in_use:
            raise JobError(f"a crawl is running in {crawl.path}: verify it when it has ended")
        return verify_folder(crawl)
    crawl.lock()
    try:
        found = verify_folder(crawl)
        repair_findings(crawl, found)
    finally:
        crawl.unlock()
    return found


def _print_result(found: Verification, crawl: CrawlFolder) -> None:
    figures = {
        "pages fetched": found.pages,
        "of them not indexed yet": found.unindexed_pages,
        "pages in the index of words checked": found.stored_pages,
        "statements": found.statements,
        "WARC records": found.warc_records,
    }
    print_table(("", ""), [(name, f"{count:,}") for name, count in figures.items() if count or name == "pages fetched"])
    for finding in found.findings:
        _print_finding(finding)
    if not found.findings:
        say("all right: nothing is lost")
    elif any(one.repair and one.part in (Part.PAGES, Part.LOG) for one in found.findings):
        say(f"`motherlode resume {quote(str(crawl.path))}` fetches the queued pages")
    left = sum(not one.repair for one in found.findings)
    if left:
        say(f"{format_count(left, 'problem')} left")


def _print_finding(finding: FolderProblem) -> None:
    say(f"{finding.part}: {finding.problem}")
    for example in finding.examples:
        say(f"  {example}")
    if finding.count > len(finding.examples) > 0:
        say(f"  and {finding.count - len(finding.examples):,} more")
    say(f"  repaired: {finding.repair}" if finding.repair else f"  what to do: {finding.advice}")
