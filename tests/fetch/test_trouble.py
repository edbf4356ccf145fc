"""What an error while connecting means."""

from __future__ import annotations

import errno
import socket
import ssl

import pytest

from motherlode.fetch.trouble import Trouble, connecting, refused
from motherlode.model import FailureKind


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
        (ssl.SSLCertVerificationError(1, "expired"), FailureKind.TLS),
    ],
    ids=repr,
)
def test_an_error_has_its_kind(error: OSError, kind: FailureKind) -> None:
    found = connecting(error)
    assert found.kind is kind
    assert found.detail


def test_a_refusal_says_what_can_be_done() -> None:
    assert refused("10.0.0.1 is not a public address") == Trouble(
        FailureKind.GUARD,
        "10.0.0.1 is not a public address; --allow lets you name ranges of your own",
    )
