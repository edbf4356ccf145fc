"""Policies: they decide which waiting URL is fetched next, and learn from the outcomes.

A policy rates links when they are found. A rating assigns a link to an *arm* (a host, or a group of links of a host)
and gives it a score within the arm. The frontier informs the policy which arms are ready. The policy picks an arm, and
later gets the outcome of the pick. It never sees the whole frontier, so the cost of a pick does not depend on the
number of hosts. All randomness comes from a seed that the caller gives.

- `registry` makes policies by name, and `extensions` adds those of programs and installed packages; `targets` and
  `rewards` define what is relevant and how useful a page is, `scorers` are programs of the user that decide that.
- `priority_queue`, `ftrl` and `model_io` are shared by policies.
- `motherlode` is our own policy. `anthelion`, `ldcoc`, `linkanalysis`, `sb_classifier` and `tres` are policies of
  papers; `baselines` are simple policies for comparison.
"""

from motherlode.policies.policy_table import POLICY_TABLE
from motherlode.policies.priority_queue import default_wait_threshold, set_wait_threshold
from motherlode.policies.registry import (
    DEFAULT_POLICY,
    POLICIES,
    largest_web,
    nearest,
    policy_from,
    policy_usage,
    policy_variants,
    reads_context_graph,
    reads_element_ids,
    reads_known_links,
)
from motherlode.policies.rewards import DEFAULT_REWARD, REWARDS, Reward, page_hashes, reward_from
from motherlode.policies.targets import TARGETS, Target, hint_about_target, ntriples, target_from

__all__ = [
    "DEFAULT_POLICY",
    "DEFAULT_REWARD",
    "POLICIES",
    "POLICY_TABLE",
    "REWARDS",
    "TARGETS",
    "Reward",
    "Target",
    "default_wait_threshold",
    "hint_about_target",
    "largest_web",
    "nearest",
    "ntriples",
    "page_hashes",
    "policy_from",
    "policy_usage",
    "policy_variants",
    "reads_context_graph",
    "reads_element_ids",
    "reads_known_links",
    "reward_from",
    "set_wait_threshold",
    "target_from",
]
