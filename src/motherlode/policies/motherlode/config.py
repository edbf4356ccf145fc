"""The parameters of the policy, and its target priors.

The parameters were chosen on some webs and checked on others: docs/policy.md.

*Target priors* are log-odds for links whose URL or type announces the target. If the target is `rdf`, a link that ends
with `.ttl` is a good link before anything was learned. The table of media types says what each extension means, and the
target says whether such a document is relevant. If HTML pages can be relevant, too, such a prior gains nothing
(docs/policy.md) and is not used. The prior is small and is added to the log-odds from features, so a few outcomes
outweigh it. It is not part of the learned state: crawls that share their states do not add it up.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from motherlode.model import ContentKind, LinkSource, Syntax
from motherlode.policies.motherlode.arm_key import WORDS_MARK
from motherlode.policies.motherlode.target_words import words_of
from motherlode.policies.targets import Target
from motherlode.www.media_types import MEDIA

_MANY_STATEMENTS = 1_000_000
"""A number of statements that satisfies every target with a minimum number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyConfig:
    """Parameters of the policy. The defaults are those of `motherlode`; the switches are for ablation experiments.

    A *prior strength* is a number of tries: an estimate from features counts as much as that many observed tries.
    """

    horizon: int = 20
    """Number of links by which a first relevant page of an unseen host would be followed up."""
    prior_tries: float = 1.0
    """Prior strength wherever the outcomes of a larger group are the prior of a smaller one: of features for base arms,
    of base arms for their hub arms, of the family for the links of an arm, and of all hosts for the share of linked
    hosts that respond."""
    hub_min_links: int = 5
    """Number of new links of one arm on one page that make a hub arm. A host with fewer waiting links may have more
    links than are known: its home page may be only a gateway page. 0 for no hub arms, and for no such hosts."""
    host_prior_tries: float = 3.0
    """How much a host counts beside its arms, in tries: the prior strength of the features for the lift of a host, and
    the most tries of a host that count as tries of each of its arms. 0 for neither. Up to this number, every outcome
    updates the values of all arms of the host."""
    silent_host_prior_tries: float = 0.2
    """Prior strength of a host that never responded. It is low because the responses of other hosts say little about
    this one."""
    discount: float = 0.6
    """Factor, at most 1, on the value of linked pages. Not applied to targets of redirects that were relevant."""
    retention: float = 0.9
    """Factor on the weight of earlier pages of an arm for each further page."""
    response_retention: float = 0.65
    """Factor on the counts of earlier responses and failures of an arm at each further one. It is lower than
    `retention` because dead links come in series."""
    general_learning_rate: float = 0.07
    """FTRL's α for features that are the same on every host."""
    host_learning_rate: float = 0.5
    """FTRL's α for features of one host."""
    beta: float = 0.3
    """FTRL's β."""
    response_bias: float = 1.5
    """Log-odds that a request returns a page, and that a linked host responds, before anything was learned."""
    relevance_bias: float = -1.0
    """Log-odds that a page is relevant, before anything was learned."""
    target_prior: float = 3.0
    """Log-odds added for links whose URL or type announces the target; see `target_priors`."""
    word_prior: float = 1.0
    """Log-odds added for links with words of the target (`target_words`); 0 to ignore words."""
    key_steps: int = 2
    """Number of first folders of the path, and of last steps of the tag path, in an arm key."""
    learns_unseen_hosts: bool = True
    """Whether the share of linked hosts that respond is learned."""
    counts_links_of_silent_hosts: bool = True
    """Whether the value of a host that never responded grows with the number of its waiting links."""
    separate_responses: bool = True
    """Whether response and relevance are predicted separately. If not, a failed request is an irrelevant page."""
    seeds_are_gateways: bool = True
    """Whether seeds that are not home pages are valued as gateways."""
    values_information: bool = True
    """Whether the value of an arm includes the information of a relevant page about the other links of the arm."""
    values_links: bool = True
    """Whether the value of an arm includes the pages that its pages link to."""
    predicts_redirects: bool = True
    """Whether the targets of redirects that a rule predicts are requested at once."""
    learns_features: bool = True
    """Whether features are learned."""


def target_priors(target: Target, config: PolicyConfig) -> Mapping[str, float]:
    """Return the log-odds that are added for each feature of links that announce a relevant page."""
    if words_of(target):
        sources = [f"by {source.value}{WORDS_MARK}" for source in LinkSource]
        return dict.fromkeys((*sources, *(f"{source}@" for source in sources)), config.word_prior)
    if target.needs_statements or any(_accepts(target, ContentKind.HTML, syntax) for syntax in Syntax):
        return {}
    relevant = [
        media for media in MEDIA.values() if media.syntax is not None and _accepts(target, media.kind, media.syntax)
    ]
    extensions = [f"ext .{extension}" for media in relevant for extension in media.extensions]
    sources = [f"by {source.value}:rdf" for source in LinkSource]
    return dict.fromkeys((*extensions, *sources), config.target_prior)


def _accepts(target: Target, kind: ContentKind, syntax: Syntax) -> bool:
    return target.judge({syntax: _MANY_STATEMENTS}, kind, bytes)
