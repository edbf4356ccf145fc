"""Whether to wait: hosts that rest between two requests may be worth more than all that are awake.

A polite crawl may ask a host once a second or less. If it always took the best of what is awake, it would soon have
asked every host there is, and spent its budget of pages on the worst of them. So it remembers what each resting host
has to offer, and rather asks for nothing than for something that is worth much less.
"""

from __future__ import annotations

from motherlode.model import Policy
from motherlode.policy.arms import AwakeArms

_CHOOSY, _CHOOSY_WITHOUT_DELAY = 0.65, 0.85
"""How choosy a policy that `Waits` is where requests are scarce, and time is not."""


class Patient:
    """The part of a policy that `Waits`. It must be told of every arm that wakes, rests, or would be picked.

    >>> patient = Patient()
    >>> patient.choosy = 0.5
    >>> patient._rests("good.example", "an arm", 0.9)
    >>> patient._taken("another", 0.2), patient.awaited, patient._taken("another", 0.6)
    (None, 'good.example', 'another')
    """

    def __init__(self) -> None:
        self.choosy = 0.0
        """Rather wait for a host than take what is worth less than this share of what it promises; 0 takes anything."""
        self.awaited = ""
        """The host for whose sake the last pick gave nothing."""
        self._promised = AwakeArms()
        """What the best link of each resting host is worth."""
        self._picked = ""
        """The arm that was picked last, until it is known whether links are left in it."""

    def leave(self, host: str) -> None:
        """Do not wait for the host: it will not be awake soon, or nobody knows when."""
        self._promised.remove(host)

    def _wakes(self, host: str, arm: str) -> None:
        """Links wait in an arm, and its host may be asked."""
        if self.choosy:
            self._promised.remove(host)
            if arm == self._picked:
                self._picked = ""

    def _rests(self, host: str, arm: str, value: float | None) -> None:
        """An arm of this value, if it was awake, is used up or its host must rest."""
        if not self.choosy:
            return
        if arm == self._picked:  # its last link was taken
            self._picked = ""
        elif value is not None and value > (self._promised.value(host) or 0.0):
            self._promised.put(host, value)

    def _taken(self, arm: str | None, value: float) -> str | None:
        """The arm that is the best of those awake, if any is, unless a resting host is worth waiting for."""
        self.awaited = ""
        if arm is not None and self.choosy:
            host = self._promised.best()
            if host is not None and value < self.choosy * (self._promised.value(host) or 0.0):
                self.awaited = host
                return None
            self._picked = arm
        return arm


def usual_choosiness(delay: float) -> float:
    """How choosy a policy is if nobody says. Without a delay a host is back when it has answered: waiting costs little.

    >>> usual_choosiness(1.0) < usual_choosiness(0.0)
    True
    """
    return _CHOOSY if delay else _CHOOSY_WITHOUT_DELAY


def make_choosy(policy: Policy, choosy: float) -> None:
    """Let the policy wait for hosts that are worth it, if it is one that can."""
    if hasattr(policy, "choosy"):
        policy.choosy = choosy
