"""Policies that programs add: the decorator `policy`, and the messages that register them in other processes, too."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, Protocol, TypeVar, runtime_checkable

from motherlode.model import Explanation, Link, Outcome, Policy, Rating
from motherlode.policies.policy_table import PolicyLine
from motherlode.policies.priority_queue import BestScorePolicy
from motherlode.policies.registry import BUILT_IN, ORACLE
from motherlode.www.urls import host_of

_NAME = re.compile(r"[a-z0-9][a-z0-9_.-]*")
_METHODS = ("rate", "learn", "arm_ready", "arm_snoozed", "pick", "dump", "load")
"""The methods of `Policy`."""
Class = TypeVar("Class", bound=type)


@runtime_checkable
class Scores(Protocol):
    """The smallest policy of a program: it gives each link a number, and the highest number is fetched first.

    It may also have `learn(outcome)`, and `dump()` and `load(state)` for what it has learned.
    """

    def score(self, link: Link, parent: Outcome | None) -> float:
        """Return the score of a link. `parent` is the page on which it was found, or None for a seed."""


class ScorePolicy(BestScorePolicy):
    """A policy whose arms are hosts, and whose scores come from an object with the method `score`."""

    def __init__(self, scorer: Scores, about: str) -> None:
        super().__init__()
        self._scorer: Any = scorer
        self._about = about

    def rate(self, links: Sequence[Link], parent: Outcome | None) -> Sequence[Rating]:
        return [Rating(arm=host_of(link.url), score=float(self._scorer.score(link, parent))) for link in links]

    def learn(self, outcome: Outcome) -> None:
        if hasattr(self._scorer, "learn"):
            self._scorer.learn(outcome)

    def explain(self, link: Link, rating: Rating, parent: Outcome | None) -> Explanation:
        return Explanation(says=self._about, value=rating.score)

    def dump(self) -> bytes:
        return bytes(self._scorer.dump()) if hasattr(self._scorer, "dump") else b""

    def load(self, state: bytes) -> None:
        if hasattr(self._scorer, "load"):
            self._scorer.load(state)


class AddedPolicy(NamedTuple):
    """A policy that a program added. Other processes get it as a message and call `register`."""

    name: str
    make: type
    reads_known_links: bool

    @property
    def is_importable(self) -> bool:
        """Whether another Python process can import the class: it is neither of a script nor inside a function."""
        return self.make.__module__ != "__main__" and "<locals>" not in self.make.__qualname__

    def register(self) -> None:
        """Add the policy to the table of this process."""
        about = inspect.cleandoc(self.make.__doc__ or f"The policy {self.name} of {self.make.__module__}.")
        line = PolicyLine(self.name, about.partition("\n")[0], reads_known_links=self.reads_known_links)
        line(_make_factory(self.make, line.about))
        _ADDED[self.name] = self


_ADDED: dict[str, AddedPolicy] = {}


def policy(name: str, *, reads_known_links: bool = False) -> Callable[[Class], Class]:
    """Register a class as the policy with this name, for every function and command that runs in this program.

    The class has the method `score(link, parent)`, which returns a number for each link, and may have `learn(outcome)`.
    Or it has all methods of `motherlode.Policy`. If its constructor has a parameter `seed`, it gets the seed of the
    crawl; further parameters are arguments of the name, as texts: `short-first:length=20`. With `reads_known_links`,
    the attributes of links that were found before are read again, too. An entry point of the group
    `motherlode.policies` registers a class for the command line.

    ```python
    @ml.policy("short-first")
    class ShortFirst:
        def score(self, link, parent):
            return -len(link.url)
    ```
    """
    if not _NAME.fullmatch(name):
        raise ValueError(f"{name!r} is no name of a policy: use small letters, digits and hyphens, as in short-first")
    if name in BUILT_IN or name == ORACLE:
        raise ValueError(f"{name!r} is the name of a built-in policy: choose another")

    def register(make: Class) -> Class:
        missing = [method for method in _METHODS if not hasattr(make, method)]
        if missing and not hasattr(make, "score"):
            raise TypeError(
                f"the policy {name!r} has no method score(link, parent); a policy without it needs {', '.join(missing)}"
            )
        AddedPolicy(name, make, reads_known_links).register()
        return make

    return register


def added_policies(names: Iterable[str] | None = None) -> tuple[AddedPolicy, ...]:
    """Return the policies that this program has added; with `names`, only those that occur in these policy names."""
    words = None if names is None else {name.partition(":")[0] for name in names}
    return tuple(one for one in _ADDED.values() if words is None or one.name in words)


def _make_factory(make: type, about: str) -> Callable[..., Policy]:
    """Return the function that the table calls: with the seed, and the arguments of the name as texts."""
    parameters = list(inspect.signature(make).parameters.values())
    wants_seed = any(one.name == "seed" for one in parameters)

    def factory(seed: int, *arguments: str, **options: str) -> Policy:
        made = make(*arguments, **options, **({"seed": seed} if wants_seed else {}))
        return ScorePolicy(made, about) if hasattr(made, "score") and not hasattr(made, "rate") else made

    own = [one for one in parameters if one.name != "seed"]
    first = inspect.Parameter("seed", inspect.Parameter.POSITIONAL_ONLY)
    factory.__signature__ = inspect.Signature([first, *own])  # type: ignore[attr-defined]
    return factory
