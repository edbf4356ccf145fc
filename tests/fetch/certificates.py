"""Test certificates for loopback."""

from __future__ import annotations

import ssl
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import AuthorityInformationAccessOID, NameOID


class Identity(NamedTuple):
    """A certificate and its key."""

    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey

    @property
    def public(self) -> bytes:
        return self.certificate.public_bytes(serialization.Encoding.PEM)

    @property
    def der(self) -> bytes:
        return self.certificate.public_bytes(serialization.Encoding.DER)

    @property
    def private(self) -> bytes:
        return self.key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )


def issued(
    by: Identity | None = None,
    *,
    names: Sequence[str] = (),
    addresses: Sequence[str] = (),
    days: tuple[int, int] = (-1, 2),
    is_authority: bool = False,
    issuer_url: str = "",
    subject: str = "",
    issuer: str = "",
) -> Identity:
    """Return a certificate signed by an authority or by itself. `days` are its first and last day from today.

    `issuer_url` says where its issuer's certificate is. `subject` and `issuer` replace the names.
    """
    key = ec.generate_private_key(ec.SECP256R1())
    own = _name(subject or f"loopback {id(key)}")
    now = datetime.now(UTC)
    builder = (
        x509.CertificateBuilder(
            subject_name=own,
            issuer_name=_name(issuer) if issuer else own if by is None else by.certificate.subject,
            public_key=key.public_key(),
            serial_number=x509.random_serial_number(),
            not_valid_before=now + timedelta(days=days[0]),
            not_valid_after=now + timedelta(days=days[1]),
        )
        .add_extension(x509.BasicConstraints(ca=is_authority, path_length=None), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    )
    known = [*map(x509.DNSName, names), *(x509.IPAddress(ip_address(address)) for address in addresses)]
    if known:
        builder = builder.add_extension(x509.SubjectAlternativeName(known), critical=False)
    if issuer_url:
        place = x509.AccessDescription(
            AuthorityInformationAccessOID.CA_ISSUERS, x509.UniformResourceIdentifier(issuer_url)
        )
        builder = builder.add_extension(x509.AuthorityInformationAccess([place]), critical=False)
    return Identity(builder.sign(key if by is None else by.key, hashes.SHA256()), key)


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def certificate(folder: Path) -> Path:
    """Write a key and its certificate for 127.0.0.1 and localhost to a file."""
    return saved(folder, issued(names=["localhost"], addresses=["127.0.0.1"]))


def saved(folder: Path, identity: Identity, *between: Identity) -> Path:
    """Write a key, its certificate, and the intermediate certificates to a file."""
    path = folder / f"{identity.certificate.serial_number}.pem"
    path.write_bytes(identity.private + b"".join(one.public for one in (identity, *between)))
    return path


def server_context(path: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(path)
    return context
