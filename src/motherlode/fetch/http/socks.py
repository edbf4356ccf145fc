"""Tunnels through a SOCKS5 proxy (RFC 1928), with user and password (RFC 1929) or without."""

from __future__ import annotations

from collections.abc import Callable
from ipaddress import ip_address

from motherlode.fetch.http.errors import FetchError
from motherlode.fetch.http.tunnel import Tunnel
from motherlode.model import FailureKind
from motherlode.www.urls import Origin

_VERSION = 5
_NO_AUTHENTICATION, _PASSWORD = 0, 2
_IPV4, _NAME, _IPV6 = 1, 3, 4
_ADDRESS_BYTES = {_IPV4: 4, _IPV6: 16}
_REASONS = {
    1: "general failure",
    2: "not allowed by its rules",
    3: "network unreachable",
    4: "host unreachable",
    5: "connection refused",
    6: "TTL expired",
    7: "command not supported",
    8: "address type not supported",
}
_NOT_SOCKS = FetchError(FailureKind.PROTOCOL, "the proxy does not speak SOCKS5")


class SocksTunnel(Tunnel):
    """A connection to a SOCKS5 proxy until it has connected to the host. The proxy resolves the host's name."""

    def __init__(self, to: Origin, credentials: tuple[str, str] | None) -> None:
        methods = [_NO_AUTHENTICATION] if credentials is None else [_NO_AUTHENTICATION, _PASSWORD]
        super().__init__(bytes([_VERSION, len(methods), *methods]))
        self._to = to
        self._credentials = credentials
        self._received = b""
        self._read: Callable[[], bool] = self._read_method
        """Reads the next message of the proxy. Returns False if the message is incomplete, or if no further one
        follows."""

    def data_received(self, data: bytes) -> None:
        self._received += data
        while not self.opened.done() and self._read():
            pass

    def _read_method(self) -> bool:
        if len(self._received) < 2:
            return False
        version, method = self._received[:2]
        self._received = self._received[2:]
        if version != _VERSION:
            self._finish(_NOT_SOCKS)
        elif method == _NO_AUTHENTICATION:
            self._send_request()
        elif method == _PASSWORD and self._credentials is not None:
            user, password = (text.encode()[:255] for text in self._credentials)
            self.transport.write(bytes([1, len(user)]) + user + bytes([len(password)]) + password)
            self._read = self._read_authentication
        else:
            self._finish(FetchError(FailureKind.CONNECT, "the proxy wants a user name and password"))
        return True

    def _read_authentication(self) -> bool:
        if len(self._received) < 2:
            return False
        status = self._received[1]
        self._received = self._received[2:]
        if status:
            self._finish(FetchError(FailureKind.CONNECT, "the proxy refused user name and password"))
        else:
            self._send_request()
        return True

    def _send_request(self) -> None:
        self.transport.write(bytes([_VERSION, 1, 0]) + _serialize_host(self._to) + self._to.port.to_bytes(2, "big"))
        self._read = self._read_reply

    def _read_reply(self) -> bool:
        """Read the reply: version, result, a zero, and an address of variable length with a port."""
        if len(self._received) < 5:
            return False
        version, result, _, kind, length = self._received[:5]
        size = 4 + (1 + length if kind == _NAME else _ADDRESS_BYTES.get(kind, 0)) + 2
        if version != _VERSION or (not result and kind not in (*_ADDRESS_BYTES, _NAME)):
            self._finish(_NOT_SOCKS)
        elif result:
            reason = _REASONS.get(result, f"error {result}")
            self._finish(FetchError(FailureKind.CONNECT, f"the proxy could not connect: {reason}"))
        elif len(self._received) > size:
            self._finish(FetchError(FailureKind.PROTOCOL, "the proxy sent data before the request"))
        elif len(self._received) == size:
            self._finish(None)
        return False


def _serialize_host(to: Origin) -> bytes:
    if to.is_address:
        address = ip_address(to.host)
        return bytes([_IPV4 if address.version == 4 else _IPV6]) + address.packed
    name = to.host.encode()[:255]
    return bytes([_NAME, len(name)]) + name
