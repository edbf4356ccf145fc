"""LDCOC (Huang and Gandon 2019, 2020): a linked-data crawler with an online classifier.

`ldcoc_features` decides which URIs need a prediction, finds the properties and siblings of a URI on its page, and names
its features in the sets +t +r +p +x. `ldcoc_policy` predicts, samples and learns by FTRL-Proximal.
"""
