"""The kind of errors while connecting."""

from __future__ import annotations

import errno
import socket
import ssl

import pytest

from motherlode.fetch.http.errors import FetchError, connect_error, guard_refusal
from motherlode.model import FailureKind


def refused_certificate(code: int, message: str) -> ssl.SSLCertVerificationError:
    error = ssl.SSLCertVerificationError(1, f"[SSL: CERTIFICATE_VERIFY_FAILED] {message} (_ssl.c:1)")
    error.verify_code, error.verify_message = code, message
    return error


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (TimeoutError(), FailureKind.TIMEOUT),
        (OSError(errno.ETIMEDOUT, "the system gave up"), FailureKind.CONNECT),
        (ConnectionRefusedError(errno.ECONNREFUSED, "refused"), FailureKind.CONNECT),
        (ConnectionResetError(), FailureKind.CONNECT),
        (socket.gaierror(socket.EAI_NONAME, "unknown"), FailureKind.DNS),
        (socket.gaierror(socket.EAI_AGAIN, "try again"), FailureKind.NO_DNS),
        (ssl.SSLError(1, "wrong version"), FailureKind.TLS),
        (refused_certificate(10, "certificate has expired"), FailureKind.CERTIFICATE),
        (refused_certificate(20, "unable to get local issuer certificate"), FailureKind.CERTIFICATE),
        (UnicodeError("label too long"), FailureKind.DNS),
    ],
    ids=repr,
)
def test_connect_error_has_expected_kind(error: OSError | ValueError, kind: FailureKind) -> None:
    found = connect_error(error)
    assert found.kind is kind
    assert found.detail
    assert "_ssl.c" not in found.detail
    assert "local issuer" not in found.detail


@pytest.mark.parametrize(
    "error",
    [
        TimeoutError(),
        OSError(errno.ENETUNREACH, "no route"),
        OSError(errno.EHOSTUNREACH, "no route"),
        OSError(errno.ENETDOWN, "down"),
        OSError(errno.ETIMEDOUT, "the system gave up"),
        OSError(errno.EADDRNOTAVAIL, "we have no address"),
        socket.gaierror(socket.EAI_AGAIN, "try again"),
    ],
    ids=repr,
)
def test_connect_error_without_reply_is_silent(error: OSError) -> None:
    assert connect_error(error).silent


@pytest.mark.parametrize(
    "error",
    [
        OSError(errno.ECONNREFUSED, "refused"),
        OSError(errno.ECONNRESET, "reset"),
        ConnectionAbortedError("in the middle of a handshake"),
        ssl.SSLError(1, "wrong version"),
        socket.gaierror(socket.EAI_NONAME, "a name server says that there is none"),
    ],
    ids=repr,
)
def test_connect_error_with_reply_is_not_silent(error: OSError) -> None:
    assert not connect_error(error).silent


def test_guard_refusal_says_how_to_allow_range() -> None:
    assert guard_refusal("10.0.0.1 is not a public address") == FetchError(
        FailureKind.GUARD,
        "10.0.0.1 is not a public address; --allow lets you name ranges of your own",
    )
