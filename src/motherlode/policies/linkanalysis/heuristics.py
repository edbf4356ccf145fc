"""Classes of links by their properties: the heuristics and relevancy functions of Emamdadi et al., III.C.

A link has nine properties Π_L (III.C.1). The concepts S_R of RDF documents and S_HR, the HTML pages that linked to RDF
documents, say what they mean.

S_R (III.C.2) is read from text files that users can replace. `content_types.txt`, `file_extensions.txt` and `terms.txt`
are the sets of the paper. `other_extensions.txt` and `html_extensions.txt` are the extensions of its steps 1 and 3. A
user's folder needs only the files that differ from ours. The paper prints four terms and "…".

A property satisfies a heuristic if it *contains* a term: "rdf" is also in "wordforms". The variant with whole words
also has the terms of `words.txt`, such as "owl", which many other words contain. Terms may be in any script. Scripts
without spaces between words have no whole words, so a term in Chinese, Japanese or Thai is found anywhere.

Each heuristic is a predicate on the properties of a link and the concepts. So its precision and recall can be measured
(Table II). The relevancy functions (III.C.2 and III.C.3) combine the heuristics.

S_HR is the set of HTML pages that linked to RDF documents. Two URLs of one host are similar if their paths differ in
the last directory only, or if their paths are equal and their file names differ. So no pairs need to be compared: for
each of the two rules a URL has a *family* (host and all directories but the last; host and all directories), and S_HR
has a similar URL if and only if the family has a member other than the URL itself. Two members per family are enough to
know that. Families are stored as hashes, so the cost of a lookup does not depend on the size of S_HR, and a family
takes about 200 bytes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple
from unicodedata import name, normalize
from urllib.parse import unquote

import msgspec
import xxhash

from motherlode.model import ContentKind, Link, Outcome
from motherlode.www.media_types import MEDIA, by_extension

_RDF_KINDS = frozenset(kind.value for kind, media in MEDIA.items() if media.is_rdf)
_HTML_KINDS = frozenset({ContentKind.HTML.value, ContentKind.XHTML.value})
_PACKED = frozenset({"gz", "bz2", "xz", "zip"})
_MAX_EXTENSION_CHARACTERS = 8


class LinkClass(Enum):
    """The four classes of documents (III.A). The value is the priority of a link to one (Fig. 3)."""

    R = 3
    """RDF documents."""
    HR = 2
    """HTML documents that contain at least one link pointing to an RDF document."""
    H = 1
    """HTML documents without such a link."""
    N = -1
    """All other documents: links to them are removed."""


class LinkProperties(NamedTuple):
    """The nine properties of a link, Π_L in the paper. Missing properties are empty."""

    protocol: str
    host: str
    path: tuple[str, ...]
    """The directories. A last part without an extension counts as a directory, as in the paper's `/staffs/staff1`."""
    filename: str
    """With its extension and with the query, because the query distinguishes documents with the same file name."""
    extension: str
    """In lower case and without the dot. For a compressed file such as `x.nt.gz`, the extension of its content."""
    type: str
    title: str
    anchor_text: str
    context: str
    is_rdf_link: bool
    """Whether the link comes from an RDF document. Then type, title, anchor text and context are ignored."""
    indicative_path: tuple[str, ...]
    """The directories in which terms are searched."""


def is_rdf_document(kind: str) -> bool:
    return kind in _RDF_KINDS


def is_html_document(kind: str) -> bool:
    return kind in _HTML_KINDS


def link_properties(link: Link, parent: Outcome | None = None, *, new_path_only: bool = False) -> LinkProperties:
    """Return the properties of a link.

    The paper searches terms in the whole path. A directory that also contains the HTML page with the link says nothing
    about the target, and on a site below `/my-rdf/` it puts every page into class R. With `new_path_only`, which is not
    in the paper, such directories are not searched.

    >>> from motherlode.model import LinkSource
    >>> found = link_properties(Link(url="http://example.com/staffs/data/one.rdf", source=LinkSource.ANCHOR))
    >>> found.host, found.path, found.filename, found.extension
    ('example.com', ('staffs', 'data'), 'one.rdf', 'rdf')
    """
    protocol, host, path, filename, extension = url_properties(link.url)
    if parent is not None and parent.kind in _RDF_KINDS:
        return LinkProperties(protocol, host, path, filename, extension, "", "", "", "", True, path)
    indicative = path
    if parent is not None and new_path_only and host == parent.host:
        around = _directories(parent.url)
        indicative = tuple(directory for directory in path if directory not in around)
    texts = (link.type, link.title, link.anchor, link.context)
    return LinkProperties(protocol, host, path, filename, extension, *texts, False, indicative)


@lru_cache(maxsize=64)  # the same for all links of a page
def _directories(url: str) -> frozenset[str]:
    return frozenset(url_properties(url)[2])


def url_properties(url: str) -> tuple[str, str, tuple[str, ...], str, str]:
    """Return protocol, host, path, file name and extension of a URL.

    >>> url_properties("http://example.com/staffs/staff1")
    ('http', 'example.com', ('staffs', 'staff1'), '', '')
    >>> url_properties("http://example.com/dump.nt.gz?v=2")
    ('http', 'example.com', (), 'dump.nt.gz?v=2', 'nt')
    """
    protocol, _, rest = url.partition(":")
    rest, mark, query = rest.removeprefix("//").partition("#")[0].partition("?")
    host, *parts = rest.split("/")
    last = parts.pop() if parts else ""
    extension = _extension(last)
    filename = last if extension else ""
    if last and not extension:
        parts.append(last)
    return protocol, host, tuple(part for part in parts if part), f"{filename}{mark}{query}", extension


def _extension(name: str) -> str:
    """Return the extension of a file name, or "". A number, as in `v1.2`, is not an extension."""
    if "." not in name:
        return ""
    stem, _, extension = name.lower().rpartition(".")
    if extension in _PACKED and "." in stem:
        inner = stem.rpartition(".")[2]
        extension = inner if by_extension(f"/x.{inner}") is not None else extension
    if not stem or len(extension) > _MAX_EXTENSION_CHARACTERS or not extension[:1].isalnum() or extension.isdigit():
        return ""
    return extension if extension.isalnum() else ""


_MAX_FAMILIES = 1_000_000
"""If S_HR has this many families, no further family is added."""
_Family = tuple[int, ...]


class SimilarUrls:
    """A set of URLs that answers whether it contains a URL similar to a given one."""

    def __init__(self, max_families: int = _MAX_FAMILIES) -> None:
        self._families: dict[int, _Family] = {}
        """Hashes of at most two members of each family."""
        self._most = max_families

    def __len__(self) -> int:
        """Return the number of families, not of URLs."""
        return len(self._families)

    def add(self, url: str) -> None:
        _, host, path, filename, _ = url_properties(url)
        for family, member in _families_and_members(host, path, filename):
            known = self._families.get(family, ())
            if len(known) < 2 and member not in known and (known or len(self._families) < self._most):
                self._families[family] = (*known, member)

    def has_similar(self, host: str, path: tuple[str, ...], filename: str) -> bool:
        """Return whether the set has a URL similar to the one with these properties."""
        if not self._families:
            return False
        for family, member in _families_and_members(host, path, filename):
            known = self._families.get(family)
            if known is not None and (len(known) > 1 or known[0] != member):
                return True
        return False

    def merge(self, state: bytes) -> None:
        for family, members in msgspec.msgpack.decode(state, type=dict[int, _Family]).items():
            known = self._families.get(family, ())
            if known or len(self._families) < self._most:
                self._families[family] = tuple(dict.fromkeys((*known, *members)))[:2]

    def dump(self) -> bytes:
        return msgspec.msgpack.encode(self._families)

    def load(self, state: bytes) -> None:
        self._families = msgspec.msgpack.decode(state, type=dict[int, _Family])


def _families_and_members(host: str, path: tuple[str, ...], filename: str) -> list[tuple[int, int]]:
    """Return the hashes of family and member of a URL for each of the two rules."""
    files = (_hash("file", host, *path), _hash(filename))
    if not path:
        return [files]
    return [(_hash("directory", host, *path[:-1]), _hash(path[-1])), files]


def _hash(*parts: str) -> int:
    number: int = xxhash.xxh3_64_intdigest("\n".join(parts).encode("utf-8", "replace"))
    return number


_OWN = Path(__file__).parent
_TERMS, _WORDS = "terms.txt", "words.txt"
_FILES = ("content_types.txt", "file_extensions.txt", _TERMS, _WORDS, "html_extensions.txt", "other_extensions.txt")
_words = re.compile(r"[^\W_]+").findall
_UNSPACED_SCRIPTS = ("CJK", "HIRAGANA", "KATAKANA", "BOPOMOFO", "THAI", "LAO", "KHMER", "MYANMAR", "TIBETAN")


@dataclass(frozen=True, slots=True, kw_only=True)
class Concepts:
    """S_R of Emamdadi et al. (III.C.2): the strings by which a link to an RDF document is recognized.

    All are in lower case, and file extensions have no dot.
    """

    content_types: frozenset[str]
    """Media types of RDF (S_RDFContentTypes in the paper)."""
    file_extensions: frozenset[str]
    """File extensions of RDF (S_RDFFileExtensions in the paper)."""
    contained: tuple[str, ...]
    """Terms (S_RDFTerms in the paper) that count anywhere in a text, also inside a word."""
    words: frozenset[str]
    """Terms that count only as one whole word."""
    phrases: tuple[str, ...]
    """Terms of several whole words, each stored with a space before and after it."""
    html_extensions: frozenset[str]
    other_extensions: frozenset[str]

    def has_term(self, text: str) -> bool:
        """Return whether the text contains one of the terms, in upper or lower case.

        >>> default_concepts().has_term("Export: RDF/XML"), default_concepts().has_term("wordforms")
        (True, True)
        >>> words = concepts_from(whole_words=True)
        >>> words.has_term("as JSON-LD"), words.has_term("wordforms")
        (True, False)
        """
        if not text:
            return False
        text = fold_case(text)
        return any(term in text for term in self.contained) or self._has_words(text)

    def _has_words(self, text: str) -> bool:
        if not self.words and not self.phrases:
            return False
        found = _words(text)
        if not self.words.isdisjoint(found):
            return True
        framed = f" {' '.join(found)} "
        return any(phrase in framed for phrase in self.phrases)

    def has_content_type(self, text: str) -> bool:
        """Return whether the text contains one of the content types."""
        if "/" not in text:
            return False
        lowered = text.lower()
        return any(content_type in lowered for content_type in self.content_types)


def concepts_from(folder: Path | None = None, *, whole_words: bool = False) -> Concepts:
    """Read the concepts of a folder. Files that are missing in the folder are replaced by ours.

    If `whole_words` is set, a term is found only as a whole word, and the terms of `words.txt` are added.
    """
    if folder is not None and not any((folder / name).is_file() for name in _FILES):
        raise ValueError(f"{folder} contains none of the files {', '.join(_FILES)}")
    types, extensions, terms, words, html, other = (_lines(folder, name) for name in _FILES)
    if whole_words and not _replaces_only_terms(folder):
        terms |= words
    split = {term for term in terms if whole_words and not _is_unspaced(term)}
    return Concepts(
        content_types=types,
        file_extensions=frozenset(line.lstrip(".") for line in extensions),
        contained=tuple(sorted(terms - split)),
        words=frozenset(spelled for term in split if " " not in (spelled := _spell(term))),
        phrases=tuple(sorted(f" {spelled} " for term in split if " " in (spelled := _spell(term)))),
        html_extensions=frozenset(line.lstrip(".") for line in html),
        other_extensions=frozenset(line.lstrip(".") for line in other),
    )


def _replaces_only_terms(folder: Path | None) -> bool:
    """Return whether a user's folder has `terms.txt` but no `words.txt`: then our `words.txt` is not used."""
    return folder is not None and (folder / _TERMS).is_file() and not (folder / _WORDS).is_file()


def _is_unspaced(term: str) -> bool:
    return any(name(character, "").startswith(_UNSPACED_SCRIPTS) for character in term if character > "\u0dff")


def _spell(term: str) -> str:
    """Return the words of a term with single spaces. Raises ValueError if it has none."""
    found = _words(term)
    if not found:
        raise ValueError(f"the term {term!r} has no letter and no digit, so it is no word: use match=contains")
    return " ".join(found)


def fold_case(text: str) -> str:
    """Return the text in one spelling: without case, and with composed characters."""
    return text.lower() if text.isascii() else normalize("NFC", text.casefold())


@cache
def default_concepts() -> Concepts:
    return concepts_from()


def _lines(folder: Path | None, name: str) -> frozenset[str]:
    """Return the lines of a file in lower case, without comments."""
    path = _OWN / name if folder is None or not (folder / name).is_file() else folder / name
    lines = (
        " ".join(fold_case(line.partition("#")[0]).split()) for line in path.read_text(encoding="utf-8").splitlines()
    )
    return frozenset(line for line in lines if line)


def _searched_path(link: LinkProperties) -> str:
    return _unquoted("/".join(link.indicative_path))


def _unquoted(text: str) -> str:
    """Return the text with percent-encoded characters decoded, so that terms in any script are found in URLs."""
    return unquote(text) if "%" in text else text


Heuristic = Callable[[LinkProperties, Concepts], bool]

HEURISTICS: Mapping[str, Heuristic] = {
    "type:terms": lambda link, concepts: concepts.has_term(link.type),
    "title:terms": lambda link, concepts: concepts.has_term(link.title),
    "anchortext:terms": lambda link, concepts: concepts.has_term(link.anchor_text),
    "context:terms": lambda link, concepts: concepts.has_term(link.context),
    "path:terms": lambda link, concepts: concepts.has_term(_searched_path(link)),
    "filename:terms": lambda link, concepts: concepts.has_term(_unquoted(link.filename)),
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
    texts = (link.type, link.title, link.anchor_text, link.context)
    return any(map(concepts.has_term, (*texts, _searched_path(link), _unquoted(link.filename)))) or any(
        map(concepts.has_content_type, texts)
    )


def relevancy_r(link: LinkProperties, concepts: Concepts) -> tuple[LinkClass, str]:
    """Return the class R, H or N of a link by the paper's Relevancy_R(Π_L, S_R), and the reason for N."""
    reason = removal_reason(link, concepts)
    if reason:
        return LinkClass.N, reason
    if points_to_rdf(link, concepts):
        return LinkClass.R, ""
    if link.extension in concepts.html_extensions or not (link.is_rdf_link or link.extension):
        return LinkClass.H, ""
    return LinkClass.N, UNKNOWN_EXTENSION


def relevancy_hr(link: LinkProperties, s_hr: SimilarUrls) -> LinkClass:
    """Return the class HR or H by the paper's Relevancy_HR(Π_L, S_HR), for a link of class H by Relevancy_R."""
    return LinkClass.HR if s_hr.has_similar(link.host, link.path, link.filename) else LinkClass.H


def predict_class(link: LinkProperties, concepts: Concepts, s_hr: SimilarUrls | None) -> tuple[LinkClass, str]:
    """Return the predicted class by the link analysis algorithm (Fig. 3), and the reason for N."""
    found, reason = relevancy_r(link, concepts)
    if found is LinkClass.H and s_hr is not None:
        found = relevancy_hr(link, s_hr)
    return found, reason
