"""JSON-LD 1.1 to statements: documents, and blocks inside HTML.

A block's text is decoded strictly, or mended and the repair recorded (`decoding`, `tolerant`). Its contexts become
active contexts (`processing`, `heads`, `definitions`, `mappings`), which are shared between documents (`cache`) and
come from the caller or from bundled tables, never from the network (`loader`, `bundle`). The document is expanded in
them (`expansion`, `entries`, `maps`, `objects`) and written out as statements (`rdf`). The steps are those of the
W3C's JSON-LD 1.1 API; `processor.to_rdf` strings them together, strictly as the specification demands, or so that a
fault costs only its own entry. Blank node labels are shared by the blocks of a page. What a block lost or had mended
stands in a located `Problem`.
"""

from motherlode.transform.jsonld.jsonld_blocks import extract, read_document

__all__ = ["extract", "read_document"]
