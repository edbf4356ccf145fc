"""A certificate for loopback that nobody else trusts."""

from __future__ import annotations

import shutil
import ssl
import subprocess
from pathlib import Path

import pytest


def certificate(folder: Path) -> Path:
    """A file with a key and its certificate, for 127.0.0.1 and localhost."""
    if shutil.which("openssl") is None:
        pytest.skip("certificates are made by openssl")
    key, made, both = folder / "key.pem", folder / "certificate.pem", folder / "both.pem"
    options = ["-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
    names = ["-subj", "/CN=loopback", "-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost"]
    command = ["openssl", "req", *options, *names, "-keyout", str(key), "-out", str(made)]
    subprocess.run(command, check=True, capture_output=True)
    both.write_bytes(key.read_bytes() + made.read_bytes())
    return both


def server_context(path: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(path)
    return context
