"""The same reference gives the same IRI in every syntax.

Each document is detected and transformed from its bytes.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from html import escape

import pytest

from motherlode.detect import detect
from motherlode.transform.pipeline import transform
from motherlode.www.document import Document

BASE = "http://base.example/dir/page?q"
P = "http://example.org/p"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"

Writer = Callable[[str], str]


def _turtle(reference: str) -> str:
    """Write an IRI for Turtle. Brackets and backslashes are written as numeric escapes."""
    return "".join(f"\\u{ord(it):04X}" if it in '<>\\"' else it for it in reference)


def _statement(reference: str) -> str:
    return f"<http://s.example/> <{P}> <{_turtle(reference)}> .\n"


ABSOLUTE_ONLY: dict[str, tuple[str, Writer]] = {
    "ntriples": ("application/n-triples", _statement),
    "nquads": (
        "application/n-quads",
        lambda it: f"<http://s.example/> <{P}> <{_turtle(it)}> <http://g.example/> .\n",
    ),
}
WRITERS: dict[str, tuple[str, Writer]] = {
    "turtle": ("text/turtle", lambda it: f"PREFIX e: <http://e.example/>\n{_statement(it)}"),
    "trig": ("application/trig", lambda it: f"<http://g.example/> {{ {_statement(it)} }}"),
    "n3": ("text/n3", lambda it: f"@prefix e: <http://e.example/> .\n{_statement(it)}"),
    "rdfxml": (
        "application/rdf+xml",
        lambda it: (
            f'<rdf:RDF xmlns:rdf="{RDF}" xmlns:e="http://example.org/"><rdf:Description rdf:about="http://s.example/">'
            f'<e:p rdf:resource="{escape(it)}"/></rdf:Description></rdf:RDF>'
        ),
    ),
    "jsonld": ("application/ld+json", lambda it: json.dumps({"@id": "http://s.example/", P: {"@id": it}})),
    "jsonld script": (
        "text/html",
        lambda it: (
            '<!doctype html><script type="application/ld+json">'
            f"{json.dumps({'@id': 'http://s.example/', P: {'@id': it}})}</script>"
        ),
    ),
    "turtle script": ("text/html", lambda it: f'<!doctype html><script type="text/turtle">{_statement(it)}</script>'),
    "rdfa href": (
        "text/html",
        lambda it: f'<!doctype html><p about="http://s.example/"><a rel="{P}" href="{escape(it)}">x</a>',
    ),
    "rdfa resource": (
        "text/html",
        lambda it: f'<!doctype html><p about="http://s.example/" property="{P}" resource="{escape(it)}">x',
    ),
    "rdfa in xhtml": (
        "application/xhtml+xml",
        lambda it: (
            '<html xmlns="http://www.w3.org/1999/xhtml"><body>'
            f'<p about="http://s.example/"><a rel="{P}" href="{escape(it)}">x</a></p></body></html>'
        ),
    ),
    "microdata": (
        "text/html",
        lambda it: (
            '<!doctype html><p itemscope itemid="http://s.example/" itemtype="http://t.example/T">'
            f'<a itemprop="{P}" href="{escape(it)}">x</a>'
        ),
    ),
    "microformats": (
        "text/html",
        lambda it: f'<!doctype html><p class="h-card"><a class="u-p" href="{escape(it)}">x</a>',
    ),
    "page": ("text/html", lambda it: f'<!doctype html><head><link rel="canonical" href="{escape(it)}"></head>'),
}
UNTOUCHED = {
    "http://e.org/é": "http://e.org/é",
    "HTTP://E.org:80/a/../b/./%7Ec?d#e": "HTTP://E.org:80/a/../b/./%7Ec?d#e",
    "http://e.org": "http://e.org",
    "urn:isbn:1": "urn:isbn:1",
    "http://e.org/日本語?ключ=値#ü": "http://e.org/日本語?ключ=値#ü",
}
RELATIVE = {
    "é": "http://base.example/dir/é",
    "../x/./y": "http://base.example/x/y",
    "/x/../y": "http://base.example/y",
    "?a=b": "http://base.example/dir/page?a=b",
    "#f": "http://base.example/dir/page?q#f",
    "//h.example/a": "http://h.example/a",
    "../../../x": "http://base.example/x",
}
REPAIRED = {
    "http://e.org/é x": "http://e.org/é%20x",
    "http://e.org/{a}|b": "http://e.org/%7Ba%7D%7Cb",
    'http://e.org/"a"^`b`': "http://e.org/%22a%22%5E%60b%60",
    "http://e.org/a#b#c": "http://e.org/a#b%23c",
    "http://e.org/<a>\\b": "http://e.org/%3Ca%3E%5Cb",
    "http://e.org/a[0]?b[]=1": "http://e.org/a%5B0%5D?b%5B%5D=1",
    "http://e.org/50%": "http://e.org/50%25",
    "http://e.org/\ufffd": "http://e.org/%EF%BF%BD",
    "http://e.org/a b. #c {d} 'e": "http://e.org/a%20b.%20#c%20%7Bd%7D%20'e",
}
REPAIRED_RELATIVE = {
    "é x": "http://base.example/dir/é%20x",
    "../a b/{c}": "http://base.example/a%20b/%7Bc%7D",
    "#a#b": "http://base.example/dir/page?q#a%23b",
}
PREDICATES = (f"<{P}>", "<http://microformats.org/profile/p>", "<http://www.iana.org/assignments/relation/canonical>")


def _read(name: str, reference: str) -> tuple[list[str], list[bool]]:
    """Return the objects of the statements, and for each problem of the content whether it was repaired."""
    content_type, write = {**WRITERS, **ABSOLUTE_ONLY}[name]
    body = write(reference).encode()
    document = Document(url=BASE, body=body, detected=detect(body, url=BASE, content_type=content_type))
    result = transform(document, content_type=content_type)
    objects = [s[2] for extraction in result.extractions for s in extraction.statements if s[1] in PREDICATES]
    problems = [*result.problems, *(problem for extraction in result.extractions for problem in extraction.problems)]
    return objects, [problem.repaired for problem in problems]


@pytest.mark.parametrize(("reference", "expected"), [*UNTOUCHED.items(), *RELATIVE.items()])
@pytest.mark.parametrize("name", WRITERS)
def test_transform_valid_reference_gives_same_iri_in_every_syntax(name: str, reference: str, expected: str) -> None:
    assert _read(name, reference) == ([f"<{expected}>"], [])


@pytest.mark.parametrize(("reference", "expected"), [*REPAIRED.items(), *REPAIRED_RELATIVE.items()])
@pytest.mark.parametrize("name", WRITERS)
def test_transform_forbidden_characters_are_encoded_in_every_syntax(name: str, reference: str, expected: str) -> None:
    assert _read(name, reference) == ([f"<{expected}>"], [True])


@pytest.mark.parametrize("name", ABSOLUTE_ONLY)
def test_transform_ntriples_and_nquads_repair_iris_alike(name: str) -> None:
    for reference, expected in UNTOUCHED.items():
        assert _read(name, reference) == ([f"<{expected}>"], [])
    for reference, expected in REPAIRED.items():
        assert _read(name, reference) == ([f"<{expected}>"], [True])


@pytest.mark.parametrize("name", [*WRITERS, *ABSOLUTE_ONLY])
def test_transform_invalid_host_loses_statement_in_every_syntax(name: str) -> None:
    objects, repaired = _read(name, "http://[bad/")
    assert not objects
    assert repaired == [False]


@pytest.mark.parametrize(
    "name", ["jsonld", "jsonld script", "rdfxml", "rdfa href", "microdata", "microformats", "page"]
)
def test_transform_white_space_around_reference_is_ignored(name: str) -> None:
    objects, repaired = _read(name, " http://e.org/a ")
    assert objects == ["<http://e.org/a>"]
    assert all(repaired)


@pytest.mark.parametrize("name", ["jsonld script", "turtle script", "rdfa href", "microdata", "microformats", "page"])
def test_transform_base_element_keeps_its_spelling_in_every_syntax(name: str) -> None:
    content_type, write = WRITERS[name]
    start, _, rest = write("é").partition("<!doctype html>")
    body = f'{start}<!doctype html><base href="/ä/">{rest}'.encode()
    document = Document(url=BASE, body=body, detected=detect(body, url=BASE, content_type=content_type))
    result = transform(document, content_type=content_type)
    objects = [s[2] for extraction in result.extractions for s in extraction.statements if s[1] in PREDICATES]
    assert objects == ["<http://base.example/ä/é>"]
    assert document.base == "http://base.example/%C3%A4/"


@pytest.mark.parametrize("name", WRITERS)
def test_transform_page_url_is_repaired_in_every_syntax(name: str) -> None:
    content_type, write = WRITERS[name]
    body = write("x").encode()
    document = Document(
        url="http://e.org/a b[0]/", body=body, detected=detect(body, url=BASE, content_type=content_type)
    )
    result = transform(document, content_type=content_type)
    objects = [s[2] for extraction in result.extractions for s in extraction.statements if s[1] in PREDICATES]
    assert objects == ["<http://e.org/a%20b%5B0%5D/x>"]


def test_transform_rdfxml_without_rdf_namespace_is_read_if_declared() -> None:
    body = b'<?xml version="1.0"?>\n<Book xmlns="http://example.org/terms#">\n <title>Dogs in Hats</title>\n</Book>'
    detected = detect(body, url=BASE, content_type="application/rdf+xml")
    (extraction,) = transform(Document(url=BASE, body=body, detected=detected)).extractions
    assert [s[1:3] for s in extraction.statements] == [
        (f"<{RDF}type>", "<http://example.org/terms#Book>"),
        ("<http://example.org/terms#title>", '"Dogs in Hats"'),
    ]
    assert not extraction.problems
