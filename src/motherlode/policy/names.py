"""Policies and targets by the names that users type. A wrong name is answered with the nearest right one."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from random import Random

from motherlode.model import Policy
from motherlode.policy.bandit import SuccessRateBandit
from motherlode.policy.orders import breadth_first, depth_first, random_order

DEFAULT_POLICY = "bandit:success-rate"
POLICIES = ("bfs", "dfs", "random", "bandit:success-rate")


def nearest(name: str, known: Iterable[str]) -> str:
    """A hint for a mistyped name, or nothing.

    >>> nearest("bsf", ["bfs", "dfs"])
    ' (did you mean bfs?)'
    """
    found = get_close_matches(name, list(known), n=1, cutoff=0.5)
    return f" (did you mean {found[0]}?)" if found else ""


def policy_from(name: str, seed: int = 0) -> Policy:
    """The policy that a name such as `bfs` or `bandit:success-rate:0.2:1000` means; randomness comes from the seed.

    >>> policy_from("bandit:success-rat")
    Traceback (most recent call last):
    ...
    ValueError: unknown policy 'bandit:success-rat' (did you mean bandit:success-rate?); known: bfs, dfs, random, \
bandit:success-rate[:λ[:m]]
    """
    random = Random(seed)
    if name == "bfs":
        return breadth_first()
    if name == "dfs":
        return depth_first()
    if name == "random":
        return random_order(random)
    kind, _, rest = name.partition(":")
    function, *numbers = rest.split(":")
    if kind == "bandit" and function == "success-rate" and len(numbers) <= 2:
        exploration, decay = _numbers(name, numbers)
        return SuccessRateBandit(random=random, exploration=exploration, decay=decay)
    known = "bfs, dfs, random, bandit:success-rate[:λ[:m]]"
    raise ValueError(f"unknown policy {name!r}{nearest(name, POLICIES)}; known: {known}")


def _numbers(name: str, numbers: list[str]) -> tuple[float, float | None]:
    try:
        values = [float(number) for number in numbers]
    except ValueError:
        raise ValueError(f"policy {name!r}: λ and m are numbers, as in bandit:success-rate:0.2:1000") from None
    return (values[0] if values else 0.1), (values[1] if len(values) > 1 else None)
