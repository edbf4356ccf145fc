from __future__ import annotations

from random import Random

from motherlode.cluster.shard_messages import TerminationDetector

SHARDS = 3


class Web:
    """Shards that pass work around; a report is a picture of one shard, and may arrive late."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self.work = [random.randrange(4) for _ in range(SHARDS)]
        self.deliveries = [0] * SHARDS
        self.told = [0] * SHARDS
        self.under_way: list[tuple[int, tuple[int, int] | None, int]] = []

    def over(self) -> bool:
        return not any(self.work)

    def step(self, quiet: TerminationDetector, *, generous: float) -> bool:
        shard = self._random.randrange(SHARDS)
        action = self._random.randrange(3)
        if action == 0 and self.work[shard]:
            self.work[shard] -= 1
            if self._random.random() < generous:  # one turn gives a link to another shard
                other = self._random.randrange(SHARDS)
                self.work[other] += 1
                self.deliveries[other] += 1
        elif action == 1 and not any(sender == shard for sender, _, _ in self.under_way):
            mark = None if self.work[shard] else (0, self.deliveries[shard])
            self.under_way.append((shard, mark, self.told[shard]))
        elif action == 2 and self.under_way:
            report = self.under_way.pop(self._random.randrange(len(self.under_way)))
            done = quiet.heard(report[0], report[1], knows=report[2])
            self.told[report[0]] = quiet.round
            return done
        return False


def test_it_is_never_over_too_soon_and_is_over_in_the_end() -> None:
    for seed in range(400):
        web, quiet = Web(Random(seed)), TerminationDetector(SHARDS)
        for step in range(5000):
            if web.step(quiet, generous=0.8 if step < 300 else 0.0):
                assert web.over(), seed
                break
        else:
            raise AssertionError(f"seed {seed}: it was over, and nobody noticed")


def test_a_shard_that_was_started_again_begins_a_new_round() -> None:
    quiet = TerminationDetector(2)
    quiet.heard(0, (0, 1), knows=0)
    quiet.heard(1, (0, 1), knows=0)
    assert not quiet.heard(0, (0, 1), knows=1)
    assert not quiet.heard(1, (1, 0), knows=1), "another incarnation is another mark"
    assert not quiet.heard(0, (0, 1), knows=1)
