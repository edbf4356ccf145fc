"""Web Bot Auth: signed requests, by which a site can verify who crawls it, and the directory of their keys.

Requests are signed with Ed25519 as HTTP message signatures (RFC 9421), in the profile of
draft-ietf-webbotauth-httpsig-protocol (read in November 2026). The key id is the thumbprint of the public key (RFC
7638, RFC 8037). Signing needs the package `cryptography`, which the extra `signing` installs.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from motherlode.www.urls import parse_origin

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

DIRECTORY_PATH = "/.well-known/http-message-signatures-directory"
DIRECTORY_TYPE = "application/http-message-signatures-directory+json"
NEEDS_EXTRA = "signing needs the package cryptography: pip install 'motherlode[signing]'"
LIFETIME_SECONDS = 60
"""Seconds for which a signature is valid. A copied signature is useless after that, and the clocks of sites differ."""
_LABEL = "motherlode"
_DIRECTORY_LABEL = "binding"
_NONCE_BYTES = 16


class Component(NamedTuple):
    """A covered component of a message: its identifier as in Signature-Input, and its value."""

    identifier: str
    value: str


def signature_base(components: Sequence[Component], parameters: str) -> bytes:
    """Return the bytes that are signed (RFC 9421, 2.5). `parameters` is the value of Signature-Input for the label.

    >>> signature_base([Component('"@method"', "GET")], '("@method");created=1').decode().splitlines()
    ['"@method": GET', '"@signature-params": ("@method");created=1']
    """
    lines = [f"{component.identifier}: {component.value}" for component in components]
    return "\n".join([*lines, f'"@signature-params": {parameters}']).encode()


def signature_parameters(components: Sequence[Component], **parameters: str | int) -> str:
    """Return the covered components and the parameters as one member of Signature-Input (RFC 9421, 2.3).

    >>> signature_parameters([Component('"@path"', "/")], created=1, tag="web-bot-auth")
    '("@path");created=1;tag="web-bot-auth"'
    """
    covered = " ".join(component.identifier for component in components)
    rest = (f'{name}="{value}"' if isinstance(value, str) else f"{name}={value}" for name, value in parameters.items())
    return ";".join([f"({covered})", *rest])


class SigningKey:
    """A private Ed25519 key and the id under which its public key is published."""

    def __init__(self, private: Ed25519PrivateKey) -> None:
        self._private = private
        self.x = _base64url(private.public_key().public_bytes_raw())
        """The public key."""
        members = {"crv": "Ed25519", "kty": "OKP", "x": self.x}  # sorted and without spaces, as RFC 7638 demands
        self.identifier = _base64url(hashlib.sha256(json.dumps(members, separators=(",", ":")).encode()).digest())
        """The thumbprint of the public key."""

    @classmethod
    def from_pem(cls, text: bytes) -> SigningKey:
        """Read a private key. ValueError if it is no unencrypted Ed25519 key, or if `cryptography` is missing."""
        try:
            from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
            from cryptography.hazmat.primitives.serialization import load_pem_private_key
        except ImportError as error:
            raise ValueError(NEEDS_EXTRA) from error
        try:
            private = load_pem_private_key(text, password=None)
        except (ValueError, TypeError) as error:
            raise ValueError("not a private key in PEM without a password") from error
        if not isinstance(private, Ed25519PrivateKey):
            raise ValueError("not an Ed25519 key, and no other kind is supported")
        return cls(private)

    def sign(self, components: Sequence[Component], parameters: str) -> str:
        """Return the signature of a message as a byte sequence of RFC 9651 (`:base64:`)."""
        signature = self._private.sign(signature_base(components, parameters))
        return f":{base64.b64encode(signature).decode()}:"


def new_key() -> bytes:
    """Return a new private key in PEM. ValueError if `cryptography` is missing."""
    try:
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    except ImportError as error:
        raise ValueError(NEEDS_EXTRA) from error
    return Ed25519PrivateKey.generate().private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )


def key_directory(keys: Sequence[SigningKey]) -> bytes:
    """Return the document with the public keys, which is published at DIRECTORY_PATH of the Signature-Agent."""
    members = [{"kty": "OKP", "crv": "Ed25519", "kid": key.identifier, "x": key.x, "use": "sig"} for key in keys]
    return json.dumps({"keys": members}, separators=(",", ":")).encode()


def directory_headers(
    keys: Sequence[SigningKey], directory: bytes, *, agent: str, created: int, expires: int
) -> dict[str, str]:
    """Return response headers for the directory, which prove that its publisher has the private keys."""
    digest = f"sha-256=:{base64.b64encode(hashlib.sha256(directory).digest()).decode()}:"
    components = [Component('"@authority";req', parse_origin(agent).authority), Component('"content-digest"', digest)]
    inputs, signatures = [], []
    for number, key in enumerate(keys):
        label = f"{_DIRECTORY_LABEL}{number or ''}"
        parameters = signature_parameters(
            components, created=created, expires=expires, keyid=key.identifier, tag="http-message-signatures-directory"
        )
        inputs.append(f"{label}={parameters}")
        signatures.append(f"{label}={key.sign(components, parameters)}")
    return {"Content-Digest": digest, "Signature-Input": ", ".join(inputs), "Signature": ", ".join(signatures)}


class RequestSigner:
    """Signs requests for the https origin (`agent`) at which the keys are published."""

    def __init__(self, key: SigningKey, agent: str, *, seconds: int = LIFETIME_SECONDS) -> None:
        self._key = key
        self._agent = f'"{agent}"'
        self._seconds = seconds

    def header_lines(self, method: str, authority: str, target: str, *, now: float, nonce: bytes = b"") -> str:
        """Return the header lines that sign a request. `target` is its path with its query."""
        path, _, query = target.partition("?")
        components = [
            Component('"@method"', method),
            Component('"@authority"', authority.lower()),
            Component('"@path"', path),
            Component('"@query"', f"?{query}"),
            Component(f'"signature-agent";key="{_LABEL}"', self._agent),
        ]
        parameters = signature_parameters(
            components,
            created=int(now),
            expires=int(now) + self._seconds,
            keyid=self._key.identifier,
            alg="ed25519",
            nonce=base64.b64encode(nonce or os.urandom(_NONCE_BYTES)).decode(),
            tag="web-bot-auth",
        )
        return (
            f"Signature-Agent: {_LABEL}={self._agent}\r\n"
            f"Signature-Input: {_LABEL}={parameters}\r\n"
            f"Signature: {_LABEL}={self._key.sign(components, parameters)}\r\n"
        )


def check_agent(agent: str) -> str:
    """Return why a text cannot be the value of Signature-Agent, or "". It must be an https origin without a path.

    >>> check_agent("https://crawler.example.org"), check_agent("http://a.example")
    ('', "'http://a.example' should be an https URL without a path, as in https://crawler.example.org")
    """
    try:
        is_origin = agent == f"https://{parse_origin(agent).authority}"
    except ValueError:
        is_origin = False
    return "" if is_origin else f"{agent!r} should be an https URL without a path, as in https://crawler.example.org"


def _base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()
