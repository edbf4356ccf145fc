"""Name servers that answer from a list, without a network."""

from __future__ import annotations

import socket
from collections.abc import Sequence

import pytest

from motherlode.fetch import dns
from motherlode.fetch.dns import Answer


class FakeNames:
    """Gives the answers in turn, and then the last one again. No address means that the name does not exist."""

    def __init__(self, *answers: Sequence[str], ttl: float = 300.0) -> None:
        self._answers = list(answers)
        self._ttl = ttl
        self.asked = 0

    async def look_up(self, host: str) -> Answer:
        self.asked += 1
        addresses = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        if not addresses:
            raise socket.gaierror(socket.EAI_NONAME, "no such host")
        return Answer(tuple(addresses), self._ttl)

    async def close(self) -> None:
        """Do nothing."""


def use_names(monkeypatch: pytest.MonkeyPatch, *answers: Sequence[str], ttl: float = 300.0) -> FakeNames:
    """Let every resolver that is made from now on use these answers, whose TTL has no minimum."""
    names = FakeNames(*answers, ttl=ttl)
    monkeypatch.setattr(dns.NameServers, "look_up", lambda _, host: names.look_up(host))
    monkeypatch.setattr(dns, "MIN_TTL_SECONDS", 0.0)
    return names
