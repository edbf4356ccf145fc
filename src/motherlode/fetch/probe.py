"""Probing: a HEAD before a GET, where the user wants to pay for it, so that a useless body is never begun.

A GET already ends at the first bytes of a useless body, so a probe pays only where answers are slow to begin or bodies
are charged for; that is why `never` is the default. A probe is a request like any other: it has its own leave from the
frontier's clocks, and the GET behind it needs another. Servers often answer HEAD badly, so little is believed: a type
of which nothing can come, a redirect, and signs that the host must be left alone. For all else the GET decides.
"""

from __future__ import annotations

import re
from enum import Enum

from motherlode.model import ContentKind, Failure, FailureKind, Fetched, RequestKind
from motherlode.www.media_types import by_extension, extension_of


class Probing(Enum):
    """When a HEAD goes before a GET."""

    NEVER = "never"
    UNSURE = "unsure"
    """Where the address does not tell whether a page, data or bulk is there."""
    ALWAYS = "always"


_BELIEVED = frozenset(
    {
        *(FailureKind.USELESS, FailureKind.REDIRECT, FailureKind.TOO_MANY, FailureKind.UNAVAILABLE),
        *(FailureKind.DNS, FailureKind.NO_DNS, FailureKind.CONNECT, FailureKind.TLS, FailureKind.TIMEOUT),
        FailureKind.GUARD,
    }
)
"""Failures of a HEAD that spare the GET."""
_UNSURE_KINDS = frozenset(
    {
        *(None, ContentKind.XML, ContentKind.JSON, ContentKind.TEXT, ContentKind.BINARY),
        *(ContentKind.GZIP, ContentKind.BZIP2, ContentKind.ZIP, ContentKind.TAR),
    }
)
"""What an extension may say and still leave open whether facts or links can come of it."""
_SCRIPTS = frozenset({"php", "asp", "aspx", "jsp", "jspx", "cgi", "pl", "cfm", "do", "action"})
"""Extensions of programs that mostly write pages."""
_BULK = re.compile(r"download|attachment|export|/files?/|/media/|[?&](?:file|format|type)=", re.IGNORECASE)


class Prober:
    """Decides which pages are probed, and what follows from the answer."""

    def __init__(self, when: Probing) -> None:
        self._when = when
        self._passed: set[str] = set()
        """Pages whose probe was good and whose GET is still to come."""

    def wants(self, kind: RequestKind, url: str) -> bool:
        """Whether the next request for a page is a HEAD. Asked once for each request."""
        if kind is not RequestKind.PAGE or self._when is Probing.NEVER:
            return False
        if url in self._passed:
            self._passed.discard(url)
            return False
        return self._when is Probing.ALWAYS or is_unsure(url)

    def verdict(self, url: str, answer: Fetched) -> Failure | None:
        """What the page comes to without a GET; None where it is worth one."""
        if isinstance(answer, Failure) and answer.kind in _BELIEVED:
            return answer
        self._passed.add(url)
        return None


def is_unsure(url: str) -> bool:
    """True where an address leaves open whether a page or bulk is behind it.

    >>> [is_unsure(f"http://ex.org/{end}") for end in ("page", "page.html", "data.ttl", "index.php", "")]
    [False, False, False, False, False]
    >>> [is_unsure(f"http://ex.org/{end}") for end in ("dump.zip", "x.xyz", "api.json", "get?file=3", "download/7")]
    [True, True, True, True, True]
    """
    if _BULK.search(url):
        return True
    extension = extension_of(url)
    return bool(extension) and extension not in _SCRIPTS and by_extension(url) in _UNSURE_KINDS
