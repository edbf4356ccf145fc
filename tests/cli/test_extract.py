"""The command `extract`."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any, NamedTuple

import pyoxigraph as ox
import pytest
import typer

from motherlode.cli.extract import _print_json
from tests.crawler.changing_web import ChangingWeb, Document, motherlode, serving
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


class Measured(NamedTuple):
    code: int
    errors: str
    megabytes: int
    """Peak memory of the process."""


_MEASURE = """
import resource, subprocess, sys
limit = int(sys.argv[1])
if limit:
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
done = subprocess.run(sys.argv[2:], stdout=subprocess.DEVNULL)
sys.stdout.write(f"{done.returncode} {resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1000}")
"""


def measured(*arguments: str, text: str | None = None, limit: int = 0) -> Measured:
    """Run the command, in an address space of `limit` bytes if that is not 0, and measure its memory."""
    command = [sys.executable, "-m", "motherlode", "extract", *arguments]
    done = subprocess.run(
        [sys.executable, "-c", _MEASURE, str(limit), *command],
        capture_output=True,
        text=True,
        input=text,
        timeout=120,
        check=True,
    )
    code, megabytes = done.stdout.split()
    return Measured(int(code), done.stderr, int(megabytes))


@pytest.fixture
def page(tmp_path: Path) -> str:
    path = tmp_path / "page.html"
    path.write_text(PAGE)
    return str(path)


def _triples(text: str, form: ox.RdfFormat) -> set[tuple[str, str]]:
    quads = ox.parse(text.encode(), form, base_iri="http://ex.org/")
    return {(quad.predicate.value, str(quad.object)) for quad in quads}


def test_all_formats_have_the_same_statements(page: str) -> None:
    formats = {
        "nquads": ox.RdfFormat.N_QUADS,
        "trig": ox.RdfFormat.TRIG,
        "turtle": ox.RdfFormat.TURTLE,
    }
    said = [
        _triples(extract(page, "--base", "http://ex.org/", "--format", name).stdout, form)
        for name, form in formats.items()
    ]
    assert all(one == said[0] for one in said)
    assert ("http://schema.org/name", '"Pie"') in said[0]
    assert ("http://schema.org/name", '"Ann"') in said[0]


def test_problems_go_to_stderr_with_line_and_column(page: str) -> None:
    errors = extract(page).stderr
    assert "repaired 2:" in errors
    assert "problem 3:" in errors


def test_syntax_flag_selects_one_syntax(page: str) -> None:
    out = extract(page, "--syntax", "microdata").stdout
    assert '"Ann"' in out
    assert '"Pie"' not in out


def test_stdin_with_type_and_base_is_read() -> None:
    out = extract("-", "--base", "http://ex.org/doc", "--type", "text/turtle", text="<> a <#Thing> .").stdout
    assert out == (
        "<http://ex.org/doc> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://ex.org/doc#Thing> "
        "<http://ex.org/doc> .\n"
    )


def test_several_sources_are_written_and_an_unreadable_one_does_not_stop_the_others(page: str, tmp_path: Path) -> None:
    (tmp_path / "b.ttl").write_text('<a> <b> "c" .')
    done = extract(page, str(tmp_path / "missing.html"), str(tmp_path / "b.ttl"))
    assert "missing.html cannot be read" in done.stderr
    assert {"Pie", "c"} <= {value.strip('"') for _, value in _triples(done.stdout, ox.RdfFormat.N_QUADS)}
    extract(str(tmp_path / "missing.html"), str(tmp_path / "also-missing.html"), expect=1)
    assert "--base is the URL of one source" in extract(page, page, "--base", "http://a.example/", expect=2).stderr


def test_exit_codes_follow_the_documentation() -> None:
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
def test_unreadable_content_fails_and_names_its_kind(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    assert f"nothing could be read: {message}" in extract(str(path), "--base", "http://ex.org/", expect=1).stderr


@pytest.mark.parametrize(("name", "content", "kind"), [("empty.nt", "", "ntriples"), ("a.txt", "Dear Ann,\n", "text")])
def test_content_without_data_is_no_failure(tmp_path: Path, name: str, content: str, kind: str) -> None:
    path = tmp_path / name
    path.write_text(content)
    assert f"no structured data found: the content is {kind}" in extract(str(path)).stderr


def test_file_name_selects_an_installed_transformer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paper = tmp_path / "paper.pdf"
    paper.write_bytes(b"%PDF-1.4 x")
    assert "binary" in extract(str(paper), expect=1).stderr
    install_pdf_transformer(tmp_path / "packages", monkeypatch)
    assert '"10"' in extract(str(paper)).stdout


def test_file_with_base_is_read_by_its_name(tmp_path: Path) -> None:
    path = tmp_path / "part.html"
    path.write_text('<div itemscope itemtype="http://schema.org/Person"><b itemprop="name">Ann</b></div>')
    assert extract(str(path), "--base", "http://ex.org/").stdout.count("<http://ex.org/> .\n") == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("-", "--base", "notaurl"), "--base 'notaurl' is not a URL"),
        (("-", "--base", "http://ex.org/a b"), "is not a URL"),
        (("ftp://ex.org/x",), "only http and https URLs are fetched"),
        (("-", "--type", "foo"), "--type 'foo' is not known; known: text/turtle, application/trig"),
        (("-", "--type", "text/turtel"), "did you mean text/turtle?"),
        (("http://ex.org/", "--allow", "home"), "not an address range"),
        (("-", "--max-bytes", "much"), "--max-bytes: size 'much' should look like 500MB or 1GB"),
        (("-", "--max-bytes", "0"), "--max-bytes 0 must be greater than 0"),
        (("-", "--max-bytes", "9" * 400), "is too large"),
        (("-", "--timeout", "later"), "--timeout: time 'later' should look like 90s"),
    ],
)
def test_wrong_usage_gives_a_message(arguments: tuple[str, ...], message: str) -> None:
    done = extract(*arguments, text="<> a <#Thing> .", expect=2)
    assert message in " ".join(done.stderr.split())
    assert done.stdout == ""


@pytest.mark.parametrize("media_type", ["application/vnd.x+xml", "TEXT/Turtle; charset=utf-8", "image/png"])
def test_media_type_of_a_family_is_accepted(media_type: str) -> None:
    extract("-", "--type", media_type, text="@prefix a: <urn:a:> . a:b a:c a:d .")


async def test_url_is_fetched_with_robots_txt() -> None:
    rules = Document("User-agent: *\nDisallow: /private\n", content_type="text/plain")
    turtle = Document("<> a <#Thing> .", content_type="text/turtle")
    pages = {"/robots.txt": rules, "/private/x": turtle, "/open": turtle}
    flags = ("--allow", "127.0.0.0/8", "--delay", "0")
    async with serving(ChangingWeb(pages)) as site:
        said = await motherlode("extract", f"{site.root}/private/x", *flags, code=1)
        assert f"{site.root}/robots.txt disallows it" in " ".join(said.split())
        assert "#Thing" in await motherlode("extract", f"{site.root}/open", *flags)
    assert site.asked() == ["/open"]


def test_large_document_is_one_document_in_every_format(tmp_path: Path) -> None:
    path = tmp_path / "big.nt"
    lines = (f'<http://ex.org/{n}> <http://ex.org/p> "{n} of many many many" .\n' for n in range(30_000))
    path.write_text("".join(lines))
    assert path.stat().st_size > 1 << 20
    assert len(json.loads(extract(str(path), "--format", "jsonld").stdout)["@graph"]) == 30_000
    assert extract(str(path)).stdout.count("\n") == 30_000


async def test_contexts_fetch_loads_missing_contexts() -> None:
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


def test_strict_jsonld_leaves_out_iris_that_need_repair() -> None:
    block = '{"@id": "http://s.org/", "http://p.org/": [{"@id": "http://o.org/a b"}, {"@id": "http://o.org/c"}]}'
    arguments = ("-", "--base", "http://ex.org/", "--type", "application/ld+json")
    found = extract(*arguments, text=block)
    assert "<http://o.org/a%20b>" in found.stdout
    assert "repaired" in found.stderr
    strict = extract(*arguments, "--strict-jsonld", text=block)
    assert strict.stdout.count("<http://p.org/>") == 1
    assert "problem" in strict.stderr


def test_input_over_max_bytes_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "data.html"
    path.write_text(PAGE + " " * 1_000_000)
    message = "is longer than 1.0 MB: use --max-bytes for a larger limit"
    assert message in extract(str(path), "--max-bytes", "1MB", expect=1).stderr
    assert f"stdin {message}" in extract("-", "--max-bytes", "1MB", text=path.read_text(), expect=1).stderr
    assert '"Ann"' in extract(str(path), "--max-bytes", "2MB").stdout


async def test_url_is_read_up_to_max_bytes() -> None:
    lines = "".join(f"<urn:{number:0100}> <urn:p> <urn:o> .\n" for number in range(95_000))
    assert len(lines) > 10 << 20
    flags = ("--allow", "127.0.0.0/8", "--delay", "0")
    async with serving(ChangingWeb({"/a": Document(lines, content_type="application/n-triples")})) as site:
        assert f"<urn:{94_999:0100}>" in await motherlode("extract", f"{site.root}/a", *flags)
        told = await motherlode("extract", f"{site.root}/a", *flags, "--max-bytes", "5MB", code=1)
        assert f"{site.root}/a is longer than 5.0 MB: use --max-bytes for a larger limit" in told


def test_endless_device_is_not_read_into_memory() -> None:
    told = measured("/dev/zero", limit=1 << 30)
    assert (told.code, told.errors) == (1, "nothing could be read: the content is binary\n")
    told = measured("/dev/zero", "--type", "text/html", "--max-bytes", "20MB", limit=1 << 30)
    assert (told.code, told.errors) == (
        1,
        "error: /dev/zero is longer than 20.0 MB: use --max-bytes for a larger limit\n",
    )


@pytest.mark.parametrize(
    ("media_type", "head", "line"),
    [
        ("application/n-triples", "", '<http://a.example/{0}> <http://p.example/> "value {0}" .\n'),
        ("text/turtle", "@prefix e: <http://e.example/> .\n", "e:thing{0} e:p [e:q 'value {0}'] .\n"),
        ("application/trig", "@prefix e: <http://e.example/> .\n", "e:g{0} {{ e:t{0} e:p 'value {0}' . }}\n"),
    ],
)
def test_rdf_stream_needs_little_memory(media_type: str, head: str, line: str) -> None:
    megabytes = 10
    text = head + "".join(map(line.format, range(megabytes * 1_000_000 // len(line))))
    told = measured("-", "--type", media_type, text=text)
    assert (told.code, told.errors) == (0, "")
    assert told.megabytes < 220 + 3 * megabytes


@pytest.mark.parametrize(
    ("media_type", "line"),
    [
        ("application/n-triples", '<http://e.example/s> <http://e.example/p> "{0}" .\n'),
        ("text/turtle", "<http://e.example/s> <http://e.example/p> '{0}' .\n"),
    ],
)
def test_stream_of_long_literals_needs_little_memory(media_type: str, line: str) -> None:
    megabytes = 30
    literal = "x" * 49_950 + "\U0001f600"  # a character beyond the BMP makes a string four times as large
    text = "".join(line.format(f"{literal}{number}") for number in range(megabytes * 20))
    told = measured("-", "--type", media_type, text=text)
    assert (told.code, told.errors) == (0, "")
    assert told.megabytes < 220 + 3 * megabytes


def test_too_little_memory_gives_a_message(tmp_path: Path) -> None:
    path = tmp_path / "large.html"
    with path.open("wb") as file:
        file.write(b"<!DOCTYPE html><p>")
        file.truncate(900_000_000)
    told = measured(str(path), limit=700_000_000)
    assert told.code == 1
    assert "needs more memory than there is" in told.errors
    assert "Traceback" not in told.errors


def test_fifo_ends_after_the_timeout_or_with_its_writer(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    told = extract(str(fifo), "--timeout", "0.2s", expect=1).stderr
    assert told == f"error: no bytes arrived from {fifo} for 0.2 s: use --timeout for a longer wait\n"
    writer = threading.Thread(target=fifo.write_text, args=("<urn:a> <urn:b> <urn:c> .\n",))
    writer.start()
    assert "<urn:a> <urn:b> <urn:c>" in extract(str(fifo), "--type", "text/turtle", "--timeout", "30s").stdout
    writer.join()


def test_statements_before_the_limit_are_a_whole_document() -> None:
    text = '<http://a.example/> <http://p.example/> "x" .\n' * 100_000
    arguments = ("-", "--type", "application/n-triples", "--max-bytes", "2MB", "--format", "jsonld")
    done = extract(*arguments, text=text, expect=1)
    assert "stdin is longer than 2.0 MB" in done.stderr
    assert json.loads(done.stdout)


@pytest.mark.parametrize(
    ("redirect", "form", "message"),
    [
        ("<&-", "nquads", "error: stdin is closed: name a file or a URL, or redirect a file to stdin\n"),
        (">&-", "nquads", "error: stdout is closed, so the output is lost: redirect it to a file or a pipe\n"),
        (">&-", "turtle", "error: stdout is closed, so the output is lost: redirect it to a file or a pipe\n"),
        ("<&- >&- 2>&-", "nquads", ""),
    ],
)
def test_closed_stream_gives_a_message(redirect: str, form: str, message: str) -> None:
    script = f'"$0" -m motherlode extract - --type text/turtle --format {form} {redirect}'
    command = ["/bin/sh", "-c", script, sys.executable]
    text = "<urn:a> <urn:b> <urn:c> .\n"
    done = subprocess.run(command, capture_output=True, text=True, input=text, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (1, "", message)


def test_messages_to_closed_stderr_are_not_written_to_a_data_file(page: str) -> None:
    command = ["/bin/sh", "-c", '"$0" -m motherlode extract "$1" 2>&-', sys.executable, page]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert '"Ann"' in done.stdout


def test_version_with_closed_stdout_ends_without_traceback() -> None:
    command = ["/bin/sh", "-c", '"$0" -m motherlode --version >&-', sys.executable]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (1, "")


def test_loop_of_symbolic_links_gives_a_message(tmp_path: Path) -> None:
    loop = tmp_path / "loop.ttl"
    loop.symlink_to(loop)
    told = extract(str(loop), expect=1).stderr
    assert told == f"error: {loop} cannot be read: Too many levels of symbolic links\n"


REIFIED = "<urn:a> <http://www.w3.org/1999/02/22-rdf-syntax-ns#reifies> <<( <urn:a> <urn:b> <urn:c> )>> .\n"


def test_jsonld_output_leaves_out_triple_terms_with_a_problem() -> None:
    arguments = ("-", "--type", "application/n-triples", "--base", "http://ex.org/", "--format", "jsonld")
    done = extract(*arguments, text=REIFIED + '<urn:a> <urn:b> "c"@en--ltr .\n')
    value = {"@language": "en", "@direction": "ltr", "@value": "c"}
    assert json.loads(done.stdout) == {"@id": "urn:a", "urn:b": value}
    assert done.stderr == ("problem jsonld 1 statement left out: JSON-LD 1.1 has no triple terms; use --format trig\n")
    done = extract(*arguments, text=REIFIED + REIFIED, expect=1)
    assert json.loads(done.stdout) == {}
    assert "1 statement left out" in done.stderr


@pytest.mark.parametrize("form", ["nquads", "trig", "turtle"])
def test_formats_of_rdf_1_2_have_triple_terms(form: str) -> None:
    done = extract("-", "--type", "application/n-triples", "--format", form, text=REIFIED)
    assert "<<(" in done.stdout
    assert done.stderr == ""


def test_format_items_gives_dicts_by_syntax(page: str) -> None:
    items = json.loads(extract(page, "--base", "http://ex.org/", "--format", "items").stdout)
    assert items["microdata"] == [{"@context": "http://schema.org", "@type": "Person", "name": "Ann"}]
    assert items["json-ld"] == [{"@context": "https://schema.org", "@type": "Recipe", "name": "Pie"}]
    only = json.loads(extract(page, "--format", "items", "--syntax", "microdata").stdout)
    assert list(only) == ["microdata"]


def test_format_items_of_a_streamed_document_has_all_nodes(tmp_path: Path) -> None:
    path = tmp_path / "big.nt"
    path.write_text(
        "".join(f'<http://ex.org/{n}> <http://ex.org/p> "{n} of many many many" .\n' for n in range(30_000))
    )
    assert len(json.loads(extract(str(path), "--format", "items").stdout)["ntriples"]) == 30_000


def test_format_jsonld_is_one_compacted_document(page: str) -> None:
    document = json.loads(extract(page, "--format", "jsonld", "--syntax", "microdata", "--syntax", "jsonld").stdout)
    assert document["@context"] == "https://schema.org"
    assert [(node["@type"], node["name"]) for node in document["@graph"]] == [("Recipe", "Pie"), ("Person", "Ann")]


def test_json_formats_are_indented_only_on_a_terminal(page: str) -> None:
    assert extract(page, "--format", "jsonld").stdout.count("\n") == 1
    master, slave = pty.openpty()
    command = [sys.executable, "-m", "motherlode", "extract", page, "--format", "jsonld"]
    done = subprocess.run(command, stdout=slave, stderr=subprocess.DEVNULL, timeout=60, check=True)
    os.close(slave)
    text = os.read(master, 100_000).decode()
    os.close(master)
    assert done.returncode == 0
    assert '\r\n  "@context"' in text


def test_data_nested_too_deep_for_json_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    value: list[Any] = []
    for _ in range(100_000):
        value = [value]
    with pytest.raises(typer.Exit):
        _print_json(value)
    assert "nested too deep for JSON output: use --format nquads" in capsys.readouterr().err
