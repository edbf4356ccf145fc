"""Kinds of targets that need another package than `policies`, such as `valid:PROFILE`.

The package `crawler` adds them when it is imported, because it knows both packages. `policies.targets` looks them up.
"""

from collections.abc import Callable

JudgeStatements = Callable[[bytes], bool]
"""Function from the statements of a page in N-Triples to whether the page is relevant."""
MakeJudge = Callable[[str], JudgeStatements]
"""Function from the text behind the colon of a target to its judge. It raises ValueError for a wrong text."""

_kinds: dict[str, MakeJudge] = {}


def add_target_kind(name: str, make: MakeJudge) -> None:
    """Add a kind of targets. A target of this kind starts with its name and a colon."""
    _kinds[name] = make


def find_target_kind(spec: str) -> tuple[MakeJudge, str] | None:
    """Return the function for the kind of a target and the text behind its colon; None if no such kind was added.

    >>> find_target_kind("unknown:x") is None
    True
    """
    name, colon, argument = spec.strip().partition(":")
    make = _kinds.get(name) if colon else None
    return None if make is None else (make, argument)
