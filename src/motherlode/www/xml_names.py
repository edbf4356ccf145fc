"""Names without a colon (NCName; Namespaces in XML 1.0, section 3)."""

from __future__ import annotations

import re

_START = (
    "A-Z_a-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02ff\u0370-\u037d\u037f-\u1fff\u200c-\u200d\u2070-\u218f\u2c00-\u2fef"
    "\u3001-\ud7ff\uf900-\ufdcf\ufdf0-\ufffd\U00010000-\U000effff"
)
"""Characters with which a name may begin, as the inside of a character class."""
_REST = rf"{_START}\-.0-9\u00b7\u0300-\u036f\u203f-\u2040"
_NCNAME = re.compile(f"[{_START}][{_REST}]*")
_INVALID = re.compile(f"^[^{_START}]|[^{_REST}]")


def is_ncname(text: str) -> bool:
    """Whether a string can be a namespace prefix or a local name.

    >>> is_ncname("ex"), is_ncname("1x"), is_ncname("a:b"), is_ncname("")
    (True, False, False, False)
    """
    return _NCNAME.fullmatch(text) is not None


def coerce_ncname(text: str) -> str:
    """Return the name that XML uses for a name of HTML (HTML, "Coercing an HTML DOM into an infoset").

    >>> coerce_ncname("a<b"), coerce_ncname("o:p"), coerce_ncname("1")
    ('aU00003Cb', 'oU00003Ap', 'U000031')
    """
    return _INVALID.sub(lambda character: f"U{ord(character[0]):06X}", text)
