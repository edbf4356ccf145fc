"""XML and HTML to RDF by stylesheet: feeds with our own, anything else with the user's or as GRDDL asks.

A document passes through three steps: it is read as XML (HTML is repaired first), the stylesheets that fit it are
applied, and the RDF that they write is read. Our own stylesheets take time in proportion to the document and run here;
those of others, and large feeds, run in the sandbox. No stylesheet opens a file or an address.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from motherlode.runtime.lazy import lazy_exports

if TYPE_CHECKING:
    from motherlode.transform.xslt.stylesheets import builtin, extract, fault_in, wants

__all__ = ["builtin", "extract", "fault_in", "wants"]

__getattr__ = lazy_exports(
    __name__,
    {
        "stylesheets": ["builtin", "extract", "fault_in", "wants"],
    },
)
