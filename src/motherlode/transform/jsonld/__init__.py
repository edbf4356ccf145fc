"""Convert JSON-LD 1.1 to statements: whole documents, and script elements of HTML pages.

`jsonld_blocks` finds the blocks of a page and locates their problems. `json_decoder` decodes a block strictly, or
repairs the JSON and records each repair. `context_processor` turns contexts into active contexts, which are cached and
shared between documents. Remote contexts come from the caller or from the bundled tables (`bundled_contexts`), never
from the network. `expansion` expands the document and `to_rdf` converts the result to statements.

The algorithms are those of the W3C's JSON-LD 1.1 API. `to_rdf.to_rdf` runs them either strictly as specified, or
tolerantly, so that an error loses only its own entry. The blocks of a page share their blank node labels.
"""

from motherlode.transform.jsonld.jsonld_blocks import extract, read_document

__all__ = ["extract", "read_document"]
