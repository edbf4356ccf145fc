"""The concepts S_R of RDF documents, the heuristics on links, and the relevancy functions (Emamdadi et al., III.C).

S_R (III.C.2) is read from text files that users can replace. `content_types.txt`, `file_extensions.txt` and `terms.txt`
are the sets of the paper. `other_extensions.txt` and `html_extensions.txt` are the extensions of its steps 1 and 3. A
user's folder needs only the files that differ from ours.

Each heuristic is a predicate on the properties of a link and the concepts. So its precision and recall can be measured
(Table II). The relevancy functions (III.C.2 and III.C.3) combine the heuristics.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from motherlode.policies.linkanalysis.link_properties import LinkClass, LinkProperties, SimilarUrls

_OWN = Path(__file__).parent
_FILES = ("content_types.txt", "file_extensions.txt", "terms.txt", "html_extensions.txt", "other_extensions.txt")
_words = re.compile(r"[a-z0-9]+").findall


@dataclass(frozen=True, slots=True, kw_only=True)
class Concepts:
    """The sets of S_R. Extensions are without the dot; everything is in lower case."""

    content_types: frozenset[str]
    """S_RDFContentTypes."""
    file_extensions: frozenset[str]
    """S_RDFFileExtensions."""
    words: frozenset[str]
    """S_RDFTerms of one word."""
    phrases: tuple[str, ...]
    """S_RDFTerms of several words, with a space before and after each."""
    html_extensions: frozenset[str]
    other_extensions: frozenset[str]

    def has_term(self, text: str) -> bool:
        """Return whether the text contains one of the terms as a whole word.

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
        """Return whether the text contains one of the content types.

        >>> default_concepts().has_content_type("text/n3; charset=utf-8")
        True
        """
        if "/" not in text:
            return False
        lowered = text.lower()
        return any(content_type in lowered for content_type in self.content_types)


def concepts_from(folder: Path | None = None) -> Concepts:
    """Read the concepts of a folder. Files that are missing in the folder are replaced by ours."""
    if folder is not None and not any((folder / name).is_file() for name in _FILES):
        raise ValueError(f"{folder} contains none of the files {', '.join(_FILES)}")
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
    """Return our own concepts."""
    return concepts_from()


def _lines(folder: Path | None, name: str) -> frozenset[str]:
    """Return the lines of a file in lower case, without comments."""
    path = _OWN / name if folder is None or not (folder / name).is_file() else folder / name
    lines = (line.partition("#")[0].strip().lower() for line in path.read_text(encoding="utf-8").splitlines())
    return frozenset(line for line in lines if line)


Heuristic = Callable[[LinkProperties, Concepts], bool]

HEURISTICS: Mapping[str, Heuristic] = {
    "type:terms": lambda link, concepts: concepts.has_term(link.type),
    "title:terms": lambda link, concepts: concepts.has_term(link.title),
    "anchortext:terms": lambda link, concepts: concepts.has_term(link.anchor_text),
    "context:terms": lambda link, concepts: concepts.has_term(link.context),
    "path:terms": lambda link, concepts: concepts.has_term("/".join(link.indicative_path)),
    "filename:terms": lambda link, concepts: concepts.has_term(link.filename),
    "type:content-types": lambda link, concepts: concepts.has_content_type(link.type),
    "title:content-types": lambda link, concepts: concepts.has_content_type(link.title),
    "anchortext:content-types": lambda link, concepts: concepts.has_content_type(link.anchor_text),
    "context:content-types": lambda link, concepts: concepts.has_content_type(link.context),
    "extension:file-extensions": lambda link, concepts: link.extension in concepts.file_extensions,
    "rdf-link:no-extension": lambda link, concepts: link.is_rdf_link and not link.extension,
}
"""The heuristics that predict class R (step 2 of Relevancy_R). The names are those of Table II: property, then set."""
SIMILARITY = "path-or-filename:similarity"
"""The name of the heuristic that predicts class HR. It uses S_HR, which grows during the crawl."""

_TEXT_SEPARATOR = " 0 "
"""Separates texts. It is a word, so that no term of two words matches across two texts."""
NOT_HTTP = "link analysis: class N, not http"
UNLIKELY_EXTENSION = "link analysis: class N, a file extension that gives no RDF"
UNKNOWN_EXTENSION = "link analysis: class N, a file extension of neither RDF nor HTML"


def removal_reason(link: LinkProperties, concepts: Concepts) -> str:
    """Return why the link is of class N (step 1 of Relevancy_R), or "" if it is not."""
    if link.protocol not in ("http", "https"):
        return NOT_HTTP
    return UNLIKELY_EXTENSION if link.extension in concepts.other_extensions else ""


def points_to_rdf(link: LinkProperties, concepts: Concepts) -> bool:
    """Return whether at least one heuristic is satisfied (step 2 of Relevancy_R).

    It is equivalent to evaluating all `HEURISTICS`, but faster.
    """
    if link.extension in concepts.file_extensions or (link.is_rdf_link and not link.extension):
        return True
    texts = (link.type, link.title, link.anchor_text, link.context, "/".join(link.indicative_path), link.filename)
    return concepts.has_term(_TEXT_SEPARATOR.join(texts)) or any(concepts.has_content_type(text) for text in texts[:4])


def relevancy_r(link: LinkProperties, concepts: Concepts) -> tuple[LinkClass, str]:
    """Return C = Relevancy_R(Π_L, S_R): R, H or N, and the reason for N."""
    reason = removal_reason(link, concepts)
    if reason:
        return LinkClass.N, reason
    if points_to_rdf(link, concepts):
        return LinkClass.R, ""
    if link.extension in concepts.html_extensions or not (link.is_rdf_link or link.extension):
        return LinkClass.H, ""
    return LinkClass.N, UNKNOWN_EXTENSION


def relevancy_hr(link: LinkProperties, s_hr: SimilarUrls) -> LinkClass:
    """Return C = Relevancy_HR(Π_L, S_HR): HR or H, for a link of class H by Relevancy_R."""
    return LinkClass.HR if s_hr.has_similar(link.host, link.path, link.filename) else LinkClass.H


def predict_class(link: LinkProperties, concepts: Concepts, s_hr: SimilarUrls | None) -> tuple[LinkClass, str]:
    """Return the predicted class by the link analysis algorithm (Fig. 3), and the reason for N."""
    found, reason = relevancy_r(link, concepts)
    if found is LinkClass.H and s_hr is not None:
        found = relevancy_hr(link, s_hr)
    return found, reason
