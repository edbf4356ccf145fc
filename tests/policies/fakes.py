"""Helpers that make links, outcomes and transform results."""

from __future__ import annotations

from motherlode.model import (
    Extraction,
    FailureKind,
    Link,
    LinkSource,
    Outcome,
    Rating,
    Statement,
    Syntax,
    TransformResult,
)
from motherlode.www.urls import host_of


def links(*urls: str) -> list[Link]:
    return [Link(url=url, source=LinkSource.ANCHOR) for url in urls]


def outcome(arm: str, *, relevant: bool, failure: FailureKind | None = None) -> Outcome:
    return Outcome(
        url=f"http://{arm}/",
        host=arm,
        arm=arm,
        policy_state=b"",
        score=0.0,
        reward=float(relevant),
        relevant=relevant,
        failure=failure,
    )


def rated_outcome(url: str, rating: Rating, *, relevant: bool, failure: FailureKind | None = None) -> Outcome:
    """Return the outcome of a URL that a policy has rated."""
    return Outcome(
        url=url,
        host=host_of(url),
        arm=rating.arm,
        policy_state=rating.policy_state,
        score=rating.score,
        reward=float(relevant),
        relevant=relevant,
        failure=failure,
    )


def facts(**statements: int | list[Statement]) -> TransformResult:
    """Return a result with statements by the names of syntaxes: a number of made-up statements, or a list."""
    extractions = []
    for name, given in statements.items():
        rows = made_up(given) if isinstance(given, int) else given
        extractions.append(Extraction(syntax=Syntax[name], statements=tuple(rows)))
    return TransformResult(extractions=tuple(extractions))


def made_up(count: int) -> list[Statement]:
    return [(f"<http://ex.org/{number}>", "<http://ex.org/p>", '"x"', "") for number in range(count)]
