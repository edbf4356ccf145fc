"""Convert documents to RDF statements.

`transform` looks up the extractors for the content kind of a document in one table (`pipeline.EXTRACTORS`). A cheap
test decides whether an extractor runs: either one scan of the body found a mark of its syntax, or the extractor's gate
accepts the document. Most pages pass few of these tests. The extractors share the document, whose text and HTML tree
are created once. Each extractor gets its own blank node names and returns an `Extraction`: the statements and problems
of one syntax. All extractions together are the `TransformResult` of the page.

Guarantees:

- Extractors are isolated. An exception, a timeout or deep recursion in one extractor becomes a problem of its syntax
  and does not affect the results of the others. The content of a page never raises an exception.
- Extractors are limited in time by `timeouts.TimeLimit` and in statements by the options. A problem records each cut.
- The package fetches nothing, reads no user files and keeps no state of a document. The same document gives the same
  statements, including blank nodes. No two pages or syntaxes share a blank node.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from motherlode.runtime import lazy_exports

if TYPE_CHECKING:
    from motherlode.transform.archives import member_url, unpack_members
    from motherlode.transform.options import TransformOptions
    from motherlode.transform.pipeline import EXTRACTORS, Extractor, merge, transform

__all__ = ["EXTRACTORS", "Extractor", "TransformOptions", "member_url", "merge", "transform", "unpack_members"]

__getattr__ = lazy_exports(
    __name__,
    {
        "archives": ["member_url", "unpack_members"],
        "options": ["TransformOptions"],
        "pipeline": ["EXTRACTORS", "Extractor", "merge", "transform"],
    },
)
