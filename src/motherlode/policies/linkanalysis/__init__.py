"""Link analysis (Emamdadi, Kahani, Zarrinkalam): a crawler for RDF documents that uses text and attributes of links.

`heuristics` has the nine properties of a link, the sets of content types, extensions and terms (read from text files in
this directory), S_HR, the heuristics and the two relevancy functions. `linkanalysis_policy` orders the links.
"""
