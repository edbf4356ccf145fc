"""Why a request has no answer: what the parts of the HTTP client tell each other, before it becomes a failure."""

from __future__ import annotations

import socket
import ssl
from typing import NamedTuple

from motherlode.model import FailureKind


class Trouble(NamedTuple):
    """A kind of failure, and one sentence for a person."""

    kind: FailureKind
    detail: str
    elsewhere: bool = False
    """Nobody was met, and the host has other addresses."""
    silent: bool = False
    """Nothing came back from anybody."""


TOO_LATE = Trouble(FailureKind.TIMEOUT, "no answer in time")
NO_CONNECTION = Trouble(FailureKind.TIMEOUT, "no connection in time", silent=True)


def refused(reason: object) -> Trouble:
    """What the address guard said."""
    return Trouble(FailureKind.GUARD, f"{reason}; --allow lets you name ranges of your own")


def connecting(error: OSError) -> Trouble:
    """What an error means that came while a connection was opened."""
    if isinstance(error, TimeoutError) and error.errno is None:  # with a number it is the system's
        return NO_CONNECTION
    if isinstance(error, ssl.SSLError):
        return Trouble(FailureKind.TLS, described(error))
    if isinstance(error, socket.gaierror):
        return resolving(error)
    is_refusal = isinstance(error, ConnectionError)  # somebody says no: there is a network, and a machine
    return Trouble(FailureKind.CONNECT, described(error), silent=not is_refusal)


def resolving(error: OSError) -> Trouble:
    """What an error means that came while a name was looked up."""
    is_passing = isinstance(error, socket.gaierror) and error.errno == socket.EAI_AGAIN
    return Trouble(FailureKind.NO_DNS if is_passing else FailureKind.DNS, described(error), silent=is_passing)


def described(error: BaseException) -> str:
    """An exception in one line.

    >>> described(ValueError("two\\nlines")), described(ValueError())
    ('two lines', 'ValueError')
    """
    return " ".join(str(error).split()) or type(error).__name__
