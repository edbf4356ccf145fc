"""Link analysis (Emamdadi, Kahani, Zarrinkalam): a crawler for RDF documents that reads what is said about a link.

`concepts` are the sets of content types, extensions and terms, in text files beside the code; `properties` the nine
properties of a link; `heuristics` each rule by itself and the relevancy functions; `similarity` the growing set S_HR;
`policy` the order in which a crawler follows links.
"""

from motherlode.policy.linkanalysis.concepts import Concepts, concepts_from, default_concepts
from motherlode.policy.linkanalysis.heuristics import HEURISTICS, SIMILARITY, classify, features
from motherlode.policy.linkanalysis.policy import LinkAnalysis
from motherlode.policy.linkanalysis.properties import LinkClass, LinkProperties, link_properties
from motherlode.policy.linkanalysis.similarity import SimilarUrls

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
