"""LDCOC (Huang and Gandon 2019, 2020): a linked-data crawler with an online classifier.

`ldcoc_features` decides which URIs need a prediction and names their features in the sets +t +r +p +x. `context_graph`
finds the properties and siblings of a URI on its page. `ldcoc_policy` predicts, samples and learns by FTRL-Proximal.
"""

from motherlode.policies.ldcoc.context_graph import ContextGraph, direct_properties, property_of, sibling_set
from motherlode.policies.ldcoc.ldcoc_features import (
    BEST_SETS,
    SETS,
    Hardness,
    features,
    hardness,
    header_features,
    page_features,
    similarity,
)
from motherlode.policies.ldcoc.ldcoc_policy import Ldcoc, default_learner

__all__ = [
    "BEST_SETS",
    "SETS",
    "ContextGraph",
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
