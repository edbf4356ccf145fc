"""Anthelion, after Meusel, Mika and Blanco, "Focused Crawling for Structured Data" (CIKM 2014).

When a link is found, it becomes a row of binary features: the hashed tokens of its URL, the label of its parent page,
and optionally the labels of its siblings (`url_classifier`; section 3.1). An online classifier, Naive Bayes or a
Hoeffding tree (`naive_bayes`, `hoeffding_tree`), predicts the probability that the link leads to a relevant page. This
is the score of the link within its host. Hosts are the arms of a bandit with one of seven value functions
(`host_selection`; section 3.2). The bandit picks the best host, or with probability λ a random host, and in it the best
page (`bandit`, algorithm 1). The outcome updates the record of the host and the classifier.

Classification without records of hosts is the bandit with the value function *best score* and λ = 0.
"""

from motherlode.policies.anthelion.bandit import HostBandit
from motherlode.policies.anthelion.hoeffding_tree import HoeffdingTree
from motherlode.policies.anthelion.host_selection import FUNCTIONS, ValueFunction
from motherlode.policies.anthelion.naive_bayes import NaiveBayes
from motherlode.policies.anthelion.url_classifier import DEFAULT_FEATURES, Classifier, Features, FeatureSet, OnlineRater

__all__ = [
    "DEFAULT_FEATURES",
    "FUNCTIONS",
    "Classifier",
    "FeatureSet",
    "Features",
    "HoeffdingTree",
    "HostBandit",
    "NaiveBayes",
    "OnlineRater",
    "ValueFunction",
]
