"""Convert JSON-LD 1.1 to statements (JSON-LD 1.1 API): whole documents, and script elements of HTML pages.

Remote contexts come from the caller or from the bundled tables, never from the network. `to_rdf.to_rdf` runs the
algorithms strictly as specified, or tolerantly, so that an error loses only its own entry.
"""

from motherlode.transform.jsonld.jsonld_blocks import extract, read_document

__all__ = ["extract", "read_document"]
