"""Index: store the statements of pages as quads on disk, with their provenance, and answer queries.

The statements of a page go to the graph that is named by the page's URL. They also go to the default graph, so that a
query without GRAPH sees the union of all pages, with each statement once. Facts about the page itself (time, referrer,
status, media type, syntaxes, hash) go to the graph `urn:motherlode:provenance`. Writing is idempotent: a page that is
written again replaces its old statements, and statements that other pages also make stay in the union. Only this
package opens a quad store.
"""
