"""Errors inside the HTTP client, as values. The client turns a `FetchError` into a `Failure`."""

from __future__ import annotations

import re
import socket
import ssl
from typing import NamedTuple

from motherlode.fetch.guard import GuardRefusedError
from motherlode.model import FailureKind

_OPENSSL_DETAILS = re.compile(r"\[SSL[^]]*\] | \(_ssl\.c:\d+\)")

_TLS_MESSAGES: dict[int | str, str] = {
    **dict.fromkeys((20, 21), "the certificate's authority is unknown, or the server leaves out an intermediate one"),
    "WRONG_VERSION_NUMBER": "the server does not speak TLS on this port",
}
"""Messages for errors of OpenSSL whose own message is hard to understand, by its error code or name."""


class FetchError(NamedTuple):
    """Why a request got no response: a kind of failure and one sentence for a person."""

    kind: FailureKind
    detail: str
    has_other_address: bool = False
    """True if connecting to one of several IP addresses failed."""
    silent: bool = False
    """True if no packet came back, so that our own network may be down."""
    lost: int = 0
    """Number of further IP addresses of the host that could not be connected to either."""

    @property
    def is_unconnected(self) -> bool:
        """Whether no connection was made, so that another IP address of the host may be better."""
        return self.kind is FailureKind.CONNECT or self.detail == NO_CONNECTION.detail


TIMED_OUT = FetchError(FailureKind.TIMEOUT, "no response in time")
CLOSED_WITHOUT_NOTIFY = FetchError(FailureKind.RESET, "the connection ended, perhaps in the middle of the response")
"""Error for a body that ends with a TLS connection without close_notify, so that it may be incomplete (RFC 9112,
9.8)."""
NO_CONNECTION = FetchError(FailureKind.TIMEOUT, "no connection in time", silent=True)


def too_slow(rate: float, min_rate: float) -> FetchError:
    """Return the error for a response whose bytes come too slowly."""
    detail = f"the response came at {rate:.0f} bytes per second, less than min_rate ({min_rate:g})"
    return FetchError(FailureKind.TIMEOUT, detail)


def guard_refusal(reason: object) -> FetchError:
    """Return the error for an address that the guard refuses."""
    return FetchError(FailureKind.GUARD, f"{reason}; --allow lets you name ranges of your own")


def connect_error(error: OSError | ValueError) -> FetchError:
    """Return the error for an exception raised while opening a connection."""
    if isinstance(error, TimeoutError) and error.errno is None:  # with an errno it comes from the system
        return NO_CONNECTION
    if isinstance(error, ssl.SSLError):
        return tls_error(error)
    if isinstance(error, ValueError):
        return FetchError(FailureKind.DNS, f"not a valid host name: {describe_error(error)}")
    if isinstance(error, socket.gaierror):
        return dns_error(error)
    is_refusal = isinstance(error, ConnectionError)  # a machine replied, so the network works
    return FetchError(FailureKind.CONNECT, describe_error(error), silent=not is_refusal)


def tls_error(error: ssl.SSLError) -> FetchError:
    """Return the error for an exception of TLS."""
    if isinstance(error, ssl.SSLCertVerificationError):
        message = _TLS_MESSAGES.get(error.verify_code) or error.verify_message.rstrip(".")
        return FetchError(FailureKind.CERTIFICATE, message)
    return FetchError(FailureKind.TLS, _TLS_MESSAGES.get(getattr(error, "reason", "")) or describe_error(error))


def dns_error(error: OSError) -> FetchError:
    """Return the error for an exception raised while resolving a name, the guard's among them."""
    if isinstance(error, GuardRefusedError):
        return guard_refusal(error)
    if isinstance(error, TimeoutError):
        return FetchError(FailureKind.NO_DNS, "no response in time", silent=True)
    is_temporary = isinstance(error, socket.gaierror) and error.errno == socket.EAI_AGAIN
    kind = FailureKind.NO_DNS if is_temporary else FailureKind.DNS
    return FetchError(kind, describe_error(error), silent=is_temporary)


def describe_error(error: BaseException) -> str:
    """Return an exception's message in one line, without OpenSSL's error names and source lines.

    >>> describe_error(ssl.SSLError(1, "[SSL: NO_SHARED_CIPHER] no shared cipher (_ssl.c:1006)"))
    'no shared cipher'
    >>> describe_error(ValueError("two\\nlines")), describe_error(ValueError())
    ('two lines', 'ValueError')
    """
    text = " ".join(str(error).split()) or type(error).__name__
    return _OPENSSL_DETAILS.sub("", text) if isinstance(error, ssl.SSLError) else text
