"""One page without a crawl: fetched from a real server, or read from a file of any size."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.crawl.changing_web import ChangingWeb, Document, serving

from motherlode.crawl.job import JobError
from motherlode.crawl.single import Source, fetch_source, read_source
from motherlode.frontier import MAX_REDIRECTS
from motherlode.model import Facts, Statement, Syntax

LOOPBACK = ("127.0.0.0/8",)
TURTLE = "<> <http://schema.org/name> 'Ann' ."
PAGE = (
    '<p itemscope itemtype="http://schema.org/Person"><b itemprop=name>Ann</b></p>'
    '<p vocab="http://schema.org/" typeof="Place"></p>'
)


async def fetch(site: ChangingWeb, path: str, *, base: str | None = None, media_type: str = "") -> Source:
    return await fetch_source(f"{site.root}{path}", base=base, media_type=media_type, allow=LOOPBACK)


def moved(to: str) -> Document:
    return Document(status=302, headers={"Location": to})


async def test_a_page_is_found_through_redirects_and_known_by_its_last_address() -> None:
    pages = {"/a": moved("/b"), "/b": moved("c"), "/c": Document(TURTLE, content_type="text/turtle")}
    async with serving(ChangingWeb(pages)) as site:
        source = await fetch(site, "/a")
        assert source.url == f"{site.root}/c"
    assert source.body == TURTLE.encode()
    assert source.content_type.startswith("text/turtle")
    assert source.path is None


async def test_who_asks_may_know_better_what_it_is_and_where_it_belongs() -> None:
    async with serving(ChangingWeb({"/a": Document(TURTLE, content_type="text/plain")})) as site:
        source = await fetch(site, "/a", base="http://base.example/", media_type="text/turtle")
    assert (source.url, source.content_type) == ("http://base.example/", "text/turtle")


@pytest.mark.parametrize("hops", [MAX_REDIRECTS, MAX_REDIRECTS + 1])
async def test_redirects_end_where_those_of_a_crawl_do(hops: int) -> None:
    pages = {f"/{number}": moved(f"/{number + 1}") for number in range(hops)}
    async with serving(ChangingWeb({**pages, f"/{hops}": Document(TURTLE)})) as site:
        if hops > MAX_REDIRECTS:
            with pytest.raises(JobError, match="more than 8 redirects"):
                await fetch(site, "/0")
        else:
            assert (await fetch(site, "/0")).body == TURTLE.encode()


async def test_what_cannot_be_fetched_is_told_with_its_kind() -> None:
    async with serving(ChangingWeb({"/private": moved("http://10.0.0.1/")})) as site:
        with pytest.raises(JobError, match="not-found"):
            await fetch(site, "/none")
        with pytest.raises(JobError, match="address-guard"):
            await fetch(site, "/private")
        with pytest.raises(JobError, match="address-guard"):
            await fetch_source(f"{site.root}/none", base=None, media_type="", allow=())


@pytest.mark.parametrize("url", ["ftp://a.example/", "no url", "", "javascript:1"])
async def test_only_the_web_is_asked(url: str) -> None:
    with pytest.raises(JobError, match="not an http or https URL"):
        await fetch_source(url, base=None, media_type="", allow=LOOPBACK)


def whole(source: Source, syntaxes: frozenset[Syntax] | None = None) -> tuple[list[Facts], list[Statement]]:
    found = list(read_source(source, syntaxes))
    return found, [statement for facts in found for one in facts.extractions for statement in one.statements]


def test_a_body_is_read_and_may_be_held_to_some_syntaxes() -> None:
    source = Source(url="http://a.example/", content_type="text/html", body=PAGE.encode())
    ((facts,), _) = whole(source)
    assert {Syntax.MICRODATA, Syntax.RDFA} <= set(facts.counts)
    ((facts,), _) = whole(source, frozenset({Syntax.RDFA}))
    assert set(facts.counts) == {Syntax.RDFA}


@pytest.mark.parametrize("name", ["data.ttl", "data"])
def test_a_file_is_known_by_its_name_or_its_content(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text(f"@prefix schema: <http://schema.org/> .\n{TURTLE}")
    _, statements = whole(Source(url="http://a.example/", path=path))
    assert statements == [("<http://a.example/>", "<http://schema.org/name>", '"Ann"', "")]


def triples(count: int) -> str:
    return "".join(
        f'<http://a.example/{number}> <http://p.example/> "{"x" * 40}{number}" .\n' for number in range(count)
    )


def test_a_large_document_comes_in_pieces_which_together_are_the_whole(tmp_path: Path) -> None:
    path, text = tmp_path / "data.nt", triples(25_000)
    assert len(text) > 1 << 20
    path.write_text(text + '<http://a.example/> <http://p.example/> "open\n' + text[:100].partition("\n")[0])
    pieces, statements = whole(Source(url="http://a.example/", path=path))
    assert len(pieces) == 2
    assert all(sum(facts.counts.values()) <= 20_000 for facts in pieces)
    assert len(set(statements)) == 25_000
    assert sum(len(facts.all_problems()) for facts in pieces) == 1
    body = Source(url="http://a.example/", content_type="application/n-triples", body=path.read_bytes())
    assert set(whole(body)[1]) == set(statements)


def test_a_large_document_of_another_syntax_than_asked_for_gives_nothing(tmp_path: Path) -> None:
    path = tmp_path / "data.nt"
    path.write_text(triples(15_000))
    assert whole(Source(url="http://a.example/", path=path), frozenset({Syntax.RDFA}))[1] == []


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    for path in (tmp_path / "none.ttl", tmp_path):
        with pytest.raises(JobError, match="cannot be read"):
            whole(Source(url="http://a.example/", path=path))
