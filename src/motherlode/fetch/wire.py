"""One connection, on which one question after the other is asked and answered, each within its time."""

from __future__ import annotations

import asyncio
import socket
import ssl
import struct
from contextlib import suppress
from typing import NamedTuple, Protocol, cast

from motherlode.fetch.parsing import AnswerParser, Receiver
from motherlode.fetch.trouble import NO_GOODBYE, TOO_LATE, Trouble, described, securing
from motherlode.model import FailureKind

_TICK = 0.002
"""Seconds by which an event loop may call too early."""
_LONG = 1 << 17
"""Bytes that came at once, so that there are most likely more."""
_NOT_AT_ALL = struct.pack("ii", 1, 0)
"""How long a closed socket may linger over what it has to send."""
_CUT_OFF = Trouble(FailureKind.RESET, "the server closed the connection")


class Question(NamedTuple):
    """A request that is ready to be sent."""

    sent: bytes
    receiver: Receiver
    deadline: float
    """The event loop's time at which the whole answer must be there."""
    head_only: bool
    """No body belongs to its answer."""
    repeatable: bool
    """To send it twice does no harm (RFC 9110, 9.2.2)."""


class Keeper(Protocol):
    """Whoever wants to know which wires are open."""

    def made(self, wire: Wire) -> None: ...

    def lost(self, wire: Wire) -> None: ...


class Wire(asyncio.Protocol):
    """An HTTP/1.1 connection. `reusable` is true only between two answers, and only while nothing speaks against it."""

    def __init__(self, *, silence: float, keeper: Keeper) -> None:
        self.reusable = False
        self.was_answered = False
        """A byte came in answer to the last question."""
        self._silence = silence
        """Seconds without a byte that are borne."""
        self._keeper = keeper
        self._loop = asyncio.get_running_loop()
        self._parser = AnswerParser()
        self._transport: asyncio.Transport | None = None
        self._peer = ""
        self._waiter: asyncio.Future[Trouble | None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._heard = 0.0
        self._deadline = 0.0
        self._said_goodbye = False
        """The server ended the connection as it should: under TLS with a message that nobody else can send."""

    def ask(self, question: Question) -> asyncio.Future[Trouble | None]:
        """None once the receiver has its answer, or why it has none."""
        self._waiter = waiter = self._loop.create_future()
        self.reusable = self.was_answered = False
        if self._transport is None or self._transport.is_closing():
            self._end(_CUT_OFF)
            return waiter
        question.receiver.peer = self._peer
        self._parser.begin(question.receiver, head_only=question.head_only)
        self._heard, self._deadline = self._loop.time(), question.deadline
        self._timer = self._loop.call_at(min(self._deadline, self._heard + self._silence), self._look_at_the_clock)
        self._transport.write(question.sent)
        return waiter

    def abort(self) -> None:
        """End the connection at once, whatever is under way."""
        self.reusable = False
        if self._transport is not None:
            if self._waiter is not None and not self.was_answered:
                self._take_back()
            self._transport.abort()

    def _take_back(self) -> None:
        """A question that was not answered is not to be delivered any more. The system would keep what has not arrived
        and send it when the network is back, beside what is asked then."""
        sock = None if self._transport is None else self._transport.get_extra_info("socket")
        if sock is not None:
            with suppress(OSError):  # it is gone already
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _NOT_AT_ALL)

    def _look_at_the_clock(self) -> None:
        """One timer serves both limits: what is heard moves it only when it rings."""
        now = self._loop.time()
        if self._transport is not None and self._transport.get_write_buffer_size():
            self._heard = now  # the server is still listening
        due = min(self._deadline, self._heard + self._silence)
        if due - now < _TICK:
            self._end(TOO_LATE)
        else:
            self._timer = self._loop.call_at(due, self._look_at_the_clock)

    def _give_way(self) -> None:
        """Let others have their turn: from a server that sends without pause, uvloop reads 32 times before it does."""
        assert self._transport is not None  # bytes came over it
        self._transport.pause_reading()
        self._loop.call_soon(self._read_on)

    def _read_on(self) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._transport.resume_reading()

    def _end(self, trouble: Trouble | None) -> None:
        if trouble is not None and not self.was_answered:
            self._take_back()
        waiter, self._waiter = self._waiter, None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        transport = self._transport
        if trouble is None and self._parser.clean and transport is not None and not transport.is_closing():
            self.reusable = not transport.get_write_buffer_size()
        self._parser.end()
        if not self.reusable:
            self.abort()
        if waiter is not None and not waiter.done():
            waiter.set_result(trouble)

    # What follows is called by the event loop.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # uvloop's own are no subclass of it
        place = transport.get_extra_info("peername")
        self._peer = str(place[0]) if place else ""
        self._keeper.made(self)

    def data_received(self, data: bytes) -> None:
        if self._waiter is None:
            self.abort()  # nobody has asked: it could only be taken for the answer to the next question
            return
        self._heard = self._loop.time()
        self.was_answered = True
        wrong = self._parser.feed(data)
        if wrong:
            self._end(Trouble(FailureKind.PROTOCOL, wrong))
        elif self._parser.done:
            self._end(None)
        elif len(data) >= _LONG:
            self._give_way()

    def eof_received(self) -> None:
        self.reusable = False
        self._said_goodbye = True

    def connection_lost(self, error: Exception | None) -> None:
        self._transport = None
        self.reusable = False
        if self._waiter is not None:
            self._end(self._why_lost(error))
        self._keeper.lost(self)

    def _why_lost(self, error: Exception | None) -> Trouble | None:
        """None where the end of the connection is that of the answer."""
        if isinstance(error, ssl.SSLError) and not self.was_answered:
            return securing(error)
        if error is not None:
            return Trouble(FailureKind.RESET, described(error))
        if not (self.was_answered and self._parser.ends_by_close):
            return _CUT_OFF
        return None if self._said_goodbye else NO_GOODBYE
