"""Anthelion, after Meusel, Mika and Blanco, "Focused Crawling for Structured Data" (CIKM 2014).

A link becomes a row of binary features when it is found: the hashed tokens of its URL, the label of the page that has
it, and, where wanted, the labels of its siblings (`tokens`, `features`; section 3.1). An online classifier, Naive Bayes
or a Hoeffding tree (`bayes`, `hoeffding`), gives its confidence that the link leads to what is sought; that is the
link's score inside its host, fixed when it is found. Hosts are the arms of a bandit, with one of seven value functions
(`functions`; section 3.2): the best host is picked, or with probability λ any, and in it the best page (`bandit`,
algorithm 1). What comes of the page goes into the record of its host and into the classifier.

Classification alone, without a record of hosts, is the bandit with the value function *best score* and without λ.
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
