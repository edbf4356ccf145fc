"""The command `explain`: why a URL was fetched, is waiting, or was refused."""

from collections.abc import Iterator
from pathlib import Path
from shlex import quote
from typing import Annotated

import msgspec

from motherlode.cli.options import AsJson, CrawlDir, argument
from motherlode.cli.terminal import print_json, print_table, stop
from motherlode.crawler import CrawlFolder
from motherlode.crawler.config.values import format_count, format_moment, format_size
from motherlode.crawler.explain.explanation import (
    PREDICTED_EVENTS,
    UNKNOWN,
    UrlExplanation,
    UrlRecord,
    describe_statistics,
    explain_url,
)
from motherlode.crawler.explain.history import FetchHistory
from motherlode.model import Explanation, LinkSource
from motherlode.policies.motherlode.arm_key import describe_arm

_MAX_FEATURES = 12
_CHECK_RESULTS = {True: "passes", False: "STOPS", None: "not known yet"}


def explain(
    folder: CrawlDir,
    url: Annotated[str, argument("URL", "Any URL, known to the crawl or not.")],
    *,
    as_json: AsJson = False,
) -> None:
    """Explain why a URL was fetched, is waiting, or was refused.

    \b
    Examples:
      motherlode explain out https://example.org/about
      motherlode explain out https://example.org/about --json
      motherlode explain out/shards/0001 https://example.org/       one shard of a crawl

    The output has the page with the link, the features with their weights, the statistics of the arm, the rank in the
    queue, the response, and for an unknown URL the checks that would refuse it. More in docs/explain.md.
    """
    if url.startswith(("/", ".", "?", "#")):
        example = f"https://example.org{url if url[0] == '/' else '/'}"
        stop(f"{url} is only a part of a URL: give the whole URL, as in {example}")
    explanation = _name_owner(folder, explain_url(CrawlFolder(folder), url))
    if as_json:
        print_json(explanation.summary())
        return
    print_table(
        ("", ""), [row for row in _rows(explanation) if row[1]], title=f"{explanation.url}: {explanation.state}"
    )
    if explanation.explanation is not None:
        _print_policy(explanation.explanation)
    if explanation.nearest:
        print_table(("similar known URLs of the host", "state"), explanation.nearest)


def _name_owner(folder: Path, url: UrlExplanation) -> UrlExplanation:
    """Return the explanation of an unknown URL with a hint to the shard that owns it, if `folder` is another shard."""
    owner = find_owner(folder, url.url) if url.state == UNKNOWN else None
    if owner is None:
        return url
    command = f"motherlode explain {quote(str(owner))} {quote(url.url)}"
    because = f"its host belongs to another shard: `{command}` explains it"
    return msgspec.structs.replace(url, because=because)


def find_owner(folder: Path, url: str) -> Path | None:
    """Return the folder of the shard that owns the URL, or None if `folder` is that shard or no shard at all."""
    here = folder.resolve()
    whole = CrawlFolder(here.parent.parent)
    if here.parent.name != "shards" or not here.name.isdecimal() or not whole.has_crawl:
        return None
    from motherlode.cluster.partitioner import owner_of  # slow to import

    owner = owner_of(url, whole.read_job().shards)
    return None if owner == int(here.name) else folder.parent / f"{owner:04d}"


def _rows(url: UrlExplanation) -> Iterator[tuple[str, str]]:
    yield "why", url.because
    if url.found is not None:
        yield from _found(url.found)
    if url.state != UNKNOWN:
        yield "arm", describe_arm(url.arm)
    if url.score is not None:
        yield "score when found", f"{url.score:.6g}"
    if url.value_at_pick is not None:
        yield "value of its arm when picked", f"{url.value_at_pick:.4f}"
    if url.rank is not None:
        yield "rank in its arm", f"{url.rank.ahead_in_arm + 1:,} of {url.rank.waiting_in_arm:,}"
        arm = "low" if url.rank.arm is None else f"{url.rank.arm:,}"
        yield "rank of its arm", f"{arm} of {url.rank.arms:,} arms with {url.rank.waiting:,} waiting URLs"
    if url.retry_at is not None:
        yield "retried", f"{format_moment(url.retry_at)} or later"
    if url.outcome is not None:
        yield from _outcome(url.outcome)
    if url.redirects:
        yield "redirects", "\n→ ".join(f"{step.url} ({step.state})" for step in url.redirects)
    for check in url.checks:
        if check.passed is not True or url.state == UNKNOWN:
            yield f"check: {check.name}", _CHECK_RESULTS[check.passed] + (f": {check.detail}" if check.detail else "")


def _found(found: UrlRecord) -> Iterator[tuple[str, str]]:
    where = f" on {found.parent}" if found.parent else ""
    depth = f"{format_count(found.depth, 'link')} from a seed"
    if found.source == LinkSource.INDEX_QUERY.value:
        where, depth = "", "a solution of the job's query over the whole index"
    yield "found", f"as {found.source or 'link'}{where}, {depth}, as URL {found.order:,} of the crawl"
    yield "anchor", found.anchor
    yield "rel", found.rel
    yield "position", found.tag_path
    yield "predicate", found.predicate
    if len(found.path) > 1:
        yield "path", "\n→ ".join(found.path)


def _outcome(outcome: FetchHistory) -> Iterator[tuple[str, str]]:
    times = f"; {outcome.visits:,} requests in all" if outcome.visits > 1 else ""
    yield "requested", f"{format_moment(outcome.at)}, as request {outcome.number:,} of the crawl{times}"
    status = "" if outcome.status is None else f"{outcome.status}, "
    if outcome.failure:
        yield "response", f"{status}{outcome.failure}" + (f": {outcome.detail}" if outcome.detail else "")
        yield "then", outcome.treatment
        return
    yield "response", f"{status}{outcome.kind}, {format_size(outcome.size)} in {outcome.elapsed:.2f} s"
    yield "reward", f"{outcome.reward:.3f}, {'relevant' if outcome.relevant else 'not relevant'}"
    by_syntax = ", ".join(f"{name} {count:,}" for name, count in outcome.statements.items())
    yield "statements", f"{by_syntax or 'none'}; {outcome.quads:,} quads stored"
    yield "links", f"{outcome.links:,}, of which {outcome.new_links:,} were new"
    for problem in outcome.problems:
        yield "problem", problem
    yield "note", outcome.detail


def _print_policy(policy: Explanation) -> None:
    rows = [
        ("prior from its features", "" if policy.prior is None else f"{policy.prior:.4f}"),
        ("posterior with its arm's statistics", "" if policy.posterior is None else f"{policy.posterior:.4f}"),
        ("value of its arm now", "" if policy.value is None else f"{policy.value:.6g}"),
        ("statistics", describe_statistics(policy.record)),
        *(("note", note) for note in policy.notes),
    ]
    print_table(("the policy now", ""), [row for row in rows if row[1]])
    if policy.reasons:
        reasons = policy.reasons[:_MAX_FEATURES]
        shown = [(PREDICTED_EVENTS.get(one.about, one.about), one.name, f"{one.weight:+.3f}") for one in reasons]
        more = len(policy.reasons) - len(shown)
        title = "features, strongest first" + (f" ({more} weaker ones: --json)" if more > 0 else "")
        print_table(("predicts", "feature", "weight"), shown, title=title)
