"""`read_source` for bodies and for files of any size."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from motherlode.crawler.config.values import JobError
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
    found = [part.result for part in read_source(source, syntaxes)]
    return found, [statement for result in found for one in result.extractions for statement in one.statements]


def test_read_source_with_syntaxes_returns_only_their_statements() -> None:
    source = InputSource(url="http://a.example/", content_type="text/html", body=PAGE.encode())
    ((result,), _) = whole(source)
    assert {Syntax.MICRODATA, Syntax.RDFA} <= set(result.counts)
    ((result,), _) = whole(source, frozenset({Syntax.RDFA}))
    assert set(result.counts) == {Syntax.RDFA}


@pytest.mark.parametrize("name", ["data.ttl", "data"])
def test_kind_of_a_file_is_detected_by_name_or_content(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text(f"@prefix schema: <http://schema.org/> .\n{TURTLE}")
    _, statements = whole(InputSource(url="http://a.example/", path=path))
    assert statements == [("<http://a.example/>", "<http://schema.org/name>", '"Ann"', "")]


@pytest.mark.parametrize("base", ["http://a.example/", "http://a.example/data.ttl"])
def test_file_extension_takes_precedence_over_the_given_url(tmp_path: Path, base: str) -> None:
    path = tmp_path / "part.html"
    path.write_text(PAGE)
    (part,) = read_source(InputSource(url=base, path=path), None)
    assert part.kind is ContentKind.HTML
    assert {Syntax.MICRODATA, Syntax.RDFA} <= set(part.result.counts)


def test_file_without_known_extension_uses_the_given_url(tmp_path: Path) -> None:
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
def test_empty_body_is_a_document_if_its_syntax_allows_it(tmp_path: Path, name: str, kind: ContentKind) -> None:
    path = tmp_path / name
    path.touch()
    (part,) = read_source(InputSource(url="http://a.example/", path=path), None)
    assert part.kind is kind


def triples(count: int) -> str:
    return "".join(
        f'<http://a.example/{number}> <http://p.example/> "{"x" * 40}{number}" .\n' for number in range(count)
    )


def test_large_document_is_returned_in_parts_with_all_statements(tmp_path: Path) -> None:
    path, text = tmp_path / "data.nt", triples(25_000)
    assert len(text) > 1 << 20
    path.write_text(text + '<http://a.example/> <http://p.example/> "open\n' + text[:100].partition("\n")[0])
    pieces, statements = whole(InputSource(url="http://a.example/", path=path))
    assert len(pieces) == 2
    assert all(sum(result.counts.values()) <= 20_000 for result in pieces)
    assert len(set(statements)) == 25_000
    assert sum(len(result.all_problems()) for result in pieces) == 1
    body = InputSource(url="http://a.example/", content_type="application/n-triples", body=path.read_bytes())
    assert set(whole(body)[1]) == set(statements)


def test_large_document_of_an_unselected_syntax_gives_no_statements(tmp_path: Path) -> None:
    path = tmp_path / "data.nt"
    path.write_text(triples(15_000))
    assert whole(InputSource(url="http://a.example/", path=path), frozenset({Syntax.RDFA}))[1] == []


@pytest.mark.parametrize("count", [10, 25_000])
def test_read_source_reports_rdf_that_is_labelled_as_another_syntax(tmp_path: Path, count: int) -> None:
    path = tmp_path / "data.nt"
    path.write_text("@prefix e: <http://e.example/> .\n" + triples(count))
    pieces, statements = whole(InputSource(url="http://a.example/data.nt", path=path))
    assert len(statements) == count
    (problem,) = [problem for result in pieces for problem in result.all_problems()]
    assert (problem.message, problem.repaired) == ("labelled as ntriples, read as turtle", True)


def test_missing_file_is_an_input_error(tmp_path: Path) -> None:
    for path in (tmp_path / "none.ttl", tmp_path):
        with pytest.raises(JobError, match="cannot be read"):
            whole(InputSource(url="http://a.example/", path=path))


JSON_LD = b'{"@context": "http://c.example/1", "@id": "http://a.example/", "name": "Ann"}'
CONTEXTS = {
    "http://c.example/1": b'{"@context": ["http://c.example/2", {"@vocab": "http://v.example/"}]}',
    "http://c.example/2": b'{"@context": {"name": "http://v.example/called"}}',
}


def test_missing_contexts_and_their_own_contexts_are_requested_once() -> None:
    asked: list[str] = []

    def get(urls: Sequence[str]) -> dict[str, bytes]:
        asked.extend(urls)
        return {url: CONTEXTS[url] for url in urls if url in CONTEXTS}

    source = InputSource(url="http://a.example/x", content_type="application/ld+json", body=JSON_LD)
    (part,) = read_source(source, None, get)
    assert asked == ["http://c.example/1", "http://c.example/2"]
    assert [s[1:3] for one in part.result.extractions for s in one.statements] == [
        ("<http://v.example/called>", '"Ann"')
    ]
    (part,) = read_source(source, None)
    assert [one.wanted for one in part.result.extractions] == [("http://c.example/1",)]


def test_unavailable_context_is_not_requested_again() -> None:
    asked: list[str] = []

    def get(urls: Sequence[str]) -> dict[str, bytes]:
        asked.extend(urls)
        return {}

    source = InputSource(url="http://a.example/x", content_type="application/ld+json", body=JSON_LD)
    (part,) = read_source(source, None, get)
    assert asked == ["http://c.example/1"]
    assert part.result.all_problems()


def test_json_with_context_in_link_header_is_read_as_json_ld() -> None:
    context = tuple(CONTEXTS)[1]
    source = InputSource(
        url="http://a.example/x", content_type="application/json", body=b'{"name": 1}', contexts=(context,)
    )
    (part,) = read_source(source, None, lambda urls: {url: CONTEXTS[url] for url in urls})
    assert part.kind is ContentKind.JSON_LD
    assert part.result.counts == {Syntax.JSON_LD: 1}
