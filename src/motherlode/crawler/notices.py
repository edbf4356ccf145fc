"""Notices to the operator of a crawl: a webhook or a command, called on events. They never delay the crawl.

The table `[notices]` of a job names the receivers. A notice is a JSON object. A webhook gets it as the body of a POST,
through the address guard like every other request; the command gets it on stdin. Deliveries run beside the crawl, each
with a timeout, and failures are logged. At the end of the crawl pending deliveries have a few seconds left.
"""

from __future__ import annotations

import asyncio
import logging
import subprocess
import time
from collections import Counter, deque
from collections.abc import Callable

import msgspec

from motherlode.crawler.config.notice_settings import NoticeSettings
from motherlode.crawler.stats.counters import Counters
from motherlode.fetch import HttpFetcher, HttpOptions
from motherlode.model import FailureKind, Posting, Request, RequestKind, Visit

_LOG = logging.getLogger("motherlode.crawler")
_TIMEOUT_SECONDS = 10.0
_MAX_PENDING = 20
"""Maximum number of deliveries at the same time. Further notices are only logged."""
_MAX_PER_EVENT = 100
"""Maximum number of notices of one event in one run, so that a thousand challenged hosts send no thousand notices."""
_MIN_RELEVANT = 20
"""Number of relevant pages before a drop of the harvest rate means something."""


class Notice(msgspec.Struct, frozen=True, kw_only=True):
    """A message about an event of the crawl. Receivers get it as a JSON object."""

    event: str
    message: str
    """One sentence for people."""
    folder: str
    at: float
    """Time in seconds since the epoch."""
    fetched: int = 0
    relevant: int = 0
    host: str = ""
    """The challenged host; empty for other events."""


class HarvestDrop:
    """Notices that the harvest rate has dropped, once for each drop.

    >>> drop = HarvestDrop(requests=10, below=0.5)
    >>> any(drop.add(relevant=True) for _ in range(40))
    False
    >>> [number for number in range(20) if drop.add(relevant=False)]
    [5]
    """

    def __init__(self, *, requests: int, below: float) -> None:
        self._last: deque[bool] = deque(maxlen=requests)
        self._below = below
        self._relevant_in_last = 0
        self._before = [0, 0]
        """Requests, and relevant pages among them, before the last ones."""
        self._is_low = False

    def add(self, *, relevant: bool) -> bool:
        """Add a request. Return True if the rate has dropped below the limit with this request."""
        if len(self._last) == self._last.maxlen:
            oldest = self._last[0]
            self._before[0] += 1
            self._before[1] += oldest
            self._relevant_in_last -= oldest
        self._last.append(relevant)
        self._relevant_in_last += relevant
        requests, found = self._before
        if found < _MIN_RELEVANT or requests < len(self._last):
            return False
        was_low = self._is_low
        self._is_low = self.rate_now < self._below * found / requests
        return self._is_low and not was_low

    @property
    def rate_now(self) -> float:
        """The share of relevant pages among the last requests."""
        return self._relevant_in_last / len(self._last) if self._last else 0.0

    @property
    def rate_before(self) -> float:
        return self._before[1] / self._before[0] if self._before[0] else 0.0


class Notices:
    """Detects the events of a crawl and delivers notices of them."""

    def __init__(
        self,
        settings: NoticeSettings,
        *,
        folder: str,
        http_options: Callable[[], HttpOptions],
        is_one_run: bool = True,
    ) -> None:
        self._settings = settings
        self._folder = folder
        self._http_options = http_options
        self._is_one_run = is_one_run
        """Whether the end of a run is the end of the crawl. False for a shard and for a round of an endless refresh."""
        self._http: HttpFetcher | None = None
        self._totals = Counters()
        self._drop = HarvestDrop(requests=settings.drop_requests, below=settings.drop_below)
        self._challenged: set[str] = set()
        self._down_since: float | None = None
        self._sent: Counter[str] = Counter()
        self._deliveries: set[asyncio.Task[None]] = set()

    def start(self, totals: Counters) -> None:
        """Take the counters of the run that begins. The limit of notices per event starts again."""
        self._totals = totals
        self._sent.clear()

    def note_visit(self, visit: Visit) -> None:
        """Look at a visit for a challenged host and a drop of the harvest rate."""
        if visit.failure is FailureKind.CHALLENGED and visit.host not in self._challenged:
            self._challenged.add(visit.host)
            self.send("challenged", f"{visit.host} answers with a challenge page: {visit.detail}", host=visit.host)
        if not visit.refresh and self._drop.add(relevant=visit.relevant):
            now, before = self._drop.rate_now, self._drop.rate_before
            last = f"of the last {self._settings.drop_requests} requests {now:.1%} gave a relevant page"
            self.send("harvest-drop", f"the harvest rate has dropped: {last}, of those before {before:.1%}")

    def note_network(self, down_since: float | None) -> None:
        """Look at the time since which there has been no network; None if there is one."""
        if down_since == self._down_since:
            return
        was_down, self._down_since = self._down_since is not None, down_since
        if down_since is None:
            self.send("outage", "the network is there again")
        elif not was_down:
            self.send("outage", "no host answers: the network of this machine seems to be down; the crawl waits")

    def note_disk(self, message: str) -> None:
        """Send a warning about the disk."""
        self.send("disk", message)

    async def end_run(self, *, is_broken: bool) -> None:
        """Send the notice of the end, if the run is the whole crawl, and wait a little for pending deliveries."""
        if self._is_one_run:
            self.send_end(is_broken=is_broken)
            await self.close()

    def send_end(self, *, is_broken: bool = False) -> None:
        """Send the notice of the end of the crawl."""
        self.send("end", "the crawl ended with an error" if is_broken else "the crawl has ended")

    async def close(self) -> None:
        """Wait for pending deliveries, at most as long as one may take."""
        if self._deliveries:
            await asyncio.wait(self._deliveries, timeout=_TIMEOUT_SECONDS + 1)
        for task in self._deliveries:
            task.cancel()
        if self._http is not None:
            await self._http.close()
            self._http = None

    def send(self, event: str, message: str, *, host: str = "") -> None:
        """Start the delivery of a notice, if the settings name the event. This returns at once."""
        self._sent[event] += 1
        if event not in self._settings.events or self._sent[event] > _MAX_PER_EVENT:
            return
        _LOG.info("notice: %s: %s", event, message)
        if len(self._deliveries) >= _MAX_PENDING:
            _LOG.warning("the notice %s is not sent, because %d others are being sent", event, _MAX_PENDING)
            return
        totals = self._totals
        notice = Notice(
            event=event,
            message=message,
            folder=self._folder,
            at=time.time(),
            fetched=totals.fetched,
            relevant=totals.relevant,
            host=host,
        )
        task = asyncio.get_running_loop().create_task(self._deliver(msgspec.json.encode(notice), event))
        self._deliveries.add(task)
        task.add_done_callback(self._deliveries.discard)

    async def _deliver(self, body: bytes, event: str) -> None:
        deliveries = [self._post(body)] if self._settings.webhook else []
        if self._settings.command:
            deliveries.append(asyncio.to_thread(self._run_command, body))
        for problem in await asyncio.gather(*deliveries, return_exceptions=True):
            if problem:
                _LOG.warning("the notice %s was not delivered: %s", event, problem)

    async def _post(self, body: bytes) -> str:
        """Send a notice to the webhook. Return what went wrong, or ""."""
        if self._http is None:
            self._http = HttpFetcher(self._http_options())
        posting = Posting(body=body, headers={"Content-Type": "application/json"}, seconds=_TIMEOUT_SECONDS)
        request = Request(url=self._settings.webhook, kind=RequestKind.SUBREQUEST, accept="*/*", posting=posting)
        response = await self._http.fetch(request)
        if response.status is not None and 200 <= response.status < 300:
            return ""
        return f"the webhook gave {getattr(response, 'detail', '') or response.status}"

    def _run_command(self, body: bytes) -> str:
        """Run the command. Return what went wrong, or ""."""
        command = list(self._settings.command)
        try:
            done = subprocess.run(command, input=body, timeout=_TIMEOUT_SECONDS, check=False, stdout=subprocess.DEVNULL)
        except (OSError, subprocess.TimeoutExpired) as error:
            return f"{command[0]}: {error}"
        return f"{command[0]} ended with status {done.returncode}" if done.returncode else ""
