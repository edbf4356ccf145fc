"""Whether to wait: hosts that rest between two requests may be worth more than all that are awake.

A polite crawl may ask a host once a second or less. If it always took the best of what is awake, it would soon have
asked every host there is, and spent its budget of pages on the worst of them. So it remembers what each resting host
has to offer, and rather asks for nothing than for something that is worth much less.
"""

from __future__ import annotations

from motherlode.policy.arms import AwakeArms


class RestingHosts:
    """What hosts promise that have links waiting and may not be asked now.

    >>> resting = RestingHosts()
    >>> resting.rests("good.example", 0.9); resting.rests("good.example", 0.1)
    >>> resting.better_than(0.2, choosy=0.5), resting.better_than(0.6, choosy=0.5)
    ('good.example', None)
    >>> resting.wakes("good.example"); resting.better_than(0.2, choosy=0.5) is None
    True
    """

    def __init__(self) -> None:
        self._values = AwakeArms()

    def rests(self, host: str, value: float) -> None:
        """A link of such a value waits at a host that has just gone to rest."""
        known = self._values.value(host)
        if known is None or value > known:
            self._values.put(host, value)

    def wakes(self, host: str) -> None:
        """The host may be asked again, or there is no telling when."""
        self._values.remove(host)

    def better_than(self, value: float, *, choosy: float) -> str | None:
        """The host that promises most, if what is at hand is worth less than the share `choosy` of that."""
        host = self._values.best()
        promised = self._values.value(host) if host is not None else None
        return host if promised is not None and value < choosy * promised else None
