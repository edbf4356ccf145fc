"""The pages of the web site: overview, search, query, entities and pages."""
