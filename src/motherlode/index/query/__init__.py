"""SPARQL queries of users: SERVICE clauses, explanations of errors, and execution, also in a process of its own."""
