"""LDCOC (Huang and Gandon 2019, 2020): a linked-data crawler with an online classifier.

`hard` tells the URIs that need a prediction, `context` what stands around a URI on its page, `features` names what
is known about it in the sets +t +r +p +x, `policy` predicts, samples and learns by FTRL-Proximal.
"""

from motherlode.policy.ldcoc.context import Context, direct_properties, property_of, sibling_set
from motherlode.policy.ldcoc.features import BEST_SETS, SETS, features, header_features, page_features, similarity
from motherlode.policy.ldcoc.hard import Hardness, hardness
from motherlode.policy.ldcoc.policy import Ldcoc, default_learner

__all__ = [
    "BEST_SETS",
    "SETS",
    "Context",
    "Hardness",
    "Ldcoc",
    "default_learner",
    "direct_properties",
    "features",
    "hardness",
    "header_features",
    "page_features",
    "property_of",
    "sibling_set",
    "similarity",
]
