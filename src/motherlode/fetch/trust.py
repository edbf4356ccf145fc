"""Whom we believe under TLS, and what we speak with them."""

from __future__ import annotations

import ssl
from collections.abc import Callable
from functools import cached_property

from motherlode.fetch.origins import Origin
from motherlode.fetch.seal import Seal

_CIPHERS = "ECDHE+AESGCM:ECDHE+CHACHA20:ECDHE+AES:RSA+AESGCM:RSA+AES:!aNULL:!eNULL:!aDSS:!AESCCM:!PSK:!SRP"
"""For TLS 1.2, best first, as in browsers. Python's own list leaves out what some old servers have nothing beside: keys
exchanged by RSA, and SHA-1 in records. It has what only a server wants that means ill: keys exchanged by DHE may have
10,000 bits, and with 8,192 cost us a quarter of a second that nobody else can use."""
_LEGACY_SERVER_CONNECT = 0x4
"""Python has a name for it from 3.12 on. Servers older than RFC 5746 are open to browsers. What they lack protects
requests that carry secrets, and ours carry none."""


_NO_RENEGOTIATION = ssl.OP_NO_RENEGOTIATION
"""A server could begin anew without end, each time at the cost of a handshake."""


class Trust:
    """Makes seals: by default for servers alone that prove by their certificate who they are."""

    def __init__(self, is_exempt: Callable[[str], bool] | None = None) -> None:
        """`is_exempt` tells of a host, with its port where that is not the default, whether any certificate will do."""
        self._is_exempt = is_exempt

    def seal(self, to: Origin) -> Seal:
        """ValueError where the host can be in no certificate."""
        is_exempt = self._is_exempt is not None and self._is_exempt(to.authority)
        return Seal(self._lenient if is_exempt else self._strict, to.host)

    @cached_property
    def _strict(self) -> ssl.SSLContext:
        """Made for the first https URL: to read the certificates of all authorities takes 50 ms."""
        return _prepared(ssl.create_default_context())

    @cached_property
    def _lenient(self) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        return _prepared(context)


def _prepared(context: ssl.SSLContext) -> ssl.SSLContext:
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_ciphers(_CIPHERS)
    context.set_alpn_protocols(["http/1.1"])
    context.options |= _NO_RENEGOTIATION | _LEGACY_SERVER_CONNECT
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT  # from 3.13 on Python wants more of certificates than browsers do
    return context
