"""S_R, the set of concepts relevant to RDF documents (Emamdadi et al., III.C.2), read from files that a user can edit.

Three files are the paper's sets: `content_types.txt`, `file_extensions.txt` and `terms.txt`. Two more hold the
extensions that its steps 1 and 3 speak of: `other_extensions.txt` and `html_extensions.txt`. A folder of one's own need
only hold those that differ.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_OWN = Path(__file__).parent
_FILES = ("content_types.txt", "file_extensions.txt", "terms.txt", "html_extensions.txt", "other_extensions.txt")
_words = re.compile(r"[a-z0-9]+").findall


@dataclass(frozen=True, slots=True, kw_only=True)
class Concepts:
    """The sets by which links are told apart. Extensions are without their dot; everything is in lower case."""

    content_types: frozenset[str]
    """S_RDFContentTypes."""
    file_extensions: frozenset[str]
    """S_RDFFileExtensions."""
    words: frozenset[str]
    """S_RDFTerms of one word."""
    phrases: tuple[str, ...]
    """S_RDFTerms of several words, each framed by spaces."""
    html_extensions: frozenset[str]
    other_extensions: frozenset[str]

    def has_term(self, text: str) -> bool:
        """One of the terms stands in the text, as a whole word.

        >>> default_concepts().has_term("Export: RDF/XML"), default_concepts().has_term("wordforms")
        (True, False)
        >>> default_concepts().has_term("as JSON-LD"), default_concepts().has_term("JSON")
        (True, False)
        """
        if not text:
            return False
        found = _words(text.lower())
        if not self.words.isdisjoint(found):
            return True
        if not self.phrases or len(found) < 2:
            return False
        framed = f" {' '.join(found)} "
        return any(phrase in framed for phrase in self.phrases)

    def has_content_type(self, text: str) -> bool:
        """One of the content types stands in the text.

        >>> default_concepts().has_content_type("text/n3; charset=utf-8")
        True
        """
        if "/" not in text:
            return False
        lowered = text.lower()
        return any(content_type in lowered for content_type in self.content_types)


def concepts_from(folder: Path | None = None) -> Concepts:
    """The concepts of a folder; what it lacks is as in ours."""
    if folder is not None and not any((folder / name).is_file() for name in _FILES):
        raise ValueError(f"{folder} holds none of {', '.join(_FILES)}")
    types, extensions, terms, html, other = (_lines(folder, name) for name in _FILES)
    spelled = {" ".join(_words(term)) for term in terms}
    return Concepts(
        content_types=types,
        file_extensions=frozenset(line.lstrip(".") for line in extensions),
        words=frozenset(term for term in spelled if term and " " not in term),
        phrases=tuple(sorted(f" {term} " for term in spelled if " " in term)),
        html_extensions=frozenset(line.lstrip(".") for line in html),
        other_extensions=frozenset(line.lstrip(".") for line in other),
    )


@cache
def default_concepts() -> Concepts:
    return concepts_from()


def _lines(folder: Path | None, name: str) -> frozenset[str]:
    """The lines of a file in lower case, without comments."""
    path = _OWN / name if folder is None or not (folder / name).is_file() else folder / name
    lines = (line.partition("#")[0].strip().lower() for line in path.read_text(encoding="utf-8").splitlines())
    return frozenset(line for line in lines if line)
