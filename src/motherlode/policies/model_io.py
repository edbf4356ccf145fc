"""Model files: what a policy has learned, with a description of its origin, as bytes.

A crawl starts from a model by merging the model into a new policy. Several models are merged by addition, because most
policies keep only sums: FTRL's z and n, counts of classes and tokens, tries and rewards of arms. A model that does not
fit is refused with the reason: another policy, another format version, another target.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from random import Random
from typing import Any

import msgspec

from motherlode.model import Combines, Policy, SummaryLine
from motherlode.policies.registry import policy_from

FORMAT = 1
_MAGIC = b"motherlode model "
_SHARED_STATE = frozenset({"bandit", "linkanalysis"})
"""Policies whose positional arguments change how they pick but not what they learn."""
_ONLY_PICKING = frozenset({"function", "exploration", "decay", "smoothing", "match", "path", "lists"})
"""Named arguments that change how a policy picks but not what it learns."""
UNREADABLE = (msgspec.MsgspecError, ValueError, TypeError, KeyError, IndexError, AttributeError, EOFError)
"""Exceptions that a decoder of saved state may raise for damaged bytes, or for those of another policy."""


class ModelError(ValueError):
    """A model cannot be used. The message says why and what to do."""


class NotCombinedError(ValueError):
    """A learned state cannot be merged with another one, because it is not a sum: a decision tree, for example."""


class Model(msgspec.Struct, frozen=True, kw_only=True):
    """The learned state of a policy, with a description of its origin."""

    policy: str
    target: str
    reward: str = "target"
    made_at: str = ""
    """Date and time in ISO 8601."""
    version: str = ""
    """Version of Motherlode that made the model."""
    requests: int = 0
    relevant: int = msgspec.field(default=0, name="finds")
    """Number of relevant pages. In files and in JSON its name is `finds`."""
    crawls: int = 1
    """Number of crawls that were merged."""
    state: bytes = b""
    """Result of the policy's `dump`."""

    def label(self) -> dict[str, Any]:
        """Return all fields but the state, and the size of the state."""
        shown: dict[str, Any] = msgspec.to_builtins(msgspec.structs.replace(self, state=b""))
        del shown["state"]
        return {"format": FORMAT, **shown, "bytes": len(self.state)}


def random_state(random: Random) -> bytes:
    """Serialize the state of a random generator."""
    return array("I", random.getstate()[1]).tobytes()


def set_random_state(random: Random, state: bytes) -> None:
    """Restore the state of a random generator. Raises ValueError if the bytes are not such a state."""
    words = array("I")
    words.frombytes(state)
    random.setstate((3, tuple(words), None))


def to_bytes(model: Model) -> bytes:
    """Serialize a model."""
    return _MAGIC + f"{FORMAT}\n".encode() + msgspec.msgpack.encode(model)


def from_bytes(data: bytes, name: str = "the file") -> Model:
    """Read a model. `name` is the name of the file for error messages.

    Raises ModelError if the data is not a model of this format.

    >>> from_bytes(b"motherlode model 99\\n", "old.model")
    Traceback (most recent call last):
    ...
    motherlode.policies.model_io.ModelError: old.model is a model of format 99, but this version reads format 1: \
make it again with `motherlode model save`
    """
    first, _, rest = data.partition(b"\n")
    if not first.startswith(_MAGIC):
        raise ModelError(f"{name} is not a model: make one from a crawl with `motherlode model save DIR -o FILE`")
    number = first.removeprefix(_MAGIC).decode("ascii", "replace")
    if number != str(FORMAT):
        raise ModelError(
            f"{name} is a model of format {number}, but this version reads format {FORMAT}: "
            "make it again with `motherlode model save`"
        )
    try:
        return msgspec.msgpack.decode(rest, type=Model)
    except msgspec.MsgspecError as error:
        raise ModelError(f"{name} is damaged: {error}") from error


def policy_family(name: str) -> str:
    """Return the name shared by all policies whose learned states are interchangeable.

    >>> policy_family("bandit:thompson:0.1"), policy_family("ldcoc:t")
    ('bandit', 'ldcoc:t')
    >>> policy_family("nb-online:smoothing=m"), policy_family("bandit:thompson:decay=9,classifier=ht")
    ('nb-online', 'bandit:classifier=ht')
    """
    word, *arguments = name.split(":")
    last = arguments.pop() if arguments and "=" in arguments[-1] else ""
    kept = sorted(option for option in last.split(",") if option and option.partition("=")[0] not in _ONLY_PICKING)
    return ":".join([word, *([] if word in _SHARED_STATE else arguments), *([",".join(kept)] if kept else [])])


def check_fits(model: Model, *, policy: str, name: str = "the model") -> None:
    """Raise ModelError if a crawl with this policy cannot start from the model."""
    if policy_family(model.policy) != policy_family(policy):
        raise ModelError(
            f"{name} was learned by the policy {model.policy}, but the crawl uses {policy}: "
            f"use --policy {model.policy} or a model of {policy}"
        )
    start_from(policy_from(policy), model, name=name)


def start_from(policy: Policy, model: Model, *, name: str = "the model") -> None:
    """Put the state of a model into a policy that has learned nothing yet."""
    with _reading(model, name):
        if isinstance(policy, Combines):
            with suppress(NotCombinedError):
                policy.merge(model.state)
                return
        policy.load(model.state)


def policy_of(model: Model, *, name: str = "the model") -> Policy:
    """Return the policy that made a model, in the state that it had then."""
    policy = policy_from(model.policy)
    with _reading(model, name):
        policy.load(model.state)
    return policy


@contextmanager
def _reading(model: Model, name: str) -> Iterator[None]:
    """Turn the exceptions of a policy that cannot read the state of a model into ModelError."""
    try:
        yield
    except NotCombinedError as error:
        raise ModelError(f"models of the policy {model.policy} cannot be merged: {error}") from error
    except UNREADABLE as error:
        raise ModelError(
            f"the policy {model.policy} of this version cannot read the state in {name} "
            f"(it was made by version {model.version or 'unknown'}): {error or type(error).__name__}"
        ) from error


def merge_models(models: Sequence[tuple[str, Model]], *, made_at: str, version: str) -> Model:
    """Merge models into one and add up their counts. Each model comes with its name for error messages."""
    if len(models) < 2:
        raise ModelError("merging needs at least two models")
    first_name, first = models[0]
    policy = policy_from(first.policy)
    if not isinstance(policy, Combines):
        raise ModelError(f"the policy {first.policy} learns nothing that could be merged")
    for name, model in models:
        for field, one, other in (
            ("policy", policy_family(model.policy), policy_family(first.policy)),
            ("target", model.target, first.target),
            ("reward", model.reward, first.reward),
        ):
            if one != other:
                raise ModelError(
                    f"{name} was learned with the {field} {one!r}, {first_name} with {other!r}: only equals are merged"
                )
        with _reading(model, name):
            policy.merge(model.state)
    return Model(
        policy=first.policy,
        target=first.target,
        reward=first.reward,
        made_at=made_at,
        version=version,
        requests=sum(model.requests for _, model in models),
        relevant=sum(model.relevant for _, model in models),
        crawls=sum(model.crawls for _, model in models),
        state=policy.dump(),
    )


def best_and_worst(
    what: str, columns: tuple[str, ...], rows: Sequence[tuple[str | float, ...]], most: int
) -> list[SummaryLine]:
    """Return tables of the best and the worst of some rows, at most `most` each. The rows are sorted, best first."""
    chosen = (("best", rows[:most]), ("worst", rows[most:][::-1][:most]))
    return [SummaryLine(title=f"{name} {what}", columns=columns, rows=tuple(part)) for name, part in chosen if part]
