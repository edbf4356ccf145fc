"""Policies: which of the waiting URLs is worth a request, learned from what earlier ones gave.

A policy rates links when they are found, which puts each in an *arm* (a host, or something finer) with a score inside
it. The frontier tells it which arms are awake; it picks one, and is told later what came of the pick. It never sees
the frontier as a whole, so a pick costs the same with a million hosts as with ten. Randomness comes from a seed that
the caller gives. Targets, which decide what counts as a find, stand beside the policies.
"""

from motherlode.policies.priority_queue import default_wait_threshold, set_wait_threshold
from motherlode.policies.registry import (
    DEFAULT_POLICY,
    POLICIES,
    POLICY_TABLE,
    nearest,
    policy_from,
    policy_usage,
    reads_known_links,
)
from motherlode.policies.rewards import DEFAULT_REWARD, REWARDS, Reward, reward_from, statement_hashes
from motherlode.policies.targets import TARGETS, Target, ntriples, target_from

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
    "nearest",
    "ntriples",
    "policy_from",
    "policy_usage",
    "reads_known_links",
    "reward_from",
    "set_wait_threshold",
    "statement_hashes",
    "target_from",
]
