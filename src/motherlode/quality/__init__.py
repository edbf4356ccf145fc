"""Quality of the data of a crawl: which descriptions are about the same thing, and which follow the rules.

`identifiers` recognises and normalises identifiers, and `identity` joins descriptions of one thing into clusters.
"""
