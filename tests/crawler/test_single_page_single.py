"""One page without a crawl: a body, or a file of any size."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from motherlode.crawler.config.errors import JobError
from motherlode.crawler.single_page import InputSource, read_source
from motherlode.model import ContentKind, Statement, Syntax, TransformResult

TURTLE = "<> <http://schema.org/name> 'Ann' ."
PAGE = (
    '<p itemscope itemtype="http://schema.org/Person"><b itemprop=name>Ann</b></p>'
    '<p vocab="http://schema.org/" typeof="Place"></p>'
)


def whole(
    source: InputSource, syntaxes: frozenset[Syntax] | None = None
) -> tuple[list[TransformResult], list[Statement]]:
    found = [part.facts for part in read_source(source, syntaxes)]
    return found, [statement for facts in found for one in facts.extractions for statement in one.statements]


def test_a_body_is_read_and_may_be_held_to_some_syntaxes() -> None:
    source = InputSource(url="http://a.example/", content_type="text/html", body=PAGE.encode())
    ((facts,), _) = whole(source)
    assert {Syntax.MICRODATA, Syntax.RDFA} <= set(facts.counts)
    ((facts,), _) = whole(source, frozenset({Syntax.RDFA}))
    assert set(facts.counts) == {Syntax.RDFA}


@pytest.mark.parametrize("name", ["data.ttl", "data"])
def test_a_file_is_known_by_its_name_or_its_content(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text(f"@prefix schema: <http://schema.org/> .\n{TURTLE}")
    _, statements = whole(InputSource(url="http://a.example/", path=path))
    assert statements == [("<http://a.example/>", "<http://schema.org/name>", '"Ann"', "")]


@pytest.mark.parametrize("base", ["http://a.example/", "http://a.example/data.ttl"])
def test_the_name_of_a_file_counts_whatever_page_it_is_said_to_be(tmp_path: Path, base: str) -> None:
    path = tmp_path / "part.html"
    path.write_text(PAGE)
    (part,) = read_source(InputSource(url=base, path=path), None)
    assert part.kind is ContentKind.HTML
    assert {Syntax.MICRODATA, Syntax.RDFA} <= set(part.facts.counts)


def test_a_name_that_tells_nothing_leaves_it_to_the_page(tmp_path: Path) -> None:
    path = tmp_path / "download.1"
    path.write_text(PAGE)
    (part,) = read_source(InputSource(url="http://a.example/part.html", path=path), None)
    assert part.kind is ContentKind.HTML


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("a.ttl", ContentKind.TURTLE),
        ("a.nt", ContentKind.N_TRIPLES),
        ("a.rdf", ContentKind.EMPTY),
        ("a", ContentKind.EMPTY),
    ],
)
def test_nothing_at_all_is_a_document_where_the_syntax_says_so(tmp_path: Path, name: str, kind: ContentKind) -> None:
    path = tmp_path / name
    path.touch()
    (part,) = read_source(InputSource(url="http://a.example/", path=path), None)
    assert part.kind is kind


def triples(count: int) -> str:
    return "".join(
        f'<http://a.example/{number}> <http://p.example/> "{"x" * 40}{number}" .\n' for number in range(count)
    )


def test_a_large_document_comes_in_pieces_which_together_are_the_whole(tmp_path: Path) -> None:
    path, text = tmp_path / "data.nt", triples(25_000)
    assert len(text) > 1 << 20
    path.write_text(text + '<http://a.example/> <http://p.example/> "open\n' + text[:100].partition("\n")[0])
    pieces, statements = whole(InputSource(url="http://a.example/", path=path))
    assert len(pieces) == 2
    assert all(sum(facts.counts.values()) <= 20_000 for facts in pieces)
    assert len(set(statements)) == 25_000
    assert sum(len(facts.all_problems()) for facts in pieces) == 1
    body = InputSource(url="http://a.example/", content_type="application/n-triples", body=path.read_bytes())
    assert set(whole(body)[1]) == set(statements)


def test_a_large_document_of_another_syntax_than_asked_for_gives_nothing(tmp_path: Path) -> None:
    path = tmp_path / "data.nt"
    path.write_text(triples(15_000))
    assert whole(InputSource(url="http://a.example/", path=path), frozenset({Syntax.RDFA}))[1] == []


@pytest.mark.parametrize("count", [10, 25_000])
def test_read_source_reports_rdf_that_is_labelled_as_another_syntax(tmp_path: Path, count: int) -> None:
    path = tmp_path / "data.nt"
    path.write_text("@prefix e: <http://e.example/> .\n" + triples(count))
    pieces, statements = whole(InputSource(url="http://a.example/data.nt", path=path))
    assert len(statements) == count
    (problem,) = [problem for facts in pieces for problem in facts.all_problems()]
    assert (problem.message, problem.repaired) == ("labelled as ntriples, read as turtle", True)


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    for path in (tmp_path / "none.ttl", tmp_path):
        with pytest.raises(JobError, match="cannot be read"):
            whole(InputSource(url="http://a.example/", path=path))


JSON_LD = b'{"@context": "http://c.example/1", "@id": "http://a.example/", "name": "Ann"}'
CONTEXTS = {
    "http://c.example/1": b'{"@context": ["http://c.example/2", {"@vocab": "http://v.example/"}]}',
    "http://c.example/2": b'{"@context": {"name": "http://v.example/called"}}',
}


def test_contexts_that_are_missing_are_asked_for_once_each_and_those_that_they_want_too() -> None:
    asked: list[str] = []

    def get(urls: Sequence[str]) -> dict[str, bytes]:
        asked.extend(urls)
        return {url: CONTEXTS[url] for url in urls if url in CONTEXTS}

    source = InputSource(url="http://a.example/x", content_type="application/ld+json", body=JSON_LD)
    (part,) = read_source(source, None, get)
    assert asked == ["http://c.example/1", "http://c.example/2"]
    assert [s[1:3] for one in part.facts.extractions for s in one.statements] == [
        ("<http://v.example/called>", '"Ann"')
    ]
    (part,) = read_source(source, None)
    assert [one.wanted for one in part.facts.extractions] == [("http://c.example/1",)]


def test_a_context_that_cannot_be_had_is_not_asked_for_again() -> None:
    asked: list[str] = []

    def get(urls: Sequence[str]) -> dict[str, bytes]:
        asked.extend(urls)
        return {}

    source = InputSource(url="http://a.example/x", content_type="application/ld+json", body=JSON_LD)
    (part,) = read_source(source, None, get)
    assert asked == ["http://c.example/1"]
    assert part.facts.all_problems()


def test_contexts_of_a_link_header_make_json_ld_of_json() -> None:
    context = tuple(CONTEXTS)[1]
    source = InputSource(
        url="http://a.example/x", content_type="application/json", body=b'{"name": 1}', contexts=(context,)
    )
    (part,) = read_source(source, None, lambda urls: {url: CONTEXTS[url] for url in urls})
    assert part.kind is ContentKind.JSON_LD
    assert part.facts.counts == {Syntax.JSON_LD: 1}
