"""Probing: an optional HEAD request before a GET, so that the transfer of a useless body does not start.

A GET already stops at the first bytes of a useless body, so a probe pays only if responses are slow to start or bodies
cost money. A probe needs a lease of its own, and so does the GET after it. Many servers answer HEAD incorrectly, so
only three results count: a useless content type, a redirect, and signs that the host must be left alone.
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
    """If the URL does not show whether it is a page, data or a large download."""
    ALWAYS = "always"


_CONCLUSIVE_FAILURES = frozenset(
    {
        *(FailureKind.USELESS, FailureKind.REDIRECT, FailureKind.TOO_MANY, FailureKind.UNAVAILABLE),
        FailureKind.CHALLENGED,
        *(FailureKind.DNS, FailureKind.NO_DNS, FailureKind.CONNECT, FailureKind.TLS, FailureKind.TIMEOUT),
        *(FailureKind.GUARD, FailureKind.TOO_LARGE),
    }
)
"""Failures of a HEAD after which no GET is sent."""
_ABSENT_CONTENT = frozenset({FailureKind.NOT_FOUND, FailureKind.FORBIDDEN})
"""Failures of a HEAD that say something about the page. Its GET is still sent, because the HEAD may be wrong."""
_UNSURE_KINDS = frozenset(
    {
        *(None, ContentKind.XML, ContentKind.JSON, ContentKind.TEXT, ContentKind.BINARY),
        *(ContentKind.GZIP, ContentKind.BZIP2, ContentKind.ZIP, ContentKind.TAR),
    }
)
"""Kinds of content, by file extension, that may or may not contain data or links."""
_PROGRAM_EXTENSIONS = frozenset({"php", "asp", "aspx", "jsp", "jspx", "cgi", "pl", "cfm", "do", "action"})
"""Extensions of programs that mostly produce pages."""
_DOWNLOAD = re.compile(r"download|attachment|export|/files?/|/media/|[?&](?:file|format|type)=", re.IGNORECASE)


def replaces_get(kind: FailureKind) -> bool:
    """Return whether no GET follows a HEAD for the Content-Type header that failed in this way.

    After a timeout the GET is sent, because some servers never answer a HEAD.
    """
    return kind in _CONCLUSIVE_FAILURES and kind is not FailureKind.TIMEOUT


def content_type_of(kind: FailureKind | None, header: str) -> str | None:
    """Return the content type in the response to a HEAD: "" if it has no such header, None if it is not usable.

    The response to a HEAD that the server does not support (405, 501) or that timed out is not usable.

    >>> content_type_of(None, "text/turtle"), content_type_of(FailureKind.NOT_FOUND, "text/html")
    ('text/turtle', '')
    >>> content_type_of(FailureKind.CLIENT_ERROR, "text/html") is None
    True
    """
    if kind is None:
        return header
    return "" if kind in _ABSENT_CONTENT else None


class Prober:
    """Decides which pages are probed, and what follows from the response."""

    def __init__(self, when: Probing) -> None:
        self._when = when
        self._passed: set[str] = set()
        """Pages whose probe succeeded and whose GET has not been sent yet."""

    def wants(self, kind: RequestKind, url: str) -> bool:
        """Return whether the next request for a page is a HEAD. Call once per request."""
        if kind is not RequestKind.PAGE or self._when is Probing.NEVER:
            return False
        if url in self._passed:
            self._passed.discard(url)
            return False
        return self._when is Probing.ALWAYS or is_unsure(url)

    def verdict(self, url: str, response: Fetched) -> Failure | None:
        """Return the failure that replaces the GET, or None if a GET should be sent."""
        if isinstance(response, Failure) and response.kind in _CONCLUSIVE_FAILURES:
            return response
        self._passed.add(url)
        return None


def is_unsure(url: str) -> bool:
    """Return whether a URL leaves open if it is a page or a large download."""
    if _DOWNLOAD.search(url):
        return True
    extension = extension_of(url)
    return bool(extension) and extension not in _PROGRAM_EXTENSIONS and by_extension(url) in _UNSURE_KINDS
