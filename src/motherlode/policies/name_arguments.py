"""Parsers of the arguments in the names of policies, with errors for users."""

from __future__ import annotations

from collections.abc import Iterable


def choice(name: str, text: str, *choices: str) -> str:
    """Return the text if it is one of the choices. Raises ValueError otherwise."""
    if text not in choices:
        raise ValueError(f"{name} is {', '.join(choices[:-1])} or {choices[-1]}; got {text!r}")
    return text


def whole_numbers(arguments: Iterable[str], hint: str) -> list[int]:
    texts = list(arguments)
    if not all(text.isascii() and text.isdigit() for text in texts):
        raise ValueError(hint)
    return [int(text) for text in texts]


def number_between(name: str, text: str, least: float, most: float) -> float:
    try:
        value = float(text)
    except ValueError:
        value = least - 1.0
    if not least <= value <= most:
        raise ValueError(f"{name} is a number from {least:g} to {most:g}; got {text!r}")
    return value
