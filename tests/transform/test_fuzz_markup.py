"""Fuzz tests of the markup extractors: random HTML never raises, and every term can be encoded."""

from __future__ import annotations

import os

import pyoxigraph as ox
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from motherlode.links.collect import collect_links
from motherlode.model import ContentKind, Syntax, TransformResult
from motherlode.transform import html_metadata, microdata, rdfa
from motherlode.transform.bnodes import BlankNames
from motherlode.www.html_prefilter import Mark
from tests.www.pages import URL, document

EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "1000"))
"""Number of examples; the environment variable FUZZ_EXAMPLES overrides it."""

_NAMES = """
html head body base title meta link a area img time data meter div p span ul li table tr td svg script template b i
form object iframe
"""
_ATTRIBUTES = """
itemscope itemprop itemprop-reverse itemref itemid itemtype id property typeof rel rev about resource href src vocab
prefix inlist datatype content datetime value lang xml:lang xmlns:e xml:base role name http-equiv class title
"""
_WORDS = """
a b #a ../x http://example.org/ e:x dc:title og:title _:a [_:a] [e:x] [] license e: http://e/ : // _ xsd:integer
rdf:XMLLiteral rdf:HTML rdfa:copy rdfa:Pattern refresh robots keywords DC.title 2026 en
"""
NAMES = st.sampled_from(_NAMES.split())
ATTRIBUTES = st.sampled_from(_ATTRIBUTES.split())
WORDS = st.sampled_from(_WORDS.split())
TEXT = st.text(max_size=12) | WORDS
VALUES = st.lists(TEXT, max_size=3).map(" ".join)
ATTRIBUTE = st.tuples(ATTRIBUTES, VALUES).map(lambda pair: f' {pair[0]}="{pair[1]}"')
START = st.tuples(NAMES, st.lists(ATTRIBUTE, max_size=5).map("".join), st.sampled_from(["", "/"])).map(
    lambda parts: f"<{parts[0]}{parts[1]}{parts[2]}>"
)
SOUP = st.lists(START | NAMES.map(lambda name: f"</{name}>") | TEXT, max_size=30).map("".join)
BODIES = SOUP.map(lambda soup: soup.encode(errors="replace")) | st.binary(max_size=200)
KINDS = st.sampled_from([ContentKind.HTML, ContentKind.XHTML, ContentKind.XML, ContentKind.SVG])


@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(body=BODIES, kind=KINDS)
def test_markup_extractors_random_html_never_raise(body: bytes, kind: ContentKind) -> None:
    source = document(body, kind=kind)
    found = [
        rdfa.extract(source, BlankNames(URL, Syntax.RDFA), roles=True),
        microdata.extract(source, BlankNames(URL, Syntax.MICRODATA)),
        html_metadata.extract(source, BlankNames(URL, Syntax.PAGE)),
    ]
    lines = "".join(f"{s} {p} {o} .\n" for extraction in found for s, p, o, _ in extraction.statements)
    read = list(ox.parse(lines.encode(), ox.RdfFormat.N_TRIPLES, lenient=True))
    assert len(read) == lines.count(" .\n")
    rdfa.processor_graph(source, BlankNames(URL, Syntax.RDFA))
    for link in collect_links(source, TransformResult(extractions=tuple(found))):
        assert link.url.startswith("http")


@settings(max_examples=EXAMPLES // 2, deadline=None)
@given(body=BODIES)
def test_gates_never_reject_a_page_with_data(body: bytes) -> None:
    """A page without a mark has no data of the syntax: with all marks set, no more statements are found."""
    source, all_marked = document(body), document(body)
    all_marked.marks = frozenset(Mark)
    for syntax, extract in ((Syntax.MICRODATA, microdata.extract), (Syntax.RDFA, rdfa.extract)):
        found = extract(source, BlankNames(URL, syntax)).statements
        assert found == extract(all_marked, BlankNames(URL, syntax)).statements
        marks = rdfa.MARKS if syntax is Syntax.RDFA else {Mark.MICRODATA}
        assert not found or not marks.isdisjoint(source.marks)
