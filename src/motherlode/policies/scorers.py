"""Scorers: programs of the user that give pages a score from 0 to 1, as target or as reward of a crawl.

A scorer is a Python function, a command that is kept running, or an HTTP endpoint. It gets a page as one JSON object
(`encode_page`) and answers with a number (`decode_answer`). This module knows the forms and messages only;
`crawler.scoring` runs the commands and sends the requests.
"""

from __future__ import annotations

import importlib
import math
import re
import shlex
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from enum import Enum
from functools import cached_property, lru_cache
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pyoxigraph

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "motherlode.scorers"
"""Entry points of this group add scorers: functions that take a `ScoredPage` and return a number from 0 to 1."""
SCORER_FORMS = "or a scorer of yours: python:MODULE:FUNCTION, scorer:NAME, command:COMMAND or an http(s) URL"
DEFAULT_THRESHOLD = 0.5
"""A page whose score is at least this is relevant, if the scorer is the target and names no threshold."""
_FUNCTION = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")
_THRESHOLD = re.compile(r"(?P<scorer>.*?)\s*>=\s*(?P<least>[0-9]*[.]?[0-9]+)", re.DOTALL)
MAX_ANSWER_BYTES = 10_000
"""Maximum length of an answer. A scorer that writes more has failed for the page."""


class ScorerKind(Enum):
    """The form of a scorer: what stands before its colon."""

    FUNCTION = "python"
    INSTALLED = "scorer"
    """A function of an installed package, by the name of its entry point."""
    COMMAND = "command"
    ENDPOINT = "http"


@dataclass(frozen=True, slots=True)
class ScorerSpec:
    """A scorer as users write it."""

    kind: ScorerKind
    name: str
    """`module:function`, the name of an entry point, a command line, or a URL."""

    @property
    def text(self) -> str:
        return self.name if self.kind is ScorerKind.ENDPOINT else f"{self.kind.value}:{self.name}"

    @property
    def is_function(self) -> bool:
        return self.kind in (ScorerKind.FUNCTION, ScorerKind.INSTALLED)


def parse_scorer(spec: str) -> ScorerSpec | None:
    """Parse the name of a scorer. None if the text is of another form. Raise ValueError if the name is incomplete.

    >>> parse_scorer("command:python3 score.py --quick").name
    'python3 score.py --quick'
    >>> parse_scorer("type:schema:Recipe") is None
    True
    """
    text = spec.strip()
    if text.startswith(("http://", "https://")):
        return ScorerSpec(ScorerKind.ENDPOINT, text)
    word, colon, name = text.partition(":")
    kind = next((one for one in ScorerKind if one.value == word and one is not ScorerKind.ENDPOINT), None)
    if not colon or kind is None:
        return None
    name = name.strip()
    if kind is ScorerKind.FUNCTION and not _FUNCTION.fullmatch(name):
        raise ValueError(f"{spec!r} names no function: write python:MODULE:FUNCTION, as in python:my_scorers:quality")
    if kind is ScorerKind.COMMAND:
        _check_command(spec, name)
    if kind is ScorerKind.INSTALLED and name not in installed_scorers():
        known = ", ".join(sorted(installed_scorers())) or "none"
        raise ValueError(f"no installed package has a scorer {name!r}; installed: {known}")
    return ScorerSpec(kind, name)


def _check_command(spec: str, name: str) -> None:
    try:
        words = shlex.split(name)
    except ValueError as error:
        raise ValueError(f"the command of {spec!r} cannot be read: {error}") from error
    if not words:
        raise ValueError(f"{spec!r} names no command: write command:COMMAND, as in command:python3 score.py")


def parse_threshold(spec: str) -> tuple[ScorerSpec, float] | None:
    """Parse a scorer as target, with the least score of a relevant page. None if the text has another form.

    >>> parse_threshold("python:my.module:quality >= 0.8")
    (ScorerSpec(kind=<ScorerKind.FUNCTION: 'python'>, name='my.module:quality'), 0.8)
    """
    match = _THRESHOLD.fullmatch(spec.strip())
    scorer = parse_scorer(match["scorer"] if match else spec)
    if scorer is None:
        return None
    least = float(match["least"]) if match else DEFAULT_THRESHOLD
    if not 0 < least <= 1:
        raise ValueError(f"target {spec!r}: the least score must be above 0 and at most 1")
    return scorer, least


@dataclass(frozen=True, slots=True, kw_only=True)
class ScorerLimits:
    """Limits of scorers: the table `[scorer]` of a job."""

    seconds: float = 10.0
    """Timeout for one page."""
    max_bytes: int = 1_000_000
    """Maximum size of text and quads that are sent for one page. Longer ones are cut."""
    workers: int = 1
    """Processes of a command or function, or requests in flight to an endpoint."""

    @classmethod
    def from_table(cls, table: Mapping[str, Any]) -> ScorerLimits:
        """Return the limits of a table. Raise ValueError if a key is unknown or a value is wrong."""
        known = [one.name for one in fields(cls)]
        if unknown := next((name for name in table if name not in known), ""):
            raise ValueError(f"unknown key {unknown!r}: the keys are {', '.join(known)}")
        for name, value in table.items():
            is_number = isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < math.inf
            if not is_number or (name != "seconds" and not isinstance(value, int)):
                raise ValueError(f"{name} must be a number above 0; got {value!r}")
        return cls(**table)


# ── messages


class PageMessage(msgspec.Struct, kw_only=True):
    """The message about a page to a scorer: one JSON object on one line."""

    url: str
    kind: str = ""
    """The content kind: html, turtle …"""
    counts: dict[str, int] = {}
    """Number of statements by syntax."""
    text: str | None = None
    """The text that a reader sees; null if it is not known, as in a simulation."""
    quads: str = ""
    """The statements of the page as N-Quads."""
    truncated: bool = False
    """Whether text or quads were longer than the limit."""


def encode_page(
    url: str, *, kind: str, counts: Mapping[str, int], text: str | None, quads: bytes, max_bytes: int
) -> bytes:
    """Return the message about a page, without a line feed. Text and quads together are cut to a size.

    Text and quads may have half of the size each, and what the other leaves.
    """
    given = (text or "").encode("utf-8", "replace")
    text_size = max(max_bytes // 2, max_bytes - len(quads))
    quads_size = max(max_bytes // 2, max_bytes - len(given))
    kept = quads if len(quads) <= quads_size else quads[: quads.rfind(b"\n", 0, quads_size) + 1]
    return msgspec.json.encode(
        PageMessage(
            url=url,
            kind=kind,
            counts=dict(counts),
            text=None if text is None else given[:text_size].decode("utf-8", "ignore"),
            quads=kept.decode("utf-8", "replace"),
            truncated=len(given) > text_size or len(kept) < len(quads),
        )
    )


class ScorerError(ValueError):
    """A scorer has given a page no score. The message says why."""


def decode_answer(answer: bytes) -> float:
    """Return the score in an answer: a number, or a JSON object with the key `score`. Raise ScorerError if it has none.

    >>> decode_answer(b"0.25"), decode_answer(b'{"score": 1, "why": "long"}')
    (0.25, 1.0)
    """
    try:
        value = msgspec.json.decode(answer)
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise ScorerError(f"the answer is no number from 0 to 1: {_shorten(answer)}") from None
    if isinstance(value, dict):
        if "error" in value:
            raise ScorerError(str(value["error"])[:300])
        value = value.get("score")
    return check_score(value)


def check_score(value: object) -> float:
    """Return a score as a number. Raise ScorerError if it is not a number from 0 to 1."""
    if isinstance(value, Real) and 0 <= float(value) <= 1:  # false for nan
        return float(value)
    raise ScorerError(f"the score is no number from 0 to 1: {_shorten(repr(value).encode())}")


def _shorten(answer: bytes) -> str:
    return ascii(answer[:100].decode("utf-8", "replace"))


# ── Python functions


class ScoredPage:
    """A page as a scorer function of the user gets it."""

    def __init__(self, message: PageMessage) -> None:
        self.url = message.url
        self.kind = message.kind
        self.counts = message.counts
        """Number of statements by syntax name."""
        self.truncated = message.truncated
        """Whether text or quads were longer than the limit."""
        self.nquads = message.quads
        """The statements of the page as N-Quads."""
        self._text = message.text

    @property
    def text(self) -> str:
        """The text that a reader sees. Raise ValueError in a simulation, because traces have no text."""
        if self._text is None:
            raise ValueError("the text of the page is not known: traces have no text")
        return self._text

    @cached_property
    def quads(self) -> list[pyoxigraph.Quad]:
        """The statements of the page."""
        return list(pyoxigraph.parse(self.nquads.encode(), pyoxigraph.RdfFormat.N_QUADS, lenient=True))


ScoreFunction = Callable[[ScoredPage], float]


@lru_cache(maxsize=1)
def installed_scorers() -> Mapping[str, EntryPoint]:
    """Return the scorers of all installed packages by name. They are not imported."""
    from importlib.metadata import entry_points  # slow to import, and few jobs need it

    return {point.name: point for point in entry_points(group=GROUP)}


def load_function(scorer: ScorerSpec) -> ScoreFunction:
    """Import the function of a scorer, also from the working directory. Raise ValueError if that fails."""
    if str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    module, _, name = scorer.name.partition(":")
    try:
        installed = scorer.kind is ScorerKind.INSTALLED
        function = (
            installed_scorers()[scorer.name].load() if installed else getattr(importlib.import_module(module), name)
        )
    except Exception as error:  # of foreign code: anything may be wrong in it
        raise ValueError(f"the scorer {scorer.text} cannot be imported: {type(error).__name__}: {error}") from error
    if not callable(function):
        raise ValueError(f"the scorer {scorer.text} is no function of a page: {function!r}")
    made: ScoreFunction = function
    return made


def call_function(function: ScoreFunction, message: PageMessage) -> float:
    """Return the score that a function gives a page. Raise ScorerError if it raises an exception or gives no score."""
    try:
        value = function(ScoredPage(message))
    except Exception as error:
        raise ScorerError(f"{type(error).__name__}: {error}"[:300]) from error
    return check_score(value)
