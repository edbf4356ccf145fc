"""Link analysis (Emamdadi, Kahani, Zarrinkalam): a crawler for RDF documents that reads what is said about a link.

`concepts` are the sets of content types, extensions and terms, in text files beside the code; `properties` the nine
properties of a link; `heuristics` each rule by itself and the relevancy functions; `similarity` the growing set S_HR;
`policy` the order in which a crawler follows links.
"""

from motherlode.policies.linkanalysis.heuristics import (
    HEURISTICS,
    SIMILARITY,
    Concepts,
    classify,
    concepts_from,
    default_concepts,
    features,
)
from motherlode.policies.linkanalysis.link_properties import LinkClass, LinkProperties, SimilarUrls, link_properties
from motherlode.policies.linkanalysis.linkanalysis_policy import LinkAnalysis

__all__ = [
    "HEURISTICS",
    "SIMILARITY",
    "Concepts",
    "LinkAnalysis",
    "LinkClass",
    "LinkProperties",
    "SimilarUrls",
    "classify",
    "concepts_from",
    "default_concepts",
    "features",
    "link_properties",
]
