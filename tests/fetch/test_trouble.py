"""What an error while connecting means."""

from __future__ import annotations

import errno
import socket
import ssl

import pytest

from motherlode.fetch.trouble import Trouble, connecting, refused
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
def test_an_error_has_its_kind(error: OSError | ValueError, kind: FailureKind) -> None:
    found = connecting(error)
    assert found.kind is kind
    assert found.detail
    assert "_ssl.c" not in found.detail
    assert "local issuer" not in found.detail


def test_a_refusal_says_what_can_be_done() -> None:
    assert refused("10.0.0.1 is not a public address") == Trouble(
        FailureKind.GUARD,
        "10.0.0.1 is not a public address; --allow lets you name ranges of your own",
    )
