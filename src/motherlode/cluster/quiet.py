"""Is it over? When no shard has anything to do, and nothing is on its way that could give one of them something.

A shard is at rest when its frontier is empty, nothing is under way, and everything that it found for others is lasting
with them: a link on its way keeps its *sender* from being at rest. So one look at all shards at one moment would do,
but reports come at different moments. Hence two rounds, as in Mattern's four-counter method (1987): where every shard
was at rest in a first round, and again in a second that it began knowing that the first had ended, with not one
delivery in between, there was a moment between the two at which all were at rest at once.
"""

from __future__ import annotations

Mark = tuple[int, int]
"""Which incarnation of a shard, and how many deliveries it has taken."""


class Quiet:
    """
    >>> quiet = Quiet(2)
    >>> quiet.heard(0, (0, 5), knows=0), quiet.heard(1, (0, 3), knows=0), quiet.round
    (False, False, 1)
    >>> quiet.heard(0, (0, 5), knows=0), quiet.heard(1, (0, 3), knows=1), quiet.heard(0, (0, 5), knows=1)
    (False, False, True)
    """

    def __init__(self, shards: int) -> None:
        self._shards = shards
        self._first: dict[int, Mark] = {}
        self._second: set[int] = set()
        self.round = 0
        """Grows when a first round ends. Shards are told, and say with each report what they had been told before."""

    def heard(self, shard: int, mark: Mark | None, *, knows: int) -> bool:
        """A shard has reported; `mark` is None where it is not at rest. True when all is over."""
        if mark is None or self._first.get(shard, mark) != mark:
            self._first.clear()
            self._second.clear()
        if mark is None:
            return False
        if len(self._first) == self._shards:
            if knows == self.round:
                self._second.add(shard)
            return len(self._second) == self._shards
        self._first[shard] = mark
        self.round += len(self._first) == self._shards
        return False
