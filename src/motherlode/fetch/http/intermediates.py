"""Intermediate certificates that a server leaves out of its chain, fetched as browsers fetch them (RFC 5280, 4.2.2.1).

A certificate names the URL of its issuer's certificate. The fetched certificate helps to build a chain, and is never
trusted by itself: the chain must still end at an authority of this machine. OpenSSL trusts a self-signed certificate
that it is given, so such a certificate is refused here.
"""

from __future__ import annotations

import asyncio
import re
import ssl
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple, cast

MAX_CERTIFICATE_BYTES = 1 << 16
MAX_FETCHED_CERTIFICATES = 3
"""Maximum number of intermediate certificates fetched for one chain. Public chains have one, and a few have two."""
FETCH_TIMEOUT_SECONDS = 10.0
"""Timeout in seconds for fetching all missing certificates of one chain."""
MISSING_ISSUER_CODES = frozenset({20, 21})
"""OpenSSL's errors for a chain that ends before an authority: the issuer is not found, the only one is unverified."""
_MAX_CONTEXTS = 16
"""Maximum number of chains that are kept. Each has a copy of the machine's authorities, about 2 MB."""
_ISSUER_URL = re.compile(rb"\x06\x08\x2b\x06\x01\x05\x05\x07\x30\x02\x86(?:([\x01-\x7f])|\x81([\x80-\xff]))", re.DOTALL)
"""An access description of the method caIssuers, and the length of its URL."""
_PEM_START = b"-----BEGIN CERTIFICATE-----"


class _Certificate(NamedTuple):
    """A fetched certificate of an authority."""

    der: bytes
    issuer: frozenset[tuple[str, str]]


def issuer_url(certificate: bytes) -> str:
    """Return the http URL at which a certificate in DER form says that its issuer's certificate is, or ""."""
    for match in _ISSUER_URL.finditer(certificate):
        length = (match[1] or match[2])[0]
        url = certificate[match.end() : match.end() + length]
        if url.isascii() and url[:7].lower() == b"http://":  # https could need a certificate in turn
            return url.decode()
    return ""


class CertificateVisitor(asyncio.Protocol):
    """A connection that is opened to look at the server's certificate, and sends nothing."""

    transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)  # uvloop's transports are no subclass of it


class Intermediates:
    """Builds SSL contexts that know the missing certificates of a chain, and keeps the last ones."""

    def __init__(
        self, fetch: Callable[[str], Awaitable[bytes | str]], new_context: Callable[[], ssl.SSLContext]
    ) -> None:
        """Start without fetched certificates.

        `fetch` returns the body at a URL, or as a string the reason why it could not be fetched. `new_context` returns
        an SSL context with the machine's authorities.
        """
        self._fetch = fetch
        self._new_context = new_context
        self._contexts: OrderedDict[str, asyncio.Task[ssl.SSLContext | str]] = OrderedDict()
        """URL of the first missing certificate → the context, or the reason for its absence."""

    async def context_for(self, certificate: bytes) -> ssl.SSLContext | str:
        """Return an SSL context that can complete the chain of a server's certificate, or why there is none.

        `certificate` is the server's own certificate in DER form.
        """
        url = issuer_url(certificate)
        if not url:
            return "the certificate names no http URL of its issuer"
        task = self._contexts.get(url)
        if task is None:
            task = self._contexts[url] = asyncio.create_task(self._build(url))
        self._contexts.move_to_end(url)
        if len(self._contexts) > _MAX_CONTEXTS:
            self._contexts.popitem(last=False)
        found = await asyncio.shield(task)  # other hosts may wait for it too
        if isinstance(found, str):
            self._contexts.pop(url, None)  # it may be there at the next try
        return found

    async def _build(self, url: str) -> ssl.SSLContext | str:
        try:
            async with asyncio.timeout(FETCH_TIMEOUT_SECONDS):
                context = await asyncio.to_thread(self._new_context)  # takes 50 ms
                found = await self._fetch_chain(url, frozenset(_name(one, "subject") for one in context.get_ca_certs()))
        except TimeoutError:
            return f"{url} did not give the issuer's certificate in time"
        if isinstance(found, str):
            return found
        context.verify_flags &= ~ssl.VERIFY_X509_PARTIAL_CHAIN  # with it, OpenSSL trusts every certificate it is given
        context.load_verify_locations(cadata=b"".join(found))
        return context

    async def _fetch_chain(self, url: str, authorities: frozenset[frozenset[tuple[str, str]]]) -> list[bytes] | str:
        """Return the missing certificates up to an authority of the machine, or why the first is not usable."""
        chain: list[bytes] = []
        while url and len(chain) < MAX_FETCHED_CERTIFICATES:
            body = await self._fetch(url)
            found = f"{url}: {body}" if isinstance(body, str) else _parse_certificate(body, url)
            if isinstance(found, str):
                return chain or found
            chain.append(found.der)
            url = "" if found.issuer in authorities else issuer_url(found.der)
        return chain


def _parse_certificate(body: bytes, url: str) -> _Certificate | str:
    """Return the certificate of an intermediate authority, or the reason why the body is unusable."""
    reader = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    try:
        der = ssl.PEM_cert_to_DER_cert(body.decode()) if _PEM_START in body else body
        reader.load_verify_locations(cadata=der)
    except (ssl.SSLError, ValueError):
        return f"{url} does not contain a certificate"
    counts, certificates = reader.cert_store_stats(), reader.get_ca_certs()
    if counts["x509"] != 1 or len(certificates) != 1:
        return f"{url} does not contain one certificate of an authority"
    issuer = _name(certificates[0], "issuer")
    if issuer == _name(certificates[0], "subject"):
        return f"{url} contains a self-signed certificate, which is not trusted"
    return _Certificate(der, issuer)


def _name(certificate: Any, field: str) -> frozenset[tuple[str, str]]:
    """Return a certificate's subject or issuer for comparison, without order, case and white space.

    OpenSSL is stricter.
    """
    parts = certificate.get(field, ())
    return frozenset((key, "".join(value.casefold().split())) for part in parts for key, value in part)
