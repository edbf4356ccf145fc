"""Why a request has no answer: what the parts of the HTTP client tell each other, before it becomes a failure."""

from __future__ import annotations

import re
import socket
import ssl
from typing import NamedTuple

from motherlode.model import FailureKind

_FRAME = re.compile(r"\[SSL[^]]*\] | \(_ssl\.c:\d+\)")

_IN_WORDS: dict[int | str, str] = {
    **dict.fromkeys((20, 21), "the certificate's authority is unknown, or the server leaves out one in between"),
    "WRONG_VERSION_NUMBER": "what answers there is not TLS",
}
"""What the library says in a way that only its authors understand, by its numbers and names."""


class FetchError(NamedTuple):
    """A kind of failure, and one sentence for a person."""

    kind: FailureKind
    detail: str
    elsewhere: bool = False
    """Nobody was met, and the host has other addresses."""
    silent: bool = False
    """Nothing came back from anybody."""


TIMED_OUT = FetchError(FailureKind.TIMEOUT, "no answer in time")
CLOSED_WITHOUT_NOTIFY = FetchError(FailureKind.RESET, "the connection ended, perhaps in the middle of the answer")
"""The end of the connection should be that of the body, and anybody on the way can have cut it (RFC 9112, 9.8)."""
NO_CONNECTION = FetchError(FailureKind.TIMEOUT, "no connection in time", silent=True)


def guard_refusal(reason: object) -> FetchError:
    """What the address guard said."""
    return FetchError(FailureKind.GUARD, f"{reason}; --allow lets you name ranges of your own")


def connect_error(error: OSError | ValueError) -> FetchError:
    """What an error means that came while a connection was opened."""
    if isinstance(error, TimeoutError) and error.errno is None:  # with a number it is the system's
        return NO_CONNECTION
    if isinstance(error, ssl.SSLError):
        return tls_error(error)
    if isinstance(error, ValueError):
        return FetchError(FailureKind.DNS, f"no host has such a name: {described(error)}")
    if isinstance(error, socket.gaierror):
        return dns_error(error)
    is_refusal = isinstance(error, ConnectionError)  # somebody says no: there is a network, and a machine
    return FetchError(FailureKind.CONNECT, described(error), silent=not is_refusal)


def tls_error(error: ssl.SSLError) -> FetchError:
    """What an error of TLS means."""
    if isinstance(error, ssl.SSLCertVerificationError):
        said = _IN_WORDS.get(error.verify_code) or error.verify_message.rstrip(".")
        return FetchError(FailureKind.CERTIFICATE, said)
    return FetchError(FailureKind.TLS, _IN_WORDS.get(getattr(error, "reason", "")) or described(error))


def dns_error(error: OSError) -> FetchError:
    """What an error means that came while a name was looked up."""
    is_passing = isinstance(error, socket.gaierror) and error.errno == socket.EAI_AGAIN
    return FetchError(FailureKind.NO_DNS if is_passing else FailureKind.DNS, described(error), silent=is_passing)


def described(error: BaseException) -> str:
    """An exception in one line, without the places in the code of the library for TLS.

    >>> described(ssl.SSLError(1, "[SSL: NO_SHARED_CIPHER] no shared cipher (_ssl.c:1006)"))
    'no shared cipher'
    >>> described(ValueError("two\\nlines")), described(ValueError())
    ('two lines', 'ValueError')
    """
    text = " ".join(str(error).split()) or type(error).__name__
    return _FRAME.sub("", text) if isinstance(error, ssl.SSLError) else text
