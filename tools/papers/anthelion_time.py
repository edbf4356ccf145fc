"""Anthelion, Figure 9: the time to select a page, by the number of hosts."""

from __future__ import annotations

import time

from tools.papers.lab import Lab
from tools.papers.markdown import claims, note, section, table

from motherlode.crawler.report.plot import Axes, Curve
from motherlode.model import Link, LinkSource, Outcome
from motherlode.policies import policy_from

FUNCTIONS = {
    "Random": "random",
    "Success Rate": "bandit:success-rate:0",
    "Success Rate · Best Score": "bandit:success-best-score:0",
    "Absolute Good · Best Score": "bandit:good-best-score:0",
    "Negative Absolute Bad": "bandit:negative-bad:0",
    "Best Score": "bandit:best-score:0",
    "Thompson Sampling": "bandit:thompson:0",
    "Thompson Sampling · Best Score": "bandit:thompson-best-score:0",
}
PUBLISHED = {name: "up to 300 ms" if "Thompson" in name else "below 50 ms" for name in FUNCTIONS}
"""Section 5.4, on 455,848 hosts; the paper gives no numbers for the curves."""
_PICKS = 2000
_SECONDS = 2.0
"""A measurement ends after this many picks or seconds."""


def pick_time(*, policy: str, hosts: int) -> float:
    """Return the microseconds of CPU for one pick and its outcome; all hosts are ready, a tenth have statistics."""
    chosen = policy_from(policy, 0)
    links = [
        Link(url=f"http://h{number}.example/page/{number % 97}", source=LinkSource.SEED) for number in range(hosts)
    ]
    ratings = {rating.arm: rating for rating in chosen.rate(links, None)}
    for number, (arm, rating) in enumerate(ratings.items()):
        if number % 10 == 0:
            chosen.learn(_outcome(arm, rating.policy_state, relevant=number % 30 == 0))
        chosen.arm_ready(arm, rating.score, 1)
    began, picks = time.process_time(), 0
    while picks < _PICKS and time.process_time() - began < _SECONDS:
        picked = chosen.pick()
        assert picked is not None
        chosen.arm_snoozed(picked)
        chosen.learn(_outcome(picked, ratings[picked].policy_state, relevant=picks % 3 == 0))
        chosen.arm_ready(picked, ratings[picked].score, 1)
        picks += 1
    return 1e6 * (time.process_time() - began) / picks


def _outcome(host: str, policy_state: bytes, *, relevant: bool) -> Outcome:
    return Outcome(
        url=f"http://{host}/",
        host=host,
        arm=host,
        policy_state=policy_state,
        score=0.5,
        reward=float(relevant),
        relevant=relevant,
    )


def figure_9(lab: Lab) -> str:
    sizes = lab.scale.hosts
    asked = [{"policy": policy, "hosts": hosts} for policy in FUNCTIONS.values() for hosts in sizes]
    answers = iter(lab.run(pick_time, asked))
    found = {name: {hosts: next(answers) for hosts in sizes} for name in FUNCTIONS}
    rows = [(name, PUBLISHED[name], *(f"{times[hosts]:,.0f}" for hosts in sizes)) for name, times in found.items()]
    curves = [
        Curve(name=name, points=tuple((hosts, round(times[hosts])) for hosts in sizes)) for name, times in found.items()
    ]
    largest = sizes[-1]
    drawn = {name: times[largest] for name, times in found.items() if "Thompson" in name}
    others = {name: times[largest] for name, times in found.items() if "Thompson" not in name}
    grown = {name: found[name][largest] / found[name][sizes[0]] for name in others}
    here = "generated hosts"
    return section(
        "### Figure 9: time to select a page",
        "Microseconds of CPU to pick a host, learn from the outcome and make the host ready again, by the number of "
        "waiting hosts. The paper's web has 455,848 hosts, and its figure shows the time over the whole crawl; the "
        "paper gives only the bounds.",
        table(("function", "published", *(f"{hosts:,} hosts, µs" for hosts in sizes)), rows),
        claims(
            [
                ("functions without sampling take less than 50 ms", {here: max(others.values()) < 50_000}),
                ("sampling takes longer than all others", {here: min(drawn.values()) > max(others.values())}),
                ("sampling stays within 300 ms", {here: max(drawn.values()) < 300_000}),
                (
                    "functions without sampling are faster than a random pick",
                    {here: max(time for name, time in others.items() if name != "Random") < others["Random"]},
                ),
            ]
        ),
        f"From {sizes[0]:,} to {largest:,} hosts the slowest growth without sampling is "
        f"{min(grown.values()):.1f}-fold, the "
        f"fastest {max(grown.values()):.1f}-fold.",
        note("anthelion-figure-9"),
        lab.figure(
            "anthelion-9",
            "Figure 9: time to select a page by the number of hosts",
            curves,
            Axes(x="hosts", y="time to select a page", unit=" µs"),
        ),
    )
