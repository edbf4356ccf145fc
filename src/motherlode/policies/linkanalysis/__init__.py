"""Link analysis (Emamdadi, Kahani, Zarrinkalam): a crawler for RDF documents that uses the text and attributes of
links.

`link_properties` has the nine properties of a link, and S_HR, the set of pages that linked to RDF documents.
`heuristics` has the sets of content types, extensions and terms (read from text files in this directory), the
heuristics, and the two relevancy functions. `linkanalysis_policy` orders the links.
"""
