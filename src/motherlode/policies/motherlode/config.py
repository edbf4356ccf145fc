"""The few numbers of the policy, each with its meaning. Chosen on some webs, checked on others: docs/policy.md."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyConfig:
    """Defaults are what `motherlode` is; the switches are for the table of what each part adds."""

    horizon: int = 20
    """Links that a first find would be followed up with: how far ahead a try is weighed."""
    unseen: int = 2
    """A host that was tried so often at most is still thought to hold more than is known of it, if it looks like a
    door."""
    door_links: int = 6
    """Links that wait, from which on a home page was more than a door."""
    prior_tries: float = 1.0
    """Tries that the learner's word about an arm counts for."""
    seed_tries: float = 3.0
    """The same for seeds inside a host: they have less in common than links that look alike."""
    list_tries: float = 1.0
    """Tries that an arm's record counts for, when it is asked about those of its links that stand on one page."""
    list_links: int = 5
    """New links of one arm that make a page a list; 0 for no lists."""
    host_pages: float = 10.0
    """Pages that the learner's word about a host counts for; 0 where hosts have no record of finds."""
    silent_tries: float = 0.2
    """Tries that the learner's word counts for on a host that never answered: what others did says little for it."""
    stranger_tries: float = 1.0
    stranger_answers: float = 0.8
    """What is thought of hosts that other hosts link to, before any of them was tried: tries, and the share of hosts
    that answer; 0 tries where nothing is learned about them."""
    host_tries: float = 3.0
    """At most so many tries of a host count as tries of each of its arms, when it is asked how open an arm still is."""
    discount: float = 0.6
    """Of what lies one page further, but for where redirects led to finds."""
    borrowed_pages: float = 1.0
    """Pages of its family that an arm's expectation of new links starts from."""
    keep: float = 0.9
    """What an arm's pages were and led to counts for this much less with every page that follows."""
    keep_answers: float = 0.7
    """Answers count for this much less with every request that fails, and failures with every answer: where links go
    dead, they go dead in rows."""
    most_new: float = 50.0
    """New links a page, at most, that are counted on."""
    general_rate: float = 0.07
    own_rate: float = 0.5
    """FTRL's α for features of every host, and for those of one."""
    beta: float = 0.3
    answers_bias: float = 1.5
    find_bias: float = -1.0
    """Log-odds before anything is known."""
    hunch: float = 1.0
    """Log-odds, for links that announce what is looked for where most pages are nothing of the kind."""
    places: int = 2
    """Steps of the tag path in an arm's name."""
    asks_apart: bool = True
    """Whether answers and finds are two questions; otherwise a request that fails is one without a find."""
    seeds_are_doors: bool = True
    looks_ahead: bool = True
    looks_behind: bool = True
    learns_features: bool = True
