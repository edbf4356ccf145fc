"""What a link announces, before anything was learned: who looks for RDF documents tries `.ttl` first, as anybody would.

The table of media types knows what each extension stands for, and the target says whether such a document is a find.
Where pages of HTML are finds, too, nothing is gained by that (docs/policy.md); where they are not, as with `rdf`, links
that announce a find get a hunch. It is small, and is added to what features say: a few outcomes outweigh it. It is no
part of what was learned, so crawls that share what they know do not add it up.
"""

from __future__ import annotations

from collections.abc import Mapping

from motherlode.model import ContentKind, LinkSource, Syntax
from motherlode.policies.targets import Target
from motherlode.www.media_types import MEDIA

NO_HUNCHES: Mapping[str, float] = {}
_MANY = 1_000_000
"""Statements: enough for every target that wants a number of them."""


def target_priors(target: Target, log_odds: float) -> Mapping[str, float]:
    """Features of links that announce a find.

    >>> from motherlode.policies.targets import target_from
    >>> hunches_for(target_from("rdf"), 1.0)["ext .ttl"], hunches_for(target_from("any"), 1.0)
    (1.0, {})
    """
    if target.needs_statements or any(_takes(target, ContentKind.HTML, syntax) for syntax in Syntax):
        return NO_HUNCHES
    wanted = [
        media for media in MEDIA.values() if media.syntax is not None and _takes(target, media.kind, media.syntax)
    ]
    extensions = [f"ext .{extension}" for media in wanted for extension in media.extensions]
    announced = [f"by {source.value}:rdf" for source in LinkSource]
    return dict.fromkeys((*extensions, *announced), log_odds)


def _takes(target: Target, kind: ContentKind, syntax: Syntax) -> bool:
    return target.judge({syntax: _MANY}, kind, bytes)
