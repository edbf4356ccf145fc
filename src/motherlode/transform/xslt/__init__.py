"""XML and HTML to RDF by XSLT: feeds with built-in stylesheets, other documents with the user's or by GRDDL.

Built-in stylesheets need linear time and run in this process. Stylesheets of the user, and large feeds, run in the
sandbox process. No stylesheet can open a file or a URL.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from motherlode.runtime import lazy_exports

if TYPE_CHECKING:
    from motherlode.transform.xslt.stylesheets import builtin, extract, fault_in, wants

__all__ = ["builtin", "extract", "fault_in", "wants"]

__getattr__ = lazy_exports(__name__, {"stylesheets": ["builtin", "extract", "fault_in", "wants"]})
