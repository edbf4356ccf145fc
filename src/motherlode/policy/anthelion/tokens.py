"""The words of a URL and their places among 10,000 (section 3.1).

A URL is taken apart wherever a character is neither letter nor digit. Tokens shorter than three characters are left out
and numbers become one token; in the paper's experiments both worked best "in every case", as did 10,000 hashes. A
token such as `item123` is kept: the authors' program drops it, their paper does not say so.
"""

from __future__ import annotations

import re
from functools import lru_cache

HASHES = 10_000
NUMBER = "[NUMBER]"
_words = re.compile(r"[a-z0-9]{3,}").findall
"""Runs of letters and digits, the short ones left out."""


def tokens(url: str) -> list[str]:
    """The words of a URL, without its scheme.

    >>> tokens("http://www.imdb.com/title/tt0114369/reviews?page=2012&s=10")
    ['www', 'imdb', 'com', 'title', 'tt0114369', 'reviews', 'page', '[NUMBER]']
    """
    return [NUMBER if word.isdigit() else word for word in _words(url.lower(), url.index("//") + 2)]


def places(url: str) -> set[int]:
    """Where the words of a URL stand.

    >>> places("http://a.example/recipe/2024/recipe") == {place("example"), place("recipe"), place(NUMBER)}
    True
    """
    return {place(token) for token in tokens(url)}


@lru_cache(maxsize=1 << 17)
def place(token: str) -> int:
    """Where a token stands: Java's `hashCode` (footnote 5), taken to the range from 0 to 9,999.

    Equation 1 is printed as a quotient; only the remainder gives a place, and that is what the authors' program takes.

    >>> java_hash("structured data"), place("title")
    (1196067097, 1416)
    """
    return abs(java_hash(token)) % HASHES


def java_hash(text: str) -> int:
    """What `String.hashCode` gives in Java: Σ t[i]·31^(n-1-i) in 32 bits with a sign."""
    value = 0
    for character in text:
        value = (31 * value + ord(character)) & 0xFFFFFFFF
    return value - (1 << 32) if value & 0x80000000 else value
