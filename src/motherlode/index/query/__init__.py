"""SPARQL queries of users.

`service_clause` refuses SERVICE and rewrites our own word search, `diagnostics` explains errors, `query_executor` runs
queries on the store, and `query_worker` does so in a process of its own. The engine cannot stop a running query, so a
timeout needs a process that can be killed.
"""

from motherlode.index.query.diagnostics import QueryError, QueryProblem
from motherlode.index.query.query_executor import QueryExecutor, QueryRequest, isolate_from_network

__all__ = ["QueryError", "QueryExecutor", "QueryProblem", "QueryRequest", "isolate_from_network"]
