"""`explain`: why a URL was fetched, waits, or was refused."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from shlex import quote
from typing import Annotated

import msgspec
import typer

from motherlode.cli.terminal import FAILED, moment, print_json, print_table, stop
from motherlode.crawler import CrawlFolder, JobError
from motherlode.crawler.config.units import format_size
from motherlode.crawler.explain.explanation import UNKNOWN, UrlExplanation
from motherlode.crawler.explain.explanation import explain as explained
from motherlode.crawler.explain.history import FetchHistory
from motherlode.model import Explanation

_REASONS = 12
"""Features that a person is shown."""
_MARKS = {True: "passes", False: "STOPS", None: "open"}


def explain(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of a crawl, running or not.")],
    url: Annotated[str, typer.Argument(metavar="URL", help="Any URL, known to the crawl or not.")],
    *,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
) -> None:
    """Tell why a URL was fetched, waits, or was refused.

    \b
    Examples:
      motherlode explain out https://example.org/about
      motherlode explain out https://example.org/about --json
      motherlode explain out/shards/0001 https://example.org/       one shard of a crawl

    Told are where it was found, its features with their weights, the record of its arm, its place in the queue, what
    came of it, and for a URL that was never met the checks that would have stopped it. More in docs/explain.md.
    """
    if url.startswith(("/", ".", "?", "#")):
        stop(f"{url} is a part of a URL: give the whole, as in https://example.org{url if url[0] == '/' else '/'}")
    try:
        told = _here_or_there(folder, explained(CrawlFolder(folder), url))
    except JobError as error:
        stop(str(error))
    except OSError as error:
        stop(str(error), code=FAILED)
    if as_json:
        print_json(told.summary())
        return
    print_table(("", ""), list(_rows(told)), title=f"{told.url}: {told.state}")
    if told.explanation is not None:
        _show_policy(told.explanation)
    if told.nearest:
        print_table(("known URLs of its host that look like it", "state"), told.nearest)


def _here_or_there(folder: Path, told: UrlExplanation) -> UrlExplanation:
    """A shard that never met a URL may not be the one that would."""
    if told.state != UNKNOWN or folder.resolve().parent.name != "shards":
        return told
    from motherlode.cli.shards import owner_elsewhere  # all others need not wait for it

    owner = owner_elsewhere(folder, told.url)
    if owner is None:
        return told
    because = f"its host belongs to another shard: `motherlode explain {quote(str(owner))} {quote(told.url)}` asks that"
    return msgspec.structs.replace(told, because=because)


def _rows(told: UrlExplanation) -> Iterator[tuple[str, str]]:
    yield "why", told.because
    if told.found is not None:
        yield from _found(told)
    if told.state != UNKNOWN:
        yield "arm", told.arm.replace("\t", " ")
    if told.score is not None:
        yield "score when found", f"{told.score:.6g}"
    if told.value_at_pick is not None:
        yield "arm's value at the pick", f"{told.value_at_pick:.4f}"
    if told.rank is not None:
        yield "rank in its arm", f"{told.rank.ahead_in_arm + 1:,} of {told.rank.waiting_in_arm:,}"
        arm = "far behind" if told.rank.arm is None else f"{told.rank.arm:,}"
        yield "rank of its arm", f"{arm} of {told.rank.arms:,} arms, in which {told.rank.waiting:,} URLs wait"
    if told.retry_at is not None:
        yield "tried again", f"{moment(told.retry_at)} or later"
    if told.outcome is not None:
        yield from _outcome(told.outcome)
    if told.redirects:
        yield "redirects", "\n→ ".join(f"{step.url} ({step.state})" for step in told.redirects)
    for check in told.checks:
        if check.passed is not True or told.state == UNKNOWN:
            yield f"check: {check.name}", _MARKS[check.passed] + (f": {check.detail}" if check.detail else "")


def _found(told: UrlExplanation) -> Iterator[tuple[str, str]]:
    found = told.found
    if found is None:
        return
    where = f" on {found.parent}" if found.parent else ""
    yield "found", f"as {found.source}{where}, {_links(found.depth)} from a seed, as URL {found.order:,} of the crawl"
    for name, text in (
        ("anchor", found.anchor),
        ("rel", found.rel),
        ("place", found.tag_path),
        ("predicate", found.predicate),
    ):
        if text:
            yield name, text
    if len(found.path) > 1:
        yield "path", "\n→ ".join(found.path)


def _outcome(outcome: FetchHistory) -> Iterator[tuple[str, str]]:
    times = f"; {outcome.visits:,} requests for it in all" if outcome.visits > 1 else ""
    yield "asked", f"{moment(outcome.at)}, as request {outcome.number:,} of the crawl{times}"
    status = "" if outcome.status is None else f"{outcome.status}, "
    if outcome.failure:
        yield (
            "answer",
            f"{status}{outcome.failure}: {outcome.detail}" if outcome.detail else f"{status}{outcome.failure}",
        )
        yield "then", outcome.treatment
        return
    yield "answer", f"{status}{outcome.kind}, {format_size(outcome.size)} in {outcome.elapsed:.2f} s"
    yield "reward", f"{outcome.reward:.3f}, {'a find' if outcome.relevant else 'no find'}"
    by_syntax = ", ".join(f"{name} {count:,}" for name, count in outcome.statements.items())
    yield "statements", f"{by_syntax or 'none'}; {outcome.quads:,} quads stored"
    yield "links", f"{outcome.links:,}, of which {outcome.new_links:,} were new"
    for problem in outcome.problems:
        yield "problem", problem
    if outcome.detail:
        yield "note", outcome.detail


def _links(count: int) -> str:
    return "1 link" if count == 1 else f"{count:,} links"


def _show_policy(said: Explanation) -> None:
    rows = [
        ("how it decides", said.says),
        ("by its features alone", "" if said.prior is None else f"{said.prior:.4f}"),
        ("with its arm's record", "" if said.posterior is None else f"{said.posterior:.4f}"),
        ("value of its arm now", "" if said.value is None else f"{said.value:.6g}"),
        ("record", ", ".join(f"{name.replace('_', ' ')} {value:g}" for name, value in said.record.items())),
        *(("note", note) for note in said.notes),
    ]
    print_table(("what the policy says now", ""), [row for row in rows if row[1]])
    if said.reasons:
        shown = [(one.about, one.name, f"{one.weight:+.3f}") for one in said.reasons[:_REASONS]]
        more = len(said.reasons) - len(shown)
        title = "features, strongest first" + (f" ({more} weaker ones: --json)" if more > 0 else "")
        print_table(("question", "feature", "weight"), shown, title=title)
