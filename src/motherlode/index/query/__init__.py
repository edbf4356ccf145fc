"""Queries: SPARQL as people write it, answered in bounded time or refused with a reason.

`services` refuses the network and answers our own word search, `problems` says what is wrong and where, `answering`
brings it to the store, and `worker` does so in a process that can be ended: the engine has no way to stop a query, so
whoever sets a time limit must be able to kill.
"""

from motherlode.index.query.answerer import Answerer, QueryRequest, leave_the_network
from motherlode.index.query.diagnostics import QueryError, QueryProblem

__all__ = ["Answerer", "QueryError", "QueryProblem", "QueryRequest", "leave_the_network"]
