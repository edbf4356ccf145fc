"""References of HTML as browsers send them: the query of a link is in the charset of its page.

How references become IRIs of statements is told in `www.iri`, and how they become addresses in `www.urls`.
"""

from __future__ import annotations

import codecs
import re
from functools import partial

_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]+")
_NOT_IN_QUERIES = re.compile(rb"[^!$-&(-;=?-~]")
"""Bytes that are always escaped in a query (URL standard, 1.3, "special-query percent-encode set")."""
_LACKING = "motherlode.lacking"
"""Our name for what is done with characters that a charset has not."""


def query_in(codec: str, reference: str) -> str:
    """A reference of HTML with its query in the page's charset, as browsers send it (URL standard, 4.4, "query state").

    Paths are in UTF-8 in any case. What the charset lacks is written as HTML would write it.

    >>> query_in("cp1251", "/путь?q=да,я#я"), query_in("cp1252", "?q=да")
    ('/путь?q=%E4%E0,%FF#я', '?q=%26%231076%3B%26%231072%3B')
    """
    before, hash_sign, fragment = reference.partition("#")
    path, mark, query = before.partition("?")
    return path + mark + _BEYOND_ASCII.sub(partial(_escaped_in, codec), query) + hash_sign + fragment


def _escaped_in(codec: str, match: re.Match[str]) -> str:
    written = match[0].encode(codec, _LACKING)
    return _NOT_IN_QUERIES.sub(lambda byte: b"%%%02X" % ord(byte[0]), written).decode("ascii")


def _by_number(error: UnicodeError) -> tuple[str, int]:
    """URL standard, 1.3, "percent-encode after encoding": the number of the character, in escapes."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lacking = error.object[error.start : error.end]
    return "".join(f"%26%23{ord(character)}%3B" for character in lacking), error.end


codecs.register_error(_LACKING, _by_number)
