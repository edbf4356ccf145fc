"""The same crawl picks the same pages in every process, whatever the order of Python's sets; late feedback is borne."""

from __future__ import annotations

import os
import subprocess
import sys

from motherlode.policies import policy_from, target_from
from motherlode.sim.simulator import Simulation, Timing
from motherlode.sim.synthetic.adapter import SyntheticSimWeb

_PICKS = """
import hashlib
from motherlode.policies import policy_from, target_from
from motherlode.sim.simulator import Simulation
from motherlode.sim.synthetic.adapter import SyntheticSimWeb
web = SyntheticSimWeb(pages=1000, seed=5, target=target_from("any"))
simulation = Simulation(web, policy_from("motherlode"), scope=lambda url: "")
picks = simulation.run(web.home_pages(), pages=300, keep_picks=True).picks
print(hashlib.sha256(" ".join(picks).encode()).hexdigest())
"""


def test_picks_do_not_depend_on_the_hash_seed_of_the_process() -> None:
    outputs = {
        subprocess.run(
            [sys.executable, "-c", _PICKS],
            env={**os.environ, "PYTHONHASHSEED": seed},
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(outputs) == 1


def test_policy_leads_with_64_requests_in_flight() -> None:
    timing = Timing(in_flight=64, latency=1.0)
    web = SyntheticSimWeb(pages=5000, seed=504, target=target_from("any"))

    def finds(policy: str) -> int:
        simulation = Simulation(web, policy_from(policy, 1), scope=lambda url: "", timing=timing)
        return simulation.run(web.home_pages(), pages=600).relevant

    assert finds("motherlode") > finds("bandit:success-rate") > finds("bfs")
