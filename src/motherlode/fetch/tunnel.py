"""The proxy's answer to CONNECT: after its head the connection belongs to somebody else."""

from __future__ import annotations

import asyncio

from motherlode.fetch.parsing import AnswerParser
from motherlode.fetch.trouble import Trouble, described
from motherlode.model import FailureKind


class Tunnel(asyncio.Protocol):
    """A connection until the proxy says that it leads to the host (RFC 9110, 9.3.6)."""

    def __init__(self) -> None:
        self.peer = ""
        self.opened: asyncio.Future[Trouble | None] = asyncio.get_running_loop().create_future()
        """None where it leads there, or why it does not."""
        self._status = 0
        self._parser = AnswerParser()
        self._parser.begin(self, head_only=True)

    def head(self, status: int, headers: dict[str, str]) -> bool:
        self._status = status
        return False

    def piece(self, data: bytes) -> bool:
        return False

    def data_received(self, data: bytes) -> None:
        wrong = self._parser.feed(data)
        if not wrong and self._parser.done and not 200 <= self._status < 300:
            wrong = f"the proxy answered {self._status}"
        if wrong:
            self._end(Trouble(FailureKind.PROTOCOL, wrong))
        elif self._parser.done:
            self._end(None)

    def connection_lost(self, error: Exception | None) -> None:
        detail = "the proxy closed the connection" if error is None else described(error)
        self._end(Trouble(FailureKind.RESET, detail))

    def _end(self, trouble: Trouble | None) -> None:
        if not self.opened.done():
            self.opened.set_result(trouble)
