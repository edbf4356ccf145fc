"""The text of elements, gathered while the tree is walked.

The walk appends every text and image to one list; the text of an element is a slice of it. The specification treats
images differently from property to property, so an image stays an image until somebody asks.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

import msgspec

HTML_SPACE = " \t\n\f\r"
_TRIMMED = HTML_SPACE + "\x0b\xa0"


class Image(msgspec.Struct, frozen=True):
    """An img element in the middle of text."""

    alt: str | None
    src: str | None
    """Absolute."""

    def __len__(self) -> int:
        """What it counts as, of the text that may be taken out of a page."""
        return 200


Piece = str | Image


class Images(Enum):
    """What an image inside an element adds to its text."""

    NOTHING = "nothing"
    """For u-* and dt-*."""
    ALT = "alt"
    """For implied names."""
    ALT_OR_SRC = "alt or src"
    """For p-* and e-*."""


def join(pieces: Sequence[Piece], images: Images) -> str:
    """The text of these pieces, without the white space around it.

    >>> join([" see ", Image("a cat", "http://e.org/c"), Image(None, "http://e.org/d"), " "], Images.ALT_OR_SRC)
    'see a cat http://e.org/d'
    """
    spelt = [piece if isinstance(piece, str) else _image(piece, images) for piece in pieces]
    return "".join(spelt).strip(_TRIMMED)


def _image(image: Image, images: Images) -> str:
    if images is Images.NOTHING:
        return ""
    if image.alt is not None:
        return image.alt
    return f" {image.src} " if images is Images.ALT_OR_SRC and image.src is not None else ""


def collapse(text: str) -> str:
    """Text as a browser shows it: runs of white space are one space.

    >>> collapse(" a  \\n b ")
    'a b'
    """
    return " ".join(text.split())
