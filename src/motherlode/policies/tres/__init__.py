"""TRES (Kontogiannis et al. 2025): reinforcement learning with a frontier that is sampled by a regression tree.

- `state_action` computes the features of a link and of the path to it.
- `tree_frontier` is the regression tree, whose leaves group the waiting links.
- `q_network` is the network that predicts the value of a link, with its replay buffer.
- `tres_policy` is the policy.
"""

from motherlode.policies.tres.tres_policy import Tres

__all__ = ["Tres"]
