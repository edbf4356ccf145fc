"""A visit: one turn of the crawl, as everyone who watches it sees it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from motherlode.model.facts import Problem
from motherlode.model.pages import FailureKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """What came of one URL. Plain data: command line, report, log and simulator only read it."""

    number: int
    """Requests for pages so far, this one included; failures count too."""
    url: str
    host: str
    arm: str = ""
    depth: int = 0
    """Links between the nearest seed and this page."""
    parent_url: str = ""
    score: float = 0.0
    at: float = 0.0
    """Seconds since the epoch."""
    failure: FailureKind | None = None
    detail: str = ""
    status: int | None = None
    kind: str = ""
    """The value of the page's ContentKind."""
    media_type: str = ""
    size: int = 0
    """Bytes of the body that were read."""
    elapsed: float = 0.0
    relevant: bool = False
    reward: float = 0.0
    counts: Mapping[str, int] = field(default_factory=dict)
    """Distinct statements by the name of their syntax."""
    quads: int = 0
    """Distinct statements that were stored."""
    links: int = 0
    new_links: int = 0
    """Links that the frontier had not known."""
    problems: tuple[Problem, ...] = ()
    content_hash: str = ""
    location: str = ""
    """Where a redirect led."""
    etag: str = ""
    last_modified: str = ""
    """With the etag: what a later request may ask the server to compare."""
    directives: str = ""
    """What its header asked of crawlers, as `Asked` has it in words."""
    ends_at: float | None = None
    """When the page, in its head, asks not to be kept any longer."""
    refresh: str = ""
    """For a page that was known: found unchanged, changed or gone, or that the look failed; empty for a first visit."""
    relevant_before: bool = False
    quads_before: int = 0
    counts_before: Mapping[str, int] = field(default_factory=dict)
    """With the two above: what a page that was known had given, and no longer gives in that way."""
    value: float | None = None
    """What the policy thought that the arm was worth when it was picked; None where it does not say."""
