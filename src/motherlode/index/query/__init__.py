"""Queries: SPARQL as people write it, answered in bounded time or refused with a reason.

`services` refuses the network and answers our own word search, `problems` says what is wrong and where, `answering`
brings it to the store, and `worker` does so in a process that can be ended: the engine has no way to stop a query, so
whoever sets a time limit must be able to kill.
"""

from motherlode.index.query.diagnostics import QueryError, QueryProblem
from motherlode.index.query.query_executor import QueryExecutor, QueryRequest, isolate_from_network

__all__ = ["QueryError", "QueryExecutor", "QueryProblem", "QueryRequest", "isolate_from_network"]
