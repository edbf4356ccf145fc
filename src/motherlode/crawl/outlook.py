"""Whether there is a network at all: told from who answers and who does not. Pure; `now` is any clock that only rises.

A failure in which nothing came back may be the host's or our own. So it is not judged at once: it waits until somebody
else has answered, which takes moments in a crawl that goes well, and counts then. Where hosts in several networks are
silent and nobody answers for some seconds more, the crawl *stands still*: nothing new begins, and hosts that have
answered before are asked as witnesses. If one answers, the silent ones are dead, and their failures count. If none
does, there is no network: what has failed goes back uncounted, and witnesses are asked now and then until one answers.

Dead hosts must not keep a crawl from ending. Fewer networks than `ENOUGH` never raise a doubt. After each doubt that
came to nothing, and each outage that is over, silence is believed for a time that doubles, and counts. Where nobody
has ever answered, or so few that all may have died, the hosts are taken for dead after ten minutes. Otherwise the crawl
ends after a day, with its frontier whole.

>>> outlook = Outlook(unit=15.0)
>>> outlook.heard(0.0)
>>> for number in range(3):
...     outlook.silent(f"198.51.{number}", now=20.0)
>>> outlook.ask_at, outlook.verdict(began=19.0, ended=20.0, now=20.0)
(25.0, <Verdict.WAITS: 'waits'>)
>>> outlook.asking()
>>> outlook.asked_in_vain(26.0, enough_witnesses=True)
>>> outlook.since, outlook.verdict(began=19.0, ended=20.0, now=26.0)
(20.0, <Verdict.UNCOUNTED: 'uncounted'>)
>>> outlook.heard(400.0)
>>> outlook.since is None, outlook.outages, outlook.seconds(500.0)
(True, 1, 380.0)
"""

from __future__ import annotations

from enum import Enum
from math import inf

from motherlode.www.urls import registrable_domain

ENOUGH = 3
"""Networks that must be silent before it can be our own, and witnesses in so many must once have answered."""
_GRACE = 1 / 3
"""Units of the retry wait, five seconds by default, in which others may answer before witnesses are asked."""
_LONGEST_PAUSE = 20.0
"""Units: the longest time between two questions to witnesses, and the longest for which silence is believed."""
_FORGOTTEN = 240.0
"""Units after which a doubt no longer makes the next one less likely."""
_PATIENCE = 5760.0
"""Units, a day by default, for which a network that was there is waited for."""
_PATIENCE_WITHOUT_WITNESSES = 40.0


class Verdict(Enum):
    """What a failure in which nothing came back means for its page and its host."""

    COUNTS = "counts"
    WAITS = "waits"
    """Nobody can tell yet."""
    UNCOUNTED = "uncounted"


def network_of(address: str, host: str) -> str:
    """What fails together: neighbours in one network, or the names below one domain where no address is known.

    >>> network_of("198.51.100.7", "a.example"), network_of("2001:db8:1:2::7", ""), network_of("", "www.b.example:81")
    ('198.51.100', '2001:db8:1', 'b.example')
    """
    if not address:
        return registrable_domain(host)
    return ":".join(address.split(":")[:3]) if ":" in address else address.rpartition(".")[0] or address


class Outlook:
    """Is told of every answer and of every silence; `unit` is the configured retry wait in seconds."""

    def __init__(self, *, unit: float) -> None:
        self._unit = unit
        self._heard_at = -inf
        self._silences: dict[str, float] = {}
        """Networks that were silent since somebody answered, and when first."""
        self._rounds = 0
        """How often witnesses were asked in vain."""
        self._ask_at = inf
        self._asking = False
        """Witnesses are being asked."""
        self._alarms, self._alarm_at = 0, -inf
        self._believed_until = -inf
        self._over_at = -inf
        self._before = 0.0
        """Seconds of the outages that are over."""
        self._resigned = False
        """Nobody ever answers: the hosts are taken for dead."""
        self.since: float | None = None
        """When the first was silent, while there is no network."""
        self.outages = 0

    # ── what is told ─────────────────────────────────────────────────────────────────────────────────

    def heard(self, now: float) -> None:
        """Somebody answered: there is a network."""
        if self.since is not None:
            self._before, self._over_at = self.seconds(now), now
        if self.since is not None or self._asking:
            self._believe(now)
        self._heard_at, self.since, self._resigned = now, None, False
        self._silences.clear()
        self._rounds, self._ask_at, self._asking = 0, inf, False

    def silent(self, network: str, now: float) -> None:
        """A host in this network was asked, and nothing came back."""
        if now < self._believed_until or self._resigned:
            return
        self._silences.setdefault(network, now)
        if self._is_doubtful and self._ask_at == inf and not self._asking:
            self._ask_at = now + _GRACE * self._unit

    def asking(self) -> None:
        """Witnesses are asked from now on."""
        self._asking, self._ask_at = True, inf

    def asked_in_vain(self, now: float, *, enough_witnesses: bool) -> None:
        """No witness answered, or there is none."""
        if not self._asking:
            return  # somebody has answered meanwhile
        self._asking = False
        if self.since is None:
            self.since = min(self._silences.values())
            self.outages += 1
        self._rounds += 1
        self._ask_at = now + self._unit * min(2.0 ** (self._rounds - 1), _LONGEST_PAUSE)
        if not enough_witnesses and now >= self.since + _PATIENCE_WITHOUT_WITNESSES * self._unit:
            self._before, self.since, self._resigned = self.seconds(now), None, True
            self._silences.clear()
            self._ask_at = inf

    def _believe(self, now: float) -> None:
        """A doubt soon after another is less likely to be more than dead hosts."""
        forgotten = now - self._alarm_at > _FORGOTTEN * self._unit
        self._alarms, self._alarm_at = 1 if forgotten else self._alarms + 1, now
        self._believed_until = now + self._unit * min(2.0 ** min(self._alarms, 10), _LONGEST_PAUSE)

    # ── what follows ─────────────────────────────────────────────────────────────────────────────────

    @property
    def _is_doubtful(self) -> bool:
        return len(self._silences) >= ENOUGH

    @property
    def stands_still(self) -> bool:
        """Nothing new is to begin: witnesses are being asked, or none has answered."""
        return self._asking or self.since is not None

    @property
    def ask_at(self) -> float:
        """When witnesses are to be asked; infinite where there is nothing to ask them."""
        return self._ask_at

    def is_spent(self, now: float) -> bool:
        """Enough was waited for a network that was there."""
        return self.since is not None and now >= self.since + _PATIENCE * self._unit

    @property
    def silent_networks(self) -> frozenset[str]:
        return frozenset(self._silences)

    def seconds(self, now: float) -> float:
        """Without a network, in all."""
        return self._before + (0.0 if self.since is None else now - self.since)

    def verdict(self, *, began: float, ended: float, now: float) -> Verdict:
        """Of a request in which nothing came back, by its times."""
        if self.since is not None or began <= self._over_at:
            return Verdict.UNCOUNTED
        if self._resigned or self._heard_at > ended or ended < self._believed_until:
            return Verdict.COUNTS
        if not self._is_doubtful and now >= ended + self._unit:
            return Verdict.COUNTS  # too few were asked for anybody to tell
        return Verdict.WAITS
