"""SPARQL queries of users.

`service_clause` refuses SERVICE and rewrites our own word search, `diagnostics` explains errors, and `query_worker`
executes queries on the store, also in a process of its own. The engine cannot stop a running query, so a timeout needs
a process that can be killed.
"""
