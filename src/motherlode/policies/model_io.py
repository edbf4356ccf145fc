"""Models as things: what a policy has learned, with a label that says where it comes from, as bytes for a file.

A model is the state of a policy (its `dump`) behind a header: the version of the format, the policy's name, the target
and the reward that it learned from, when it was made, and how many requests and finds stand behind it. A crawl starts
from a model by adding it to a policy that knows nothing; several become one by adding them up, since all that our
policies keep are sums: FTRL's z and n, counts of classes and tokens, tries and finds of arms (McMahan et al. 2013; what
two learners have gathered since they were equal can be added, and two that began with nothing were).

Whatever does not fit is refused with a reason: another policy, another version, another target.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from motherlode.model import Policy
from motherlode.policies.registry import policy_from

FORMAT = 1
_MAGIC = b"motherlode model "
_SHARED_STATE = frozenset({"bandit"})
"""Policies whose arguments say how to choose, and nothing about what is learned."""
_UNREADABLE = (msgspec.MsgspecError, ValueError, TypeError, KeyError, IndexError, AttributeError, EOFError)
"""What a policy's decoder may raise on bytes that are not its own."""


class ModelError(ValueError):
    """A model that cannot be used; the message says why, and what to do."""


class NotCombinedError(ValueError):
    """What was learned cannot be added to something else that was learned: a tree, for example."""


class Model(msgspec.Struct, frozen=True, kw_only=True):
    """What a policy has learned, with its label."""

    policy: str
    target: str
    reward: str = "target"
    made_at: str = ""
    """Date and time, as ISO 8601 writes them."""
    version: str = ""
    """Of the software that made it."""
    requests: int = 0
    finds: int = 0
    crawls: int = 1
    """That were added up."""
    state: bytes = b""
    """What the policy's `dump` gave."""

    def label(self) -> dict[str, Any]:
        """All but the state."""
        shown: dict[str, Any] = msgspec.to_builtins(msgspec.structs.replace(self, state=b""))
        del shown["state"]
        return {"format": FORMAT, **shown, "bytes": len(self.state)}


def to_bytes(model: Model) -> bytes:
    """
    >>> from_bytes(to_bytes(Model(policy="bfs", target="any"))).policy
    'bfs'
    """
    return _MAGIC + f"{FORMAT}\n".encode() + msgspec.msgpack.encode(model)


def from_bytes(data: bytes, name: str = "the file") -> Model:
    """The model in a file; ModelError for anything else.

    >>> from_bytes(b"motherlode model 99\\n", "old.model")
    Traceback (most recent call last):
    ...
    motherlode.policies.model_io.ModelError: old.model is a model of format 99, and this version reads format 1: \
make it again with `motherlode model save`
    """
    first, _, rest = data.partition(b"\n")
    if not first.startswith(_MAGIC):
        raise ModelError(f"{name} is no model: make one from a crawl with `motherlode model save DIR -o FILE`")
    number = first.removeprefix(_MAGIC).decode("ascii", "replace")
    if number != str(FORMAT):
        raise ModelError(
            f"{name} is a model of format {number}, and this version reads format {FORMAT}: "
            "make it again with `motherlode model save`"
        )
    try:
        return msgspec.msgpack.decode(rest, type=Model)
    except msgspec.MsgspecError as error:
        raise ModelError(f"{name} is damaged: {error}") from error


def family(name: str) -> str:
    """Policies of one family learn the same thing in the same form.

    >>> family("bandit:thompson:0.1"), family("ldcoc:t")
    ('bandit', 'ldcoc:t')
    """
    word = name.partition(":")[0]
    return word if word in _SHARED_STATE else name


def check_fits(model: Model, *, policy: str, name: str = "the model") -> None:
    """ModelError where a policy cannot start from a model."""
    if family(model.policy) != family(policy):
        raise ModelError(
            f"{name} was learned by the policy {model.policy}, and the crawl is to use {policy}: "
            f"use --policy {model.policy}, or a model of {policy}"
        )
    start_from(policy_from(policy), model, name=name)


def start_from(policy: Policy, model: Model, *, name: str = "the model") -> None:
    """Let a policy that has learned nothing yet begin with what a model holds."""
    try:
        merge = getattr(policy, "merge", None)
        if merge is None:
            policy.load(model.state)
            return
        try:
            merge(model.state)
        except NotCombinedError:
            policy.load(model.state)
    except _UNREADABLE as error:
        raise ModelError(_another_version(model, name, error)) from error


def policy_of(model: Model, *, name: str = "the model") -> Policy:
    """The policy that made a model, knowing what it knew."""
    policy = policy_from(model.policy)
    try:
        policy.load(model.state)
    except _UNREADABLE as error:
        raise ModelError(_another_version(model, name, error)) from error
    return policy


def _another_version(model: Model, name: str, error: BaseException) -> str:
    return (
        f"what {name} holds is nothing that the policy {model.policy} of this version can read "
        f"(it was made by version {model.version or 'unknown'}): {error or type(error).__name__}"
    )


def merged(models: Sequence[tuple[str, Model]], *, made_at: str, version: str) -> Model:
    """One model from several, each with its name for errors; their counts add up."""
    if len(models) < 2:
        raise ModelError("to merge takes at least two models")
    first_name, first = models[0]
    policy = policy_from(first.policy)
    merge = getattr(policy, "merge", None)
    if merge is None:
        raise ModelError(f"the policy {first.policy} learns nothing that could be merged")
    for name, model in models:
        for field, one, other in (
            ("policy", family(model.policy), family(first.policy)),
            ("target", model.target, first.target),
            ("reward", model.reward, first.reward),
        ):
            if one != other:
                raise ModelError(
                    f"{name} was learned with the {field} {one!r}, {first_name} with {other!r}: only equals are merged"
                )
        try:
            merge(model.state)
        except NotCombinedError as error:
            raise ModelError(f"models of the policy {model.policy} cannot be merged: {error}") from error
        except _UNREADABLE as error:
            raise ModelError(_another_version(model, name, error)) from error
    return Model(
        policy=first.policy,
        target=first.target,
        reward=first.reward,
        made_at=made_at,
        version=version,
        requests=sum(model.requests for _, model in models),
        finds=sum(model.finds for _, model in models),
        crawls=sum(model.crawls for _, model in models),
        state=policy.dump(),
    )
