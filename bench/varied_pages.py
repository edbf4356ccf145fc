"""Any number of realistic pages: the pages of ../shared/corpus with their statements, in as many variants as needed.

The pages of the corpus are extracted once. Variant 0 has their own quads. In each other one, the hosts of all pages and
subjects have another name, and a third of the words of each longer literal are others, drawn from all words of such
literals with their frequencies. The same literal of a variant is the same on all its pages. So sizes of pages, terms,
vocabularies, syntaxes and the share of repeated statements are those of the corpus.
"""

from __future__ import annotations

import pickle
import random
import re
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit
from zlib import crc32

from motherlode.detect import detect
from motherlode.index.page_record import PageRecord, serialize_page, syntax_keys
from motherlode.model import Page, Statement
from motherlode.model.terms import page_iri
from motherlode.sim.trace.recorder import Responses
from motherlode.transform import transform
from motherlode.transform.timeouts import shared_timer
from motherlode.www.document import Document

CORPUS = Path(__file__).resolve().parents[2] / "shared" / "corpus" / "sites.warc.gz"
_HOST, _TEXT = "\x00", "\x01"
"""Marks in a template: before a host name that varies, and around a literal that varies."""
_AUTHORITY = re.compile(r"//([^/?#<>\"\s]+)")
_MIN_WORDS = 3
_CHANGED_SHARE = 3
_HEX = b"0123456789abcdef"


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """A page of the corpus, from which its variants are made."""

    url: str
    host: str
    pieces: tuple[bytes, ...]
    """Its quads. Every second piece is the text of a literal that varies."""
    quads: int
    graphs: tuple[str, ...]
    media_type: str
    kind: str
    syntaxes: tuple[str, ...]
    says: tuple[str, ...]
    size: int
    things: tuple[str, ...]
    """Subjects with the marks of a template."""
    stars: tuple[tuple[str, str, str, str], ...]
    """Predicate and object that some things have, and two other predicates of such a thing."""
    names: tuple[bytes, ...]
    """Texts of literals that vary."""


class VariedPages:
    """Numbered pages with quads, from 0 on. The same number is always the same page."""

    def __init__(self) -> None:
        self._templates = _load_templates()
        self._words = [
            word for template in self._templates for text in template.pieces[1::2] for word in text.split(b" ") if word
        ]
        self._variant, self._texts = 0, dict[bytes, bytes]()

    def pages(self, quads: int) -> Iterator[PageRecord]:
        """Yield pages with this many quads in total."""
        made = number = 0
        while made < quads:
            page = self.page(number)
            yield page
            made += page.quads
            number += 1

    def page(self, number: int) -> PageRecord:
        variant, index = divmod(number, len(self._templates))
        template = self._templates[index]
        label = _label(variant)
        pieces = list(template.pieces)
        pieces[1::2] = [self._vary(text, variant) for text in pieces[1::2]]
        lines = b"".join(pieces).replace(_HOST.encode(), label.encode())
        url = template.url.replace(_HOST, label)
        keys = bytes.maketrans(_HEX, _HEX[variant % 16 :] + _HEX[: variant % 16])
        return PageRecord(
            url=url,
            fetched_at=1.7e9 + number,
            status=200,
            graph_quads=lines,
            quads=template.quads,
            graphs=tuple(graph.replace(_HOST, label) for graph in template.graphs),
            media_type=template.media_type,
            kind=template.kind,
            syntaxes=template.syntaxes,
            says=tuple(_rename_keys(key, keys) for key in template.says),
            content_hash=f"sha256:{number:064x}",
            size=template.size,
            headers=f'content-type: {template.media_type}\ncontent-length: {template.size}\netag: "{number:x}"',
            referrer=f"https://{label}{template.host}/",
            is_relevant=True,
            score=1 / (1 + number % 997),
            seconds=0.05 + number % 1000 / 1000,
        )

    def question(self, dice: random.Random, newest: int) -> tuple[str, tuple[str, str, str, str], str]:
        """Return a thing, the terms of a star join, and two words, of random pages up to a number."""
        thing = star = words = None
        while not (thing and star and words):
            variant, index = divmod(dice.randint(0, newest), len(self._templates))
            template, label = self._templates[index], _label(variant)
            if template.things and not thing:
                thing = dice.choice(template.things).replace(_HOST, label)
            elif template.stars and not star:
                star = tuple(term.replace(_HOST, label) for term in dice.choice(template.stars))
            elif template.names and not words:
                found = re.findall(r"[a-z]{4,}", self._vary(dice.choice(template.names), variant).decode().lower())
                words = " ".join(dice.sample(found, 2)) if len(found) > 1 else None
        return thing, star, words

    def _vary(self, text: bytes, variant: int) -> bytes:
        if not variant:
            return text
        if variant != self._variant:
            self._variant, self._texts = variant, {}
        found = self._texts.get(text)
        if found is None:
            words, seed = text.split(b" "), crc32(text)
            start = seed % _CHANGED_SHARE
            for place in range(start, len(words), _CHANGED_SHARE):
                words[place] = self._words[(seed + place * 7_919 + variant * 104_729) % len(self._words)]
            found = self._texts[text] = b" ".join(words)
        return found


def _label(variant: int) -> str:
    return f"v{variant}." if variant else ""


def _rename_keys(key: str, table: bytes) -> str:
    name, _, digits = key.partition(" ")
    return f"{name} {digits.encode().translate(table).decode()}"


def _load_templates() -> list[Template]:
    """Read the templates from a file in the folder for temporary files, and make it if it is missing."""
    stat, source = CORPUS.stat(), crc32(Path(__file__).read_bytes())
    path = Path(tempfile.gettempdir()) / f"bench-varied-pages-{source:x}-{stat.st_size}-{int(stat.st_mtime)}.pickle"
    if not path.exists():
        templates = _make_templates()
        new = path.with_suffix(".new")
        new.write_bytes(pickle.dumps(templates))
        new.replace(path)
    return pickle.loads(path.read_bytes())  # type: ignore[no-any-return]


def _make_templates() -> list[Template]:
    found = []
    with shared_timer():
        for page in Responses(CORPUS):
            if isinstance(page, Page) and page.status == 200:
                template = _make_template(page)
                if template is not None:
                    found.append(template)
    random.Random(1).shuffle(found)
    return found


def _make_template(page: Page) -> Template | None:
    kind = detect(page.body, url=page.url, content_type=page.content_type)
    result = transform(Document(url=page.url, body=page.body, detected=kind))
    _, quads, graphs = serialize_page(page.url, result)
    if not quads:
        return None
    host = urlsplit(page.url).netloc
    statements = list(dict.fromkeys(item for extraction in result.extractions for item in extraction.statements))
    own = {host} | {match[1] for subject, *_ in statements if (match := _AUTHORITY.search(subject))}
    url = page.url.replace(f"//{host}", f"//{_HOST}{host}", 1)
    marked = [_mark(item, own) for item in statements]
    names = dict.fromkeys(graph for *_, graph in statements if graph)
    in_page = {name: _mark_term(graph, own) for name, graph in zip(names, graphs, strict=True)}
    lines = _serialize(_mark_term(page_iri(page.url), own), in_page, marked)
    pieces = tuple(piece.encode("utf-8", "replace") for piece in lines.split(_TEXT))
    return Template(
        url=url,
        host=host,
        pieces=pieces,
        quads=quads,
        graphs=tuple(in_page.values()),
        media_type=page.content_type,
        kind=kind.kind.value,
        syntaxes=tuple(sorted({item.syntax.value for item in result.extractions if item.statements})),
        says=syntax_keys(result),
        size=len(page.body),
        things=tuple({subject: None for subject, *_ in marked if subject.startswith("<")}),
        stars=tuple(_stars(marked))[:50],
        names=pieces[1::2],
    )


def _mark(item: Statement, own: set[str]) -> Statement:
    """Mark what varies in a statement: hosts of the page and of its subjects, blank nodes, longer literals."""
    subject, predicate, object_, graph = item
    return _mark_term(subject, own), predicate, _mark_term(object_, own), graph


def _mark_term(term: str, own: set[str]) -> str:
    if term.startswith("_:"):
        return f"_:{_HOST}{term[2:]}"
    text, quote, end = term.rpartition('"')
    if quote and text.count(" ") >= _MIN_WORDS - 1 and "\\" not in text and "^^" not in end:
        return f'"{_TEXT}{text[1:]}{_TEXT}"{end}'
    return _AUTHORITY.sub(lambda match: f"//{_HOST}{match[1]}" if match[1] in own else match[0], term)


def _serialize(page: str, graphs: dict[str, str], statements: Iterable[Statement]) -> str:
    return "".join(
        f"{subject} {predicate} {object_} {graphs[graph] if graph else page} .\n"
        for subject, predicate, object_, graph in statements
    )


def _stars(statements: Iterable[Statement]) -> Iterator[tuple[str, str, str, str]]:
    """Yield predicate and object that a thing has, with two other predicates of the thing that have literals."""
    things: dict[str, list[tuple[str, str]]] = {}
    for subject, predicate, object_, _ in statements:
        things.setdefault(subject, []).append((predicate, object_))
    for pairs in things.values():
        texts = list(dict.fromkeys(predicate for predicate, object_ in pairs if object_.startswith('"')))
        for predicate, object_ in pairs:
            if len(texts) > 1 and object_.startswith("<http") and _HOST in object_:
                yield predicate, object_, texts[0], texts[1]
