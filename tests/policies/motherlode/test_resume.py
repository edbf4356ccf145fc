"""A crawl that is resumed picks what it would have picked without the interruption."""

from __future__ import annotations

import msgspec
import pytest

from motherlode.model import Link, LinkSource, Outcome
from motherlode.policies import target_from
from motherlode.policies.motherlode import Motherlode
from motherlode.policies.motherlode.arm_key import ArmKeyBuilder
from motherlode.sim.simulator import Simulation
from motherlode.sim.synthetic.adapter import SyntheticSimWeb


class Interrupted(Motherlode):
    """Before each pick from a number of picks on, it continues with the saved state of itself."""

    def __init__(self, *, after: int) -> None:
        super().__init__()
        self._left = after
        self._ready_calls: dict[str, tuple[float, int]] = {}

    def arm_ready(self, arm: str, best: float, waiting: int) -> None:
        self._ready_calls.pop(arm, None)
        self._ready_calls[arm] = (best, waiting)
        super().arm_ready(arm, best, waiting)

    def arm_snoozed(self, arm: str) -> None:
        self._ready_calls.pop(arm, None)
        super().arm_snoozed(arm)

    def pick(self) -> str | None:
        self._left -= 1
        if self._left == 0:
            restored = Motherlode()
            restored.load(self.dump())
            # arms with equal values are picked in the order of these calls
            order = [arm for name in self._ready.values(1 << 30) for arm in self._groups.get(name, (name,))]
            self.__dict__.update(restored.__dict__)
            for arm in order:
                super().arm_ready(arm, *self._ready_calls[arm])
        return super().pick()


@pytest.mark.parametrize("after", [60, 250])
def test_resumed_crawl_picks_what_uninterrupted_crawl_picks(after: int) -> None:
    web = SyntheticSimWeb(pages=3000, seed=77, target=target_from("jsonld"))
    picks = [
        Simulation(web, policy, scope=lambda url: "").run(web.home_pages(), pages=500, keep_picks=True).picks
        for policy in (Motherlode(), Interrupted(after=after))
    ]
    assert picks[0] == picks[1]


def test_states_of_earlier_versions_are_read() -> None:
    """They had the number of links, by which links of one arm were ordered."""
    policy = Motherlode()
    arm = policy.rate([Link(url="https://a.example/x.html", source=LinkSource.ANCHOR)], None)[0].arm
    policy.learn(Outcome(url="https://a.example/x.html", host="a.example", arm=arm, relevant=True, reward=1.0))
    state = msgspec.msgpack.decode(policy.dump())
    for earlier in ({"count": 7, **state}, (7, state["statistics"])):
        restored = Motherlode()
        restored.load(msgspec.msgpack.encode(earlier))
        assert restored.probability(arm) == policy.probability(arm) > 0.5


def test_query_parameter_stays_generalized_after_restart() -> None:
    builder = ArmKeyBuilder()
    builder.arms_of_tried_host("a.example")
    for word in "abcdefghij":
        builder.arm(Link(url=f"https://a.example/x.php?title={word * 3}", source=LinkSource.ANCHOR), None)
    restored = ArmKeyBuilder()
    restored.restore(builder.save())
    new = Link(url="https://a.example/x.php?title=new", source=LinkSource.ANCHOR)
    assert restored.arm(new, None) == builder.arm(new, None)
    assert "title=" not in restored.arm(new, None)
