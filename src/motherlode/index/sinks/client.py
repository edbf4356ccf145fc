"""A plain HTTP client for one endpoint: one connection, kept open, from one thread.

It talks to an address that the user named, never to the web, so it needs neither the guard nor the clocks of the fetch
room, and stays out of the event loop. Redirects are answers like any other: quads go where the user said.
"""

from __future__ import annotations

import http.client
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

_MOST_ANSWER = 4096
"""Bytes of an answer that are kept for the message; the rest is read and dropped."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What an endpoint said."""

    status: int
    text: str = ""
    retry_after: float | None = None

    @property
    def good(self) -> bool:
        return 200 <= self.status < 300


class Client:
    """Sends requests to the host of a URL. Raises OSError where no answer came."""

    def __init__(self, url: str, *, seconds: float, headers: Mapping[str, str]) -> None:
        parts = urlsplit(url)
        self._host = parts.hostname or ""
        self._port = parts.port
        self._secure = parts.scheme == "https"
        self._seconds = seconds
        self._headers = dict(headers)
        self.target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        """Path and query of the endpoint itself."""
        self._connection: http.client.HTTPConnection | None = None

    def send(self, method: str, target: str, body: bytes | None = None, content_type: str = "") -> Answer:
        headers = {**self._headers, **({"Content-Type": content_type} if content_type else {})}
        kept_open = self._connection is not None
        try:
            return self._send(method, target, body, headers)
        except (OSError, http.client.HTTPException) as error:
            self.close()
            if not kept_open:
                raise OSError(f"{type(error).__name__}: {error}") from error
        try:  # the endpoint may only have closed a connection that was long idle
            return self._send(method, target, body, headers)
        except (OSError, http.client.HTTPException) as error:
            self.close()
            raise OSError(f"{type(error).__name__}: {error}") from error

    def _send(self, method: str, target: str, body: bytes | None, headers: Mapping[str, str]) -> Answer:
        if self._connection is None:
            made = http.client.HTTPSConnection if self._secure else http.client.HTTPConnection
            self._connection = made(self._host, self._port, timeout=self._seconds)
        self._connection.request(method, target, body=body, headers=dict(headers))
        response = self._connection.getresponse()
        text = response.read(_MOST_ANSWER).decode("utf-8", "replace")
        while response.read(1 << 16):
            pass
        after = response.headers.get("Retry-After", "")
        return Answer(
            status=response.status,
            text=" ".join(text.split()),
            retry_after=float(after) if after.isascii() and after.isdigit() else None,
        )

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
