"""Web servers of the box: certificates, pages, the configuration of nginx, and the log that it writes."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from tools.box.plan import WORDS, BoxHost, BoxPlan

ROBOTS = "User-agent: *\nDisallow: /private/\n"


# ── certificates ─────────────────────────────────────────────────────────────────────────────────────


class Authority:
    """The certificate authority of a box. `write` puts its certificate and those of all hosts into a folder."""

    def __init__(self) -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "authority of the box")])
        self._certificate = self._issue(self._name, self._key, [], is_authority=True)

    def _issue(
        self, subject: x509.Name, key: ec.EllipticCurvePrivateKey, names: Sequence[str], *, is_authority: bool = False
    ) -> x509.Certificate:
        now = datetime.now(UTC)
        builder = x509.CertificateBuilder(
            subject_name=subject,
            issuer_name=self._name,
            public_key=key.public_key(),
            serial_number=x509.random_serial_number(),
            not_valid_before=now - timedelta(days=1),
            not_valid_after=now + timedelta(days=30),
        ).add_extension(x509.BasicConstraints(ca=is_authority, path_length=None), critical=True)
        own = x509.SubjectKeyIdentifier.from_public_key(key.public_key())
        builder = builder.add_extension(own, critical=False)
        issuer = x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key())
        builder = builder.add_extension(issuer, critical=False)
        if names:
            known = x509.SubjectAlternativeName([x509.DNSName(name) for name in names])
            builder = builder.add_extension(known, critical=False)
        return builder.sign(self._key, hashes.SHA256())

    def write(self, folder: Path) -> Path:
        """Write the certificate of the authority and return its path."""
        path = folder / "authority.pem"
        path.write_bytes(self._certificate.public_bytes(serialization.Encoding.PEM))
        return path

    def write_certificate(self, path: Path, names: Sequence[str]) -> None:
        """Write a key and a certificate for these names to one file."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, names[0])])
        certificate = self._issue(subject, key, names)
        private = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        path.write_bytes(private + certificate.public_bytes(serialization.Encoding.PEM))


# ── pages ────────────────────────────────────────────────────────────────────────────────────────────

_BLOCKS = (17, 30, 47, 105, 243)
"""Numbers of blocks per page, with equal shares. They give the sizes of the HTML pages of ../shared/corpus: its deciles
1, 5 and 9 are 7, 18 and 95 KB, and a page has 460 elements and 69 links on average."""
_KINDS_OF_BLOCKS, _WORDS_PER_BLOCK, _CROSS_LINKS = 1000, 38, 3
_COMPRESSION = 2


def write_pages(folder: Path, plan: BoxPlan, hosts: Sequence[BoxHost]) -> None:
    """Write the pages of all hosts that can be reached, compressed as most web servers send them."""
    draw = Random(plan.seed)
    blocks = [_block(draw, plan.pages) for _ in range(_KINDS_OF_BLOCKS)]
    for host in hosts:
        if not host.is_live:
            continue
        root = folder / host.name
        root.mkdir(parents=True)
        (root / "robots.txt").write_text(ROBOTS)
        for number in range(plan.pages):
            others = [draw.choice(hosts).name for _ in range(_CROSS_LINKS)]
            content = draw.choices(blocks, k=draw.choice(_BLOCKS))
            text = page(host.name, number, plan.pages, others, content, draw)
            path = root / f"{page_path(number)[1:] or 'index.html'}.gz"
            path.write_bytes(gzip.compress(text.encode(), _COMPRESSION, mtime=0))


def page_path(number: int) -> str:
    """Return the path of a page of a host. Page 0 is its home page."""
    return f"/item-{number}.html" if number else "/"


def _block(draw: Random, pages: int) -> str:
    """Return a part of a page: a heading and a paragraph, every other one with a link to a page of the same host."""
    words = draw.choices(WORDS, k=_WORDS_PER_BLOCK)
    link = f'<a class="more" href="{page_path(draw.randrange(pages))}">{words[0]}</a>' if draw.random() < 0.5 else ""
    text = f"<p>{' '.join(words[:20])} <b>{words[1]}</b> {' '.join(words[20:])} {link}</p>"
    return f'<div class="block"><h3>{words[2]} {words[3]}</h3>{text}</div>\n'


def page(host: str, number: int, pages: int, others: Sequence[str], content: Sequence[str], draw: Random) -> str:
    """Return a page: data in five syntaxes, text, links to all pages of its host and to other hosts."""
    title = f"{draw.choice(WORDS)} {draw.choice(WORDS)} {number} of {host}"
    product = {
        "@context": "https://schema.org/",
        "@type": "Product",
        "@id": f"https://{host}{page_path(number)}#it",
        "name": title,
        "offers": [{"@type": "Offer", "price": f"{draw.random() * 90:.2f}", "priceCurrency": "EUR"} for _ in range(3)],
    }
    urls = [page_path(other) for other in range(1, pages)] + [f"/private/{number}"]
    urls += [f"https://{other}/" for other in others]
    links = "".join(f'<li><a href="{url}">{draw.choice(WORDS)}</a></li>\n' for url in urls)
    return (
        f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>\n'
        f'<meta property="og:title" content="{title}"><meta property="og:type" content="product">\n'
        f'<script type="application/ld+json">{json.dumps(product)}</script></head><body><h1>{title}</h1>\n'
        f'<div itemscope itemtype="https://schema.org/Event"><b itemprop="name">{title}</b>'
        f'<time itemprop="startDate" datetime="2026-05-{1 + number % 28:02d}">May</time></div>\n'
        f'<p vocab="https://schema.org/" typeof="Place"><span property="name">{title}</span></p>\n'
        f'<p class="h-card"><a class="p-name u-url" href="{page_path(number)}">{title}</a></p>\n'
        f"<main>{''.join(content)}</main><nav><ul>{links}</ul></nav></body></html>\n"
    )


# ── nginx ────────────────────────────────────────────────────────────────────────────────────────────

_LOG_FORMAT = "$msec $request_time $server_addr $host $request_uri $status $connection $ssl_session_reused"


def write_nginx(folder: Path, plan: BoxPlan, hosts: Sequence[BoxHost], authority: Authority, *, buffered: bool) -> Path:
    """Write the certificates and the configuration of nginx: one server block per certificate, chosen by SNI."""
    names = [host.name for host in hosts]
    size = plan.names_per_certificate
    groups = [names[start : start + size] for start in range(0, len(names), size)]
    blocks = []
    for number, group in enumerate(groups):
        path = folder / f"certificate-{number}.pem"
        authority.write_certificate(path, group)
        options = " default_server reuseport backlog=8192" if number == 0 else ""
        blocks.append(
            f"server {{ listen 443 ssl{options}; server_name {' '.join(group)};\n"
            f" rewrite ^/$ /index.html break; ssl_certificate {path}; ssl_certificate_key {path}; }}\n"
        )
    buffer = " buffer=64k flush=1s" if buffered else ""
    path = folder / "nginx.conf"
    path.write_text(
        f"worker_processes 1; daemon off; pid {folder}/nginx.pid; error_log {folder}/nginx.err; user root;\n"
        "worker_rlimit_nofile 60000; events { worker_connections 30000; }\n"
        f"http {{ log_format box '{_LOG_FORMAT}'; access_log {folder}/access.log box{buffer};\n"
        "server_names_hash_max_size 65536; server_names_hash_bucket_size 256; sendfile on; tcp_nodelay on;\n"
        "gzip_static always; gunzip on;\n"
        "keepalive_timeout 75s; keepalive_requests 100000; ssl_session_cache shared:box:20m; charset utf-8;\n"
        f"types {{ text/html html; text/plain txt; }} root {folder}/pages/$host; client_body_temp_path {folder};\n"
        f"proxy_temp_path {folder}; fastcgi_temp_path {folder}; uwsgi_temp_path {folder}; scgi_temp_path {folder};\n"
        f"{''.join(blocks)} }}\n"
    )
    return path


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedRequest:
    """One line of the log of the web servers."""

    ended: float
    """When the response was sent, in seconds since the epoch."""
    seconds: float
    address: str
    host: str
    path: str
    status: int
    connection: int
    is_resumed: bool
    """Whether the TLS session was resumed."""

    @property
    def began(self) -> float:
        return self.ended - self.seconds


def read_log(path: Path) -> list[LoggedRequest]:
    """Return the requests of a log. A last line that is not complete yet is left out."""
    if not path.exists():
        return []
    found = []
    for line in path.read_text().split("\n")[:-1]:
        ended, seconds, address, host, target, status, connection, reused = line.split(" ")
        found.append(
            LoggedRequest(
                ended=float(ended),
                seconds=float(seconds),
                address=address,
                host=host,
                path=target,
                status=int(status),
                connection=int(connection),
                is_resumed=reused == "r",
            )
        )
    return found
