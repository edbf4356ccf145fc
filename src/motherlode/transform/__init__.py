"""From a document to facts: every syntax of the Web of Data becomes statements, with the problems beside them.

The life of a document here: its kind picks a row of extractors from one table. Each extractor has a gate, which asks
for marks in the bytes that one scan has found; most pages pass few of them. An extractor that is let through gets the
document, whose text and HTML tree are made once and shared, and a supply of blank nodes of its own; it gives an
`Extraction`: the statements and problems of one syntax. All extractions together are the page's `TransformResult`.

What is guaranteed:

- Extractors are isolated. An exception, a time-out, deep recursion in one becomes a problem of its syntax, and never
  costs another its result. Nothing is raised for what a page contains.
- Extractors are bounded: in time by `bounds.TimeLimit`, in statements by the options. What was cut is on record.
- Nothing is fetched, read from disk or remembered between documents. The same document gives the same facts, blank
  nodes included, and no two pages or syntaxes share a blank node.

Archives hold documents of any kind, which only detect can tell apart, and siblings do not call each other. So whoever
wires the rooms unpacks `members(document)`, lets detect see each one, and transforms it under the address
`member_url(document.url, name)`; `merge` joins the facts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from motherlode.runtime.lazy import names_from

if TYPE_CHECKING:
    from motherlode.transform.archives import member_url, unpack_members
    from motherlode.transform.options import TransformOptions
    from motherlode.transform.pipeline import EXTRACTORS, Extractor, merge, transform

__all__ = ["EXTRACTORS", "Extractor", "TransformOptions", "member_url", "merge", "transform", "unpack_members"]

__getattr__ = names_from(
    __name__,
    archives=["member_url", "unpack_members"],
    options=["TransformOptions"],
    pipeline=["EXTRACTORS", "Extractor", "merge", "transform"],
)
