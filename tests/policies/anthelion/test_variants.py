"""Options in the names of policies become features and classifiers."""

from __future__ import annotations

from array import array

import pytest

from motherlode.policies.anthelion.classifiers import HoeffdingTree, NaiveBayes, Smoothing
from motherlode.policies.anthelion.variants import make_classifier, make_features, make_rater


def test_make_features_passes_options_to_the_token_rules() -> None:
    rules = make_features(tokens="authors", hashes="500", min_token="2", max_token="9").rules
    assert (rules.of_authors, rules.hashes, rules.min_characters, rules.max_characters) == (True, 500, 2, 9)
    assert not make_features().rules.of_authors


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"hashes": "many"}, "whole numbers, as in nb-online:hashes=20000"),
        ({"min_token": "-1"}, "whole numbers"),
        ({"tokens": "words"}, "tokens is url or authors; got 'words'"),
        ({"features": "smell"}, "smell"),
    ],
)
def test_make_features_with_wrong_option_is_rejected(options: dict[str, str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make_features(**options)


def test_make_classifier_smoothing_is_that_of_moa_by_default() -> None:
    rows = [(array("H", [0, 1]), True), *[(array("H", [1, 2]), False)] * 5]
    made, default = (make_classifier("nb", 4, smoothing) for smoothing in ("moa", None))
    other = make_classifier("nb", 4, Smoothing.LAPLACE.value)
    for classifier in (made, default, other):
        assert isinstance(classifier, NaiveBayes)
        for features, relevant in rows:
            classifier.learn(features, relevant=relevant)
    states = [array("H", [0]).tobytes()]
    assert default.scores(states) == made.scores(states) != other.scores(states)


def test_make_classifier_tree_has_no_smoothing() -> None:
    assert isinstance(make_classifier("ht", 4), HoeffdingTree)
    with pytest.raises(ValueError, match="smoothing is an option of Naive Bayes"):
        make_classifier("ht", 4, "laplace")
    with pytest.raises(ValueError, match=r"smoothing is .* got 'none'"):
        make_classifier("nb", 4, "none")


def test_make_rater_has_the_features_of_its_variants() -> None:
    with pytest.raises(ValueError, match="tokens is url or authors"):
        make_rater("nb", None, {"tokens": "words"})
    sizes = {make_rater("nb", None, {"hashes": hashes}).features.rules.size for hashes in ("100", "200")}
    assert len(sizes) == 2
