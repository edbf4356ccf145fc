"""Features and classifiers of Anthelion from the options in the name of a policy."""

from __future__ import annotations

from collections.abc import Mapping

from motherlode.policies.anthelion.classifiers import HoeffdingTree, NaiveBayes, Smoothing
from motherlode.policies.anthelion.url_classifier import Classifier, Features, FeatureSet, OnlineRater, TokenRules
from motherlode.policies.name_arguments import choice, whole_numbers


def make_features(
    features: str = "url+parent", tokens: str = "url", hashes: str = "10000", min_token: str = "3", max_token: str = "0"
) -> Features:
    """Return the object that turns links into rows of features. Raises ValueError if an option is wrong."""
    hint = "hashes, min_token and max_token are whole numbers, as in nb-online:hashes=20000,min_token=2"
    count, fewest, most = whole_numbers((hashes, min_token, max_token), hint)
    of_authors = choice("tokens", tokens, "url", "authors") == "authors"
    rules = TokenRules(of_authors=of_authors, hashes=count, min_characters=fewest, max_characters=most)
    return Features(FeatureSet.named(features), rules)


def make_classifier(kind: str, size: int, smoothing: str | None = None) -> Classifier:
    """Return an online classifier, `nb` or `ht`, for rows of `size` features."""
    if kind == "ht":
        if smoothing is not None:
            raise ValueError("smoothing is an option of Naive Bayes, and the classifier is a Hoeffding tree")
        return HoeffdingTree()
    estimate = choice("smoothing", smoothing or "moa", *(one.value for one in Smoothing))
    return NaiveBayes(size, Smoothing(estimate))


def make_rater(kind: str, smoothing: str | None, variants: Mapping[str, str]) -> OnlineRater:
    """Return an online rater of links. `variants` are arguments of `make_features`."""
    features = make_features(**variants)
    return OnlineRater(features, make_classifier(kind, features.rules.size, smoothing))
