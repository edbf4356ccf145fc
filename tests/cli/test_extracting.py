"""`motherlode extract`, as a swiss knife."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pyoxigraph as ox
import pytest
from tests.crawl.changing_web import ChangingWeb, Document, motherlode, serving
from tests.support import install_pdf_transformer

PAGE = """<!DOCTYPE html><title>Pie</title>
<script type="application/ld+json">{"@context": "https://schema.org", "@type": "Recipe", "name": "Pie",}</script>
<script type="application/ld+json">this is no JSON at all</script>
<div itemscope itemtype="http://schema.org/Person"><span itemprop="name">Ann</span></div>"""


def extract(*arguments: str, text: str | None = None, expect: int = 0) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, "-m", "motherlode", "extract", *arguments],
        capture_output=True,
        text=True,
        input=text,
        timeout=60,
        check=False,
    )
    assert done.returncode == expect, done.stderr
    return done


@pytest.fixture
def page(tmp_path: Path) -> str:
    path = tmp_path / "page.html"
    path.write_text(PAGE)
    return str(path)


def _triples(text: str, form: ox.RdfFormat) -> set[tuple[str, str]]:
    quads = ox.parse(text.encode(), form, base_iri="http://ex.org/")
    return {(quad.predicate.value, str(quad.object)) for quad in quads}


def test_all_formats_say_the_same(page: str) -> None:
    formats = {
        "nquads": ox.RdfFormat.N_QUADS,
        "trig": ox.RdfFormat.TRIG,
        "turtle": ox.RdfFormat.TURTLE,
        "jsonld": ox.RdfFormat.JSON_LD,
    }
    said = [
        _triples(extract(page, "--base", "http://ex.org/", "--format", name).stdout, form)
        for name, form in formats.items()
    ]
    assert all(one == said[0] for one in said)
    assert ("http://schema.org/name", '"Pie"') in said[0]
    assert ("http://schema.org/name", '"Ann"') in said[0]


def test_problems_go_to_stderr_with_their_place(page: str) -> None:
    errors = extract(page).stderr
    assert "mended 2:" in errors
    assert "problem 3:" in errors


def test_one_syntax_alone(page: str) -> None:
    out = extract(page, "--syntax", "microdata").stdout
    assert '"Ann"' in out
    assert '"Pie"' not in out


def test_standard_input_with_a_type_and_a_base() -> None:
    out = extract("-", "--base", "http://ex.org/doc", "--type", "text/turtle", text="<> a <#Thing> .").stdout
    assert out == (
        "<http://ex.org/doc> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://ex.org/doc#Thing> "
        "<http://ex.org/doc> .\n"
    )


def test_exit_codes() -> None:
    assert "nothing could be read" in extract("-", "--type", "text/turtle", text="<a <b", expect=1).stderr
    assert "no structured data" in extract("-", "--syntax", "rdfa", text="<p>plain</p>").stderr
    told = extract("-", "--syntax", "trig", "--syntax", "rdfa", text=PAGE).stderr
    assert "no structured data found in trig or rdfa: the content is html" in told
    assert "did you mean microdata" in extract("-", "--syntax", "microdat", text="", expect=2).stderr


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("nonsense.ttl", b"What is this?\n", "the content is turtle"),
        ("random.ttl", bytes(range(256)), "the content is binary"),
        ("nothing.html", b"", "the content is empty"),
    ],
)
def test_what_cannot_be_read_at_all_is_a_failure_that_tells_the_kind(
    tmp_path: Path, name: str, content: bytes, message: str
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    assert f"nothing could be read: {message}" in extract(str(path), "--base", "http://ex.org/", expect=1).stderr


@pytest.mark.parametrize(("name", "content", "kind"), [("empty.nt", "", "ntriples"), ("a.txt", "Dear Ann,\n", "text")])
def test_what_could_be_read_and_says_nothing_is_no_failure(tmp_path: Path, name: str, content: str, kind: str) -> None:
    path = tmp_path / name
    path.write_text(content)
    assert f"no structured data found: the content is {kind}" in extract(str(path)).stderr


def test_a_name_tells_what_an_installed_transformer_is_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paper = tmp_path / "paper.pdf"
    paper.write_bytes(b"%PDF-1.4 x")
    assert "binary" in extract(str(paper), expect=1).stderr
    install_pdf_transformer(tmp_path / "packages", monkeypatch)
    assert '"10"' in extract(str(paper)).stdout


def test_a_file_keeps_its_name_where_a_base_is_given(tmp_path: Path) -> None:
    path = tmp_path / "part.html"
    path.write_text('<div itemscope itemtype="http://schema.org/Person"><b itemprop="name">Ann</b></div>')
    assert extract(str(path), "--base", "http://ex.org/").stdout.count("<http://ex.org/> .\n") == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("-", "--base", "notaurl"), "--base 'notaurl' is no URL"),
        (("-", "--base", "http://ex.org/a b"), "is no URL"),
        (("ftp://ex.org/x",), "only http and https URLs are fetched"),
        (("-", "--type", "foo"), "--type 'foo' is not known; known: text/turtle, application/trig"),
        (("-", "--type", "text/turtel"), "did you mean text/turtle?"),
        (("http://ex.org/", "--allow", "home"), "not an address range"),
    ],
)
def test_wrong_usage_is_told(arguments: tuple[str, ...], message: str) -> None:
    done = extract(*arguments, text="<> a <#Thing> .", expect=2)
    assert message in " ".join(done.stderr.split())
    assert done.stdout == ""


@pytest.mark.parametrize("media_type", ["application/vnd.x+xml", "TEXT/Turtle; charset=utf-8", "image/png"])
def test_types_of_families_are_known(media_type: str) -> None:
    extract("-", "--type", media_type, text="@prefix a: <urn:a:> . a:b a:c a:d .")


async def test_an_address_is_fetched_by_the_rules_of_its_host() -> None:
    rules = Document("User-agent: *\nDisallow: /private\n", content_type="text/plain")
    turtle = Document("<> a <#Thing> .", content_type="text/turtle")
    pages = {"/robots.txt": rules, "/private/x": turtle, "/open": turtle}
    flags = ("--allow", "127.0.0.0/8", "--delay", "0")
    async with serving(ChangingWeb(pages)) as site:
        said = await motherlode("extract", f"{site.root}/private/x", *flags, code=1)
        assert f"{site.root}/robots.txt disallows it" in " ".join(said.split())
        assert "#Thing" in await motherlode("extract", f"{site.root}/open", *flags)
    assert site.asked() == ["/open"]


def test_a_large_document_is_one_document_in_every_format(tmp_path: Path) -> None:
    path = tmp_path / "big.nt"
    lines = (f'<http://ex.org/{n}> <http://ex.org/p> "{n} of many many many" .\n' for n in range(30_000))
    path.write_text("".join(lines))
    assert path.stat().st_size > 1 << 20
    assert len(json.loads(extract(str(path), "--format", "jsonld").stdout)[0]["@graph"]) == 30_000
    assert extract(str(path)).stdout.count("\n") == 30_000


async def test_contexts_are_fetched_where_that_is_wanted() -> None:
    headers = {"Link": '</c.jsonld>; rel="http://www.w3.org/ns/json-ld#context"'}
    pages = {
        "/a": Document('{"name": "Ann"}', content_type="application/json", headers=headers),
        "/c.jsonld": Document('{"@context": {"@vocab": "http://v.example/"}}', content_type="application/ld+json"),
    }
    async with serving(ChangingWeb(pages)) as site:
        asking = ("extract", f"{site.root}/a", "--allow", "127.0.0.0/8", "--delay", "0")
        assert "--contexts fetch loads" in await motherlode(*asking, code=1)
        assert site.asked() == ["/a"]
        assert '<http://v.example/name> "Ann"' in await motherlode(*asking, "--contexts", "fetch")
        assert site.asked() == ["/a", "/a", "/c.jsonld"]


def test_strict_jsonld_leaves_out_iris_that_would_have_to_be_repaired() -> None:
    block = '{"@id": "http://s.org/", "http://p.org/": [{"@id": "http://o.org/a b"}, {"@id": "http://o.org/c"}]}'
    arguments = ("-", "--base", "http://ex.org/", "--type", "application/ld+json")
    found = extract(*arguments, text=block)
    assert "<http://o.org/a%20b>" in found.stdout
    assert "mended" in found.stderr
    strict = extract(*arguments, "--strict-jsonld", text=block)
    assert strict.stdout.count("<http://p.org/>") == 1
    assert "problem" in strict.stderr
