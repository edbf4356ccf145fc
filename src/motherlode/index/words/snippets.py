"""Which of a subject's texts answers a search, and the piece of it that shows so."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from motherlode.index.words.documents import Text
from motherlode.index.words.engine import ACCENTS, UNSPACED, unaccented

_WORD = re.compile(rf"[{UNSPACED}]|[^\W_{UNSPACED}](?:[^\W_{UNSPACED}]|[{ACCENTS}])*")
_UNSPACED = re.compile(f"[{UNSPACED}]")
_LETTERS = str.maketrans(
    {"ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "đ": "d", "ł": "l", "ı": "i", "þ": "th", "ð": "d", "ς": "σ"}
)
_LENGTH = 200
_BEFORE = 60
_AROUND = 600


@dataclass(frozen=True, slots=True)
class Snippet:
    """A piece of a text, and where in it the words stand."""

    text: str
    marks: tuple[tuple[int, int], ...] = ()


def folded(text: str) -> str:
    """Text without case and accents, much as the index spells its words.

    >>> folded("Crème"), folded("ÅNGSTRÖM"), folded("Straße")
    ('creme', 'angstrom', 'strasse')
    """
    text = unaccented(text).lower()
    return text if text.isascii() else text.translate(_LETTERS)


def matches(text: str, wanted: Iterable[str]) -> list[tuple[int, int, str]]:
    """Where the wanted words stand in a text, alone or as the beginning of a longer word."""
    exact = frozenset(wanted)
    stems = tuple(word for word in exact if len(word) >= 3)
    found = []
    for match in _WORD.finditer(text):
        word = folded(match[0])
        if word in exact:
            found.append((match.start(), match.end(), word))
        elif stems and word.startswith(stems):
            found.append((match.start(), match.end(), next(stem for stem in stems if word.startswith(stem))))
    return found


def best(texts: Sequence[Text], wanted: Sequence[str]) -> Text | None:
    """The text that holds most of the words, the shortest of several; None where none holds any."""
    patterns = [_pattern(word) for word in dict.fromkeys(wanted)]
    ranked = [(_held(text.value, patterns), -len(text.value), text) for text in texts]
    count, _, chosen = max(ranked, key=lambda item: item[:2], default=(0, 0, None))
    return chosen if count else None


def alike(texts: Iterable[Text], wanted: Sequence[str]) -> list[str]:
    """Words of the texts that differ by one letter from a wanted one, by which the engine finds them.

    >>> alike([Text("p", "Tomato soup, Tomaten")], ["tomatoe", "suop"])
    ['tomato', 'soup']
    """
    held = dict.fromkeys(folded(match[0]) for text in texts for match in _WORD.finditer(text.value))
    return [word for word in held if any(_differ_by_one(word, other) for other in wanted)]


def _differ_by_one(word: str, other: str) -> bool:
    """One letter too many, too few or another, or two of them changed about."""
    lengths = range(min(len(word), len(other)))
    same = next((place for place in lengths if word[place] != other[place]), len(lengths))
    left, right = word[same:], other[same:]
    is_turned = left[:2] == right[1::-1] and left[2:] == right[2:]
    return left[1:] == right or left == right[1:] or left[1:] == right[1:] or is_turned


def _held(text: str, patterns: Sequence[re.Pattern[str]]) -> int:
    plain = folded(text)
    return sum(1 for pattern in patterns if pattern.search(plain))


@lru_cache(maxsize=256)
def _pattern(word: str) -> re.Pattern[str]:
    """A word, alone or as the beginning of a longer one; inside of another it is none."""
    if _UNSPACED.match(word):
        return re.compile(re.escape(word))
    return re.compile(rf"(?<![^\W_]){re.escape(word)}" + ("" if len(word) >= 3 else r"(?![^\W_])"))


def snippet(text: str, wanted: Sequence[str]) -> Snippet:
    """The piece of a text around its first match, cut between words.

    >>> snippet("The tomato is red", ["tomato"])
    Snippet(text='The tomato is red', marks=((4, 10),))
    """
    text, cut_before, cut_after = _near(" ".join(text.split()), wanted)
    found = matches(text, wanted)
    start = max(0, found[0][0] - _BEFORE) if found and len(text) > _LENGTH else 0
    if start:
        start = text.find(" ", start, found[0][0]) + 1 or start
    end = min(len(text), start + _LENGTH)
    if end < len(text):
        end = max(text.rfind(" ", start, end), found[0][1] if found else start + _LENGTH // 2)
    before, after = "… " if start or cut_before else "", " …" if end < len(text) or cut_after else ""
    shift = len(before) - start
    marks = tuple((place + shift, stop + shift) for place, stop, _ in found if start <= place and stop <= end)
    return Snippet(before + text[start:end] + after, marks)


def _near(text: str, wanted: Sequence[str]) -> tuple[str, bool, bool]:
    """The part of a long text in which its first match lies, and whether something was cut off before and behind it.

    Letters may fold to more or fewer letters, so the place in the folded text is not quite that in the text itself.
    """
    if len(text) <= 2 * _AROUND:
        return text, False, False
    plain = folded(text)
    places = [match.start() for word in wanted if (match := _pattern(word).search(plain)) is not None]
    first = min(places, default=0)
    start = max(0, first - _AROUND)
    if not matches(text[start : first + _AROUND], wanted):
        return text, False, False
    return text[start : first + _AROUND], start > 0, first + _AROUND < len(text)
