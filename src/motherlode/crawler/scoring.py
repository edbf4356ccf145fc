"""Scorers of the user at work: they score each page before its lease ends, and never stop the crawl.

A command gets one line of JSON per page on stdin and answers with one line on stdout. It is started at its first page,
kept running, and started again if it ends. A Python function runs in such a command (`function_scorer`). An endpoint
gets the same JSON as the body of a POST; its address is the user's own, so the address guard and the delays of hosts do
not apply. If a scorer gives no score for a page, the page has a problem, it is not relevant if the scorer is the
target, and the policy learns the mean reward of the crawl instead.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Protocol

import msgspec

from motherlode.crawler.engine.pipeline import NoScorers
from motherlode.crawler.parsing.messages import ParsedPage
from motherlode.fetch import HttpFetcher, HttpLimits, HttpOptions
from motherlode.model import Failure, Posting, Problem, Request, RequestKind
from motherlode.policies import Reward, Target
from motherlode.policies.scorers import (
    MAX_ANSWER_BYTES,
    ScorerError,
    ScorerKind,
    ScorerLimits,
    ScorerSpec,
    decode_answer,
    encode_page,
)
from motherlode.project import VERSION

_LOG = logging.getLogger("motherlode.crawler")
_CHECK_SECONDS = 120.0
"""Timeout for the import of a scorer function before the crawl. Models may take long to load."""
_MAX_PAUSE_SECONDS = 30.0
_MAX_LOGGED_CHARACTERS = 500
_ALL_ADDRESSES = ("0.0.0.0/0", "::/0")


class ScorerClient(Protocol):
    """Gets the scores of pages from one scorer."""

    async def score(self, message: bytes) -> float:
        """Return the score for an encoded page. Raise ScorerError if the scorer gives no score."""
        ...

    async def close(self) -> None: ...


class Pause:
    """Keeps a broken scorer from being asked for every page: after each failure in a row the pause doubles."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._failures = 0
        self._until = 0.0

    def check(self) -> None:
        """Raise ScorerError during a pause."""
        rest = self._until - self._clock()
        if rest > 0:
            raise ScorerError(f"it has failed {self._failures} times in a row, and is asked again in {rest:.0f} s")

    def note_failure(self) -> None:
        """Begin a pause. The first failure has none, because the page may be its cause."""
        self._failures += 1
        if self._failures > 1:
            self._until = self._clock() + min(_MAX_PAUSE_SECONDS, 0.5 * 2 ** (self._failures - 2))

    def note_answer(self) -> None:
        self._failures = 0


# ── commands


class ScorerProcess:
    """One process of a command. It is started when it is needed."""

    def __init__(self, command: Sequence[str], seconds: float, pause: Pause) -> None:
        self._command = command
        self._seconds = seconds
        self._pause = pause
        self._process: asyncio.subprocess.Process | None = None
        self._logger: asyncio.Task[None] | None = None

    async def ask(self, message: bytes) -> float:
        """Return the score of a page. A process that ends is started again, once for each page."""
        self._pause.check()
        try:
            answer = await self._exchange(message)
        except EOFError:
            answer = await self._try_again(message)
        self._pause.note_answer()
        try:
            return decode_answer(answer)
        except ScorerError:
            if not answer.lstrip().startswith((b"{", b"-", *(b"%d" % digit for digit in range(10)))):
                await self.end()  # not the protocol: a later answer could belong to an earlier page
            raise

    async def _try_again(self, message: bytes) -> bytes:
        try:
            return await self._exchange(message)
        except EOFError as error:
            self._pause.note_failure()
            raise ScorerError(f"{error}, twice for this page") from None

    async def _exchange(self, message: bytes) -> bytes:
        """Send a page and return the answer. Raise EOFError if the process ended. Any error ends the process."""
        is_done = False
        try:
            async with asyncio.timeout(self._seconds):
                answer = await self._send(message)
            is_done = True
        except TimeoutError:
            self._pause.note_failure()
            raise ScorerError(f"no answer within {self._seconds:g} s; it is started again") from None
        except ScorerError:
            raise
        except ValueError:
            raise ScorerError(f"the answer is longer than {MAX_ANSWER_BYTES:,} bytes") from None
        except FileNotFoundError as error:
            self._pause.note_failure()
            raise ScorerError(f"it cannot be started: {error}") from None
        except (OSError, RuntimeError) as error:  # uvloop raises RuntimeError instead of BrokenPipeError
            raise EOFError(f"it ended: {error}") from error
        finally:
            if not is_done:
                await self.end()
        return answer

    async def _send(self, message: bytes) -> bytes:
        process = self._process
        if process is None or process.returncode is not None:
            process = await self._start()
        assert process.stdin is not None
        assert process.stdout is not None
        if await _has_output(process.stdout):
            raise ScorerError("it wrote more than one line for a page; it is started again")
        process.stdin.write(message + b"\n")
        await process.stdin.drain()
        answer = await process.stdout.readline()
        if not answer.endswith(b"\n"):
            raise EOFError(f"it ended with status {await process.wait()}")
        return answer

    async def _start(self) -> asyncio.subprocess.Process:
        await self.end()
        process = await asyncio.create_subprocess_exec(
            *self._command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            limit=MAX_ANSWER_BYTES,
            start_new_session=True,  # Ctrl-C reaches only the crawl, and the children of the command end with it
        )
        self._process = process
        self._logger = asyncio.create_task(_log_errors(process))
        return process

    async def end(self) -> None:
        """Kill the process and its children, if there is one."""
        process, logger, self._process, self._logger = self._process, self._logger, None, None
        if process is None:
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        if process.stdout is not None:  # asyncio (3.11) waits for the end of the pipe, too, even if it reads no more
            while await process.stdout.read(MAX_ANSWER_BYTES):
                pass
        await process.wait()
        if logger is not None:
            await asyncio.wait([logger], timeout=1.0)
            logger.cancel()


async def _has_output(stream: asyncio.StreamReader) -> bool:
    """Return whether the command has written something without a request, perhaps not yet a whole line."""
    try:
        async with asyncio.timeout(0):
            return bool(await stream.read(MAX_ANSWER_BYTES))
    except TimeoutError:
        return False


async def _log_errors(process: asyncio.subprocess.Process) -> None:
    """Write what a command prints on stderr to the log of the crawl."""
    assert process.stderr is not None
    while chunk := await process.stderr.read(4096):
        _LOG.info(
            "scorer (pid %d): %s", process.pid, chunk.decode("utf-8", "replace")[:_MAX_LOGGED_CHARACTERS].rstrip()
        )


class CommandClient:
    """Gets scores from processes of a command. Each process scores one page at a time."""

    def __init__(self, command: Sequence[str], limits: ScorerLimits) -> None:
        pause = Pause()
        self._processes = [ScorerProcess(command, limits.seconds, pause) for _ in range(limits.workers)]
        self._free: asyncio.LifoQueue[ScorerProcess] = asyncio.LifoQueue()
        for process in self._processes:
            self._free.put_nowait(process)

    async def score(self, message: bytes) -> float:
        """Return the score for an encoded page. Raise ScorerError if the scorer gives no score."""
        process = await self._free.get()
        try:
            return await process.ask(message)
        finally:
            self._free.put_nowait(process)

    async def close(self) -> None:
        for process in self._processes:
            await process.end()


def command_of(scorer: ScorerSpec) -> list[str]:
    """Return program and arguments of a command. Functions run in a Python process of ours."""
    if scorer.is_function:
        return [sys.executable, "-m", "motherlode.crawler.function_scorer", scorer.text]
    return shlex.split(scorer.name)


# ── endpoints


class ScorerEndpoint:
    """Gets scores from an HTTP endpoint of the user."""

    def __init__(self, url: str, limits: ScorerLimits) -> None:
        self._url = url
        self._seconds = limits.seconds
        self._free = asyncio.Semaphore(limits.workers)
        self._pause = Pause()
        self._http = HttpFetcher(
            HttpOptions(
                user_agent=f"Motherlode/{VERSION}",
                limits=HttpLimits(whole=limits.seconds, first_byte=limits.seconds, body=MAX_ANSWER_BYTES),
                allow=_ALL_ADDRESSES,
                useful=("application/*", "text/*"),
            )
        )

    async def score(self, message: bytes) -> float:
        """Return the score for an encoded page. Raise ScorerError if the scorer gives no score."""
        posting = Posting(body=message, headers={"Content-Type": "application/json"}, seconds=self._seconds)
        request = Request(url=self._url, kind=RequestKind.SUBREQUEST, accept="application/json", posting=posting)
        async with self._free:
            self._pause.check()
            response = await self._http.fetch(request)
        if isinstance(response, Failure):
            self._pause.note_failure()
            raise ScorerError(f"{response.kind.value}: {response.detail}")
        self._pause.note_answer()
        return decode_answer(response.body)

    async def close(self) -> None:
        await self._http.close()


# ── the scorers of a crawl


class Scorers:
    """The scorers of a crawl: that of its target and that of its reward, which may be the same."""

    is_wanted = True

    def __init__(self, target: Target, reward: Reward, limits: ScorerLimits) -> None:
        self._target = target
        self._reward = reward
        self._limits = limits
        wanted = dict.fromkeys(one for one in (target.scorer, reward.scorer) if one is not None)
        self._clients: dict[ScorerSpec, ScorerClient] = {one: make_client(one, limits) for one in wanted}

    async def score(self, url: str, parsed: ParsedPage) -> ParsedPage:
        """Return the page with its relevance and score, and with a problem for each scorer that failed."""
        message = encode_page(
            url,
            kind=parsed.kind,
            counts=parsed.counts,
            text=parsed.text,
            quads=parsed.graph_quads,
            max_bytes=self._limits.max_bytes,
        )
        scores = {scorer: await self._ask(scorer, message) for scorer in self._clients}
        found = {scorer: score for scorer, score in scores.items() if isinstance(score, float)}
        target, reward = self._target, self._reward
        return msgspec.structs.replace(
            parsed,
            relevant=target.accepts(found.get(target.scorer)) if target.scorer is not None else parsed.relevant,
            score=None if reward.scorer is None else found.get(reward.scorer),
            is_unscored=len(found) < len(scores),
            problems=(*parsed.problems, *(score for score in scores.values() if isinstance(score, Problem))),
            text="",
        )

    async def _ask(self, scorer: ScorerSpec, message: bytes) -> float | Problem:
        try:
            return await self._clients[scorer].score(message)
        except ScorerError as error:
            return Problem(syntax=None, message=f"the scorer gave no score: {error}")

    async def close(self) -> None:
        for client in self._clients.values():
            await client.close()


def make_client(scorer: ScorerSpec, limits: ScorerLimits) -> ScorerClient:
    """Return the client of a scorer."""
    if scorer.kind is ScorerKind.ENDPOINT:
        return ScorerEndpoint(scorer.name, limits)
    return CommandClient(command_of(scorer), limits)


def make_scorers(target: Target, reward: Reward, limits: ScorerLimits) -> Scorers | NoScorers:
    """Return the scorers that target and reward need."""
    return NoScorers() if target.scorer is None and reward.scorer is None else Scorers(target, reward, limits)


def check_scorers(target: Target, reward: Reward) -> None:
    """Raise ValueError if a function cannot be imported or a command does not exist. Endpoints are not checked."""
    for scorer in {target.scorer, reward.scorer} - {None}:
        if scorer is not None and (problem := _find_problem(scorer)):
            raise ValueError(problem)


@lru_cache(maxsize=8)
def _find_problem(scorer: ScorerSpec) -> str:
    if scorer.kind is ScorerKind.ENDPOINT:
        return ""
    command = command_of(scorer)
    if not scorer.is_function:
        found = shutil.which(command[0])
        return "" if found else f"the command of the scorer {scorer.text} does not exist: {command[0]}"
    try:
        # stdin is empty, so the process ends as soon as it has imported the function
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=_CHECK_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return f"the scorer {scorer.text} cannot be imported within {_CHECK_SECONDS:.0f} s"
    last = done.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]
    return "" if done.returncode == 0 else last or f"the scorer {scorer.text} ended with status {done.returncode}"
