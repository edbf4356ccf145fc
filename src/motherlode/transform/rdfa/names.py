"""Names without a colon, as XML has them (Namespaces in XML 1.0, section 3)."""

from __future__ import annotations

import re

_START = (
    "A-Z_a-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02ff\u0370-\u037d\u037f-\u1fff\u200c-\u200d\u2070-\u218f\u2c00-\u2fef"
    "\u3001-\ud7ff\uf900-\ufdcf\ufdf0-\ufffd\U00010000-\U000effff"
)
_REST = rf"{_START}\-.0-9\u00b7\u0300-\u036f\u203f-\u2040"
_NAME = re.compile(f"[{_START}][{_REST}]*")
_BAD = re.compile(f"^[^{_START}]|[^{_REST}]")


def is_name(text: str) -> bool:
    """Whether a text can be a prefix or a local name.

    >>> is_name("ex"), is_name("1x"), is_name("a:b"), is_name("")
    (True, False, False, False)
    """
    return _NAME.fullmatch(text) is not None


def coerced(text: str) -> str:
    """A name that XML can hold, for one of HTML (HTML, "Coercing an HTML DOM into an infoset").

    >>> coerced("a<b"), coerced("o:p"), coerced("1")
    ('aU00003Cb', 'oU00003Ap', 'U000031')
    """
    return _BAD.sub(lambda character: f"U{ord(character[0]):06X}", text)
