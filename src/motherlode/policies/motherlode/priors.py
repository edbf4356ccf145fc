"""Target priors: log-odds for links whose URL or type announces the target.

If the target is `rdf`, a link that ends with `.ttl` is a good link before anything was learned. The table of media
types says what each extension means, and the target says whether such a document is relevant. If HTML pages can be
relevant, too, such a prior gains nothing (docs/policy.md) and is not used. The prior is small and is added to the
log-odds from features, so a few outcomes outweigh it. It is not part of the learned state: crawls that share their
states do not add it up."""

from __future__ import annotations

from collections.abc import Mapping

from motherlode.model import ContentKind, LinkSource, Syntax
from motherlode.policies.targets import Target
from motherlode.www.media_types import MEDIA

NO_PRIORS: Mapping[str, float] = {}
_MANY_STATEMENTS = 1_000_000
"""Enough for every target that requires a number of statements."""


def target_priors(target: Target, log_odds: float) -> Mapping[str, float]:
    """Return `log_odds` for each feature of links that announce a relevant page.

    >>> from motherlode.policies.targets import target_from
    >>> target_priors(target_from("rdf"), 1.0)["ext .ttl"], target_priors(target_from("any"), 1.0)
    (1.0, {})
    """
    if target.needs_statements or any(_accepts(target, ContentKind.HTML, syntax) for syntax in Syntax):
        return NO_PRIORS
    relevant = [
        media for media in MEDIA.values() if media.syntax is not None and _accepts(target, media.kind, media.syntax)
    ]
    extensions = [f"ext .{extension}" for media in relevant for extension in media.extensions]
    sources = [f"by {source.value}:rdf" for source in LinkSource]
    return dict.fromkeys((*extensions, *sources), log_odds)


def _accepts(target: Target, kind: ContentKind, syntax: Syntax) -> bool:
    return target.judge({syntax: _MANY_STATEMENTS}, kind, bytes)
