"""Fuzz tests: no input raises, and every statement can be written as N-Quads.

`FUZZ_EXAMPLES=100000 pytest tests/transform/jsonld/test_fuzz.py` runs longer, with different examples each time.
"""

from __future__ import annotations

import json
import os
from typing import Any

import pyoxigraph as ox
from hypothesis import given, settings
from hypothesis import strategies as st

from motherlode.model import Statement
from motherlode.transform.jsonld.errors import JsonLdError
from motherlode.transform.jsonld.processor_options import KEYWORDS

from .helpers import extract_block, process, read

ASKED = os.environ.get("FUZZ_EXAMPLES")
longer = settings(max_examples=int(ASKED or 400), deadline=None, derandomize=ASKED is None)

WORDS = [
    *sorted(KEYWORDS),
    *("a", "b", "c", "name", "Person", "http://p/", "http://p/{x}", "x:y", "_:b", "a:b", "", "/", "#f", "en", "en_US"),
    *("https://schema.org", "http://c/", "ltr", "@later", "a/b", "//h/", "1", "\ud800", "\x00"),
]
words = st.sampled_from(WORDS)
scalars = st.one_of(words, st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(max_size=5))
values = st.recursive(
    scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(words, inner, max_size=5)),
    max_leaves=25,
)
documents = st.dictionaries(words, values, max_size=6)


def check(statements: tuple[Statement, ...]) -> None:
    lines = "".join(f"{s} {p} {o} {g} .\n" for s, p, o, g in statements)
    assert len(list(ox.parse(lines.encode(), ox.RdfFormat.N_QUADS, lenient=True))) == len(statements)


@longer
@given(documents)
def test_read_random_document_never_raises(document: Any) -> None:
    check(process(document, strict=False).statements)
    tolerant = process(document, strict=False, strict_iris=True)
    try:
        strict = process(document)
    except JsonLdError:
        assert tolerant.notes
    else:
        assert strict.statements == tolerant.statements


@longer
@given(values, st.data())
def test_extract_damaged_json_never_raises(value: Any, data: st.DataObject) -> None:
    text = json.dumps(value)
    for _ in range(data.draw(st.integers(0, 4))):
        at = data.draw(st.integers(0, len(text)))
        damage = data.draw(
            st.sampled_from(["", '"', "{", "}", "]", ",", ":", ";", "\\", "\n", "'", "<!--", "/*", "&quot;", "\x00"])
        )
        text = text[:at] + damage + text[at + data.draw(st.integers(0, 3)) :]
    check(extract_block(text).statements)
    check(read(text.encode("utf-8", "surrogatepass")).statements)


@longer
@given(st.binary(max_size=200))
def test_extract_random_bytes_never_raises(body: bytes) -> None:
    check(read(body).statements)
