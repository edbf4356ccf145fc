from __future__ import annotations

import json
import time

import pytest

from motherlode.model import ContentKind, Detected, DetectionEvidence, Syntax
from motherlode.transform import jsonld
from motherlode.transform.jsonld.errors import ErrorCode, JsonLdError
from motherlode.transform.jsonld.jsonld_blocks import ScriptLocations, find_sample, find_scripts, load_scripts
from motherlode.transform.options import TransformOptions
from motherlode.www.document import Document
from motherlode.www.html_prefilter import Mark, marks_in

from .helpers import SCHEMA, TYPE, extract, extract_block, names, page, read

TAG = '<script type="application/ld+json">'


def test_lines_and_columns_are_those_of_the_page() -> None:
    source = f"<p>\r\n{TAG}\r\n{{\r\n  x}}</script>"
    content = "\n{\n  x}"
    assert ScriptLocations(source).position([content], content.index("x")) == (4, 3)
    assert ScriptLocations(source).position([content], 0) == (2, len(TAG) + 1)


def test_blocks_that_are_or_begin_alike_are_told_apart() -> None:
    long = '{"@context": "https://schema.org", "@type": "Product", "name": "%s"}'
    blocks = ["{}", "{}", long % "one", long % "two", "", "{}"]
    source = "\n".join(f"<script src=x></script>{TAG}{block}</script>" for block in blocks)
    places = ScriptLocations(source)
    column = len("<script src=x></script>" + TAG) + 1
    assert [places.position(blocks[:number], 0) for number in (2, 3, 4, 5, 6)] == [
        (number, column) for number in (2, 3, 4, 5, 6)
    ]
    assert places.position(blocks[:1], 1) == (1, column + 1), "asked for in any order"


def test_scripts_in_comments_and_comments_in_scripts_are_passed_over() -> None:
    source = f"<!-- {TAG}{{}}</script> -->\n<script>x = '<!--'</script>\n{TAG}{{}}</script>"
    assert ScriptLocations(source).position(["{}"], 0) == (3, len(TAG) + 1)


def test_what_the_parser_changed_is_found_again() -> None:
    entities = TAG.replace("+", "&#43;")
    assert ScriptLocations(f"<p>\n{entities}a\0b</script>").position(["a\ufffdb"], 0) == (2, len(entities) + 1)
    head = "x" * 60
    assert ScriptLocations(f"{TAG}{head} and more").position([head + " mended"], 0) == (1, len(TAG) + 1)


def test_content_that_is_not_in_the_source_has_no_place_and_costs_no_other_its_own() -> None:
    places = ScriptLocations(f"{TAG}a</script>")
    assert places.position(["b"], 0) == (None, None)
    assert places.position(["b", "a"], 0) == (1, len(TAG) + 1)


def test_a_whole_document_starts_at_one() -> None:
    assert ScriptLocations("{\n x}", embedded=False).position(["{\n x}"], 3) == (2, 2)


def test_many_blocks_take_no_long() -> None:
    blocks = ['{"a": 1,}'] * 20_000
    places = ScriptLocations("\n".join(f"{TAG}{block}</script>" for block in blocks))
    began = time.process_time()
    assert [places.position(blocks[:number], 0)[0] for number in (1, 20_000)] == [1, 20_000]
    assert time.process_time() - began < 2


def test_samples_are_found_as_they_were_spelled() -> None:
    assert find_sample(' {"a": "http:\\/\\/x y"}', "http://x y") == 8
    assert find_sample('{"a": "\\u00e9"}', "é") == 7
    assert find_sample('{"a": "no such"}', "http://example.org/no such") == 7
    assert find_sample("  {}", "not there") == 2


def test_a_reference_that_starts_at_the_root_is_found() -> None:
    assert find_sample('{"@id": "/a b"}', "http://example.org/a b") == 9


def test_script_of_xhtml_is_found_though_its_references_are_read() -> None:
    page = '<p>\n<script type="application/ld+json">{"a": "x &amp; y"}</script>'
    assert ScriptLocations(page).position(['{"a": "x & y"}'], 0) == (2, 36)


# SECTION Pages and documents from end to end: what is found, what is lost, and where the page is told to look.


PERSON = '{"@context":"https://schema.org","@id":"#ann","@type":"Person","name":"Ann"}'


def script(content: str) -> str:
    return f'<script type="application/ld+json">{content}</script>'


def test_a_block_gives_its_statements() -> None:
    found = extract(script(PERSON))
    assert found.syntax is Syntax.JSON_LD
    assert found.statements == (
        ("<http://example.org/dir/page#ann>", TYPE, SCHEMA.format("Person"), ""),
        ("<http://example.org/dir/page#ann>", SCHEMA.format("name"), '"Ann"', ""),
    )
    assert not found.problems


def test_one_broken_block_costs_no_other() -> None:
    found = extract(script("{{{") + script("not json") + script(PERSON) + script("[") + script(""))
    assert len(found.statements) == 2
    assert [problem.repaired for problem in found.problems].count(False) == 1
    assert all(problem.syntax is Syntax.JSON_LD for problem in found.problems)


def test_problems_have_their_place_in_the_page() -> None:
    html = f"<html>\n<p>\n{script('{}')}\n{script(chr(10) + PERSON.replace('}', ',}'))}"
    found = extract(html)
    assert [(p.message, p.line, p.column, p.repaired) for p in found.problems] == [
        ("trailing comma", 5, len(PERSON) + 1, True)
    ]
    assert len(found.statements) == 2


def test_repaired_iri_is_a_problem_with_its_place() -> None:
    block = '{\n "@context": "https://schema.org",\n "@id": "http://a/",\n "url": "http:\\/\\/x\\/{q}"\n}'
    found = extract_block(block)
    assert found.statements == (("<http://a/>", SCHEMA.format("url"), "<http://x/%7Bq%7D>", ""),)
    (problem,) = found.problems
    assert (problem.line, problem.column, problem.repaired) == (5, 10, True)
    assert problem.message == "not a valid IRI, read as <http://x/%7Bq%7D>"


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("http://x/a b", "http://x/a%20b"),
        ("http://x/{a}", "http://x/%7Ba%7D"),
        ("http://x/a|b", "http://x/a%7Cb"),
        ('http://x/a"b', "http://x/a%22b"),
        ("http://x/a^b", "http://x/a%5Eb"),
        ("http://x/a#b#c", "http://x/a#b%23c"),
        (" http://x/a ", "http://x/a"),
    ],
)
@pytest.mark.parametrize("place", ["id", "type", "reference", "predicate", "datatype", "graph"])
def test_iri_with_bad_characters_is_repaired_wherever_it_stands(place: str, written: str, meant: str) -> None:
    document = {
        "id": {"@id": written, "http://p/": 1},
        "type": {"@id": "http://s/", "@type": written},
        "reference": {"@id": "http://s/", "http://p/": {"@id": written}},
        "predicate": {"@id": "http://s/", written.strip(): 1},
        "datatype": {"@id": "http://s/", "http://p/": {"@value": "1", "@type": written}},
        "graph": {"@id": written, "@graph": [{"@id": "http://s/", "http://p/": 1}]},
    }[place]
    found = read(document)
    assert len(found.statements) == 1
    assert f"<{meant}>" in " ".join(found.statements[0])
    assert all(problem.repaired for problem in found.problems)
    assert bool(found.problems) or (place == "predicate" and written.strip() == meant)


def test_strict_iris_cost_their_statements() -> None:
    document = page('{"@id": "http://s/", "http://p/": [{"@id": "http://x/a b"}, 1]}', kind=ContentKind.JSON_LD)
    found = jsonld.read_document(document, names(), TransformOptions(strict_jsonld=True))
    assert [statement[2][:3] for statement in found.statements] == ['"1"']
    assert [(p.message, p.repaired) for p in found.problems] == [
        ("invalid IRI, its statements are lost: http://x/a b", False)
    ]


@pytest.mark.parametrize("digits", ["9" * 400, "-" + "9" * 400, "9" * 5_000, "-" + "9" * 100_000])
def test_long_integer_keeps_its_digits(digits: str) -> None:
    found = read(f'{{"http://p/": {digits}}}')
    assert [s[2] for s in found.statements] == [f'"{digits}"^^<http://www.w3.org/2001/XMLSchema#integer>']
    assert not found.problems


@pytest.mark.parametrize(
    "block",
    [
        '{"name": "Ann"}',
        '[{"name": "Ann"}]',
        '{"@type": "Person"}',
        '{"@type": ["Person"], "http://p/": 1}',
        '{"@graph": [{"@type": "Person", "name": "Ann"}]}',
        '{"http://p/": {"@type": "Person"}}',
        '{"http://p/": {"@list": [{"name": "Ann"}]}}',
        '{"@id": "http://x/ ", "name": "Ann", "http://p/": {"@id": "http://[bad"}}',
        '{"@context": {"a": "http://a/"}, "a": 1} {"name": "Ann"}',
    ],
)
def test_block_without_context_gets_a_notice(block: str) -> None:
    messages = [problem.message for problem in extract_block(block).problems]
    assert messages.count("no @context, so terms are undefined and left out") == 1


def test_prefix_without_context_gets_a_notice() -> None:
    found = extract_block('{"@type": "schema:Person"}')
    assert [p.message for p in found.problems] == ['no @context, so the prefix of "schema:Person" is undefined']


@pytest.mark.parametrize(
    "block",
    [
        '{"http://p/": {"@value": {"a": 1}, "@type": "@json"}, "@type": "urn:x"}',
        '{"http://p/": {"@context": {"a": "http://a/"}, "a": 1}}',
        '[{"@context": {"a": "http://a/"}, "a": {"@type": "a"}}]',
    ],
)
def test_block_that_needs_no_context_gets_no_notice(block: str) -> None:
    assert not extract_block(block).problems


def test_each_block_has_a_place_of_its_own() -> None:
    """Blocks of one page often begin alike, and empty ones begin like any."""
    block = '{"@context":"https://schema.org","@type":"Product","name":"%s"%s}'
    contents = [block % ("good", ""), "", block % ("bad", ","), block % ("good", ""), block % ("bad", ",")]
    html = "\n".join(
        f'<script src="s.js"></script><script type="application/ld+json">\n{it}</script>' for it in contents
    )
    found = extract(html)
    column = len(contents[2])
    assert [(p.line, p.column) for p in found.problems] == [(3, 64), (6, column), (10, column)]


def test_a_template_that_is_a_text_is_kept() -> None:
    block = {
        "@context": "https://schema.org",
        "@type": "WebSite",
        "potentialAction": {
            "@type": "SearchAction",
            "target": {"@type": "EntryPoint", "urlTemplate": "https://x.example/?q={q}"},
            "query-input": "required name=q",
        },
    }
    found = extract_block(json.dumps(block))
    assert (SCHEMA.format("urlTemplate"), '"https://x.example/?q={q}"') in {s[1:3] for s in found.statements}
    assert not found.problems


def test_the_base_element_counts() -> None:
    html = '<base href="/other/"><base href="/third/">' + script('{"@id":"x","http://p/":"y"}')
    assert extract(html).statements[0][0] == "<http://example.org/other/x>"


def test_blank_labels_are_shared_by_the_blocks_of_a_page() -> None:
    blocks = script('{"@id":"_:a","http://p/":1}') + script('{"@id":"_:a","http://p/":2}') + script('{"http://p/":3}')
    found = extract(blocks).statements
    assert found[0][0] == found[1][0] != found[2][0]


def test_the_same_page_gives_the_same_blank_nodes() -> None:
    html = script('{"http://p/":{"http://q/":{"@list":[1,2]}}}')
    assert extract(html).statements == extract(html).statements


def test_several_values_in_a_block_are_all_read() -> None:
    found = extract_block(PERSON + "\n" + PERSON.replace("ann", "bob"))
    assert len({statement[0] for statement in found.statements}) == 2
    assert [(p.line, p.repaired) for p in found.problems] == [(3, True)]


def test_a_missing_context_is_wanted_and_then_used() -> None:
    url = "https://example.net/context.jsonld"
    block = json.dumps({"@context": url, "@id": "http://a/", "title": "x"})
    first = extract_block(block)
    assert first.wanted == (url,)
    assert not first.statements
    assert (first.problems[0].line, first.problems[0].column) == (2, block.index(url) + 1)
    second = extract_block(block, contexts={url: b'{"@context": {"title": "http://t/"}}'})
    assert second.statements == (("<http://a/>", "<http://t/>", '"x"', ""),)
    assert not second.wanted
    assert not second.problems


def test_a_block_that_says_nothing_is_told() -> None:
    silent = '{"@context": {"a": "http://a/"}, "b": 1}'
    assert [p.message for p in extract_block(silent).problems] == ["the block gives no statements"]
    assert not extract_block('{"@context": {"a": "http://a/"}}').problems
    assert not extract_block("{}").problems
    assert not extract_block("[]").problems


def test_the_statements_of_a_page_are_bounded_over_its_blocks() -> None:
    found = extract(script(PERSON) + script(PERSON.replace("ann", "bob")), most=3)
    assert len(found.statements) == 3
    assert "more than" in found.problems[-1].message


def test_pages_in_other_charsets() -> None:
    body = script('{"@id":"http://a/","http://p/":"caf\xe9"}').encode("latin-1")
    document = Document(
        url="http://a/",
        body=body,
        detected=Detected(kind=ContentKind.HTML, evidence=DetectionEvidence.HEADER, charset="latin-1"),
    )
    assert jsonld.extract(document, names(), TransformOptions()).statements[0][2] == '"café"'


def test_xhtml_wrappers_and_entities() -> None:
    for content in (
        f"//<![CDATA[\n{PERSON}\n//]]>",
        f"/*<![CDATA[*/{PERSON}/*]]>*/",
        f"<!--\n{PERSON}\n-->",
        PERSON.replace('"', "&quot;"),
    ):
        found = extract(script(content))
        assert len(found.statements) == 2
        assert all(problem.repaired for problem in found.problems)
        assert found.problems


def test_documents() -> None:
    found = read({"@context": {"p": "http://p/"}, "@id": "", "p": [1, {"@id": "b"}]})
    assert [statement[2] for statement in found.statements] == [
        '"1"^^<http://www.w3.org/2001/XMLSchema#integer>',
        "<http://example.org/dir/b>",
    ]
    assert not found.problems


def test_documents_with_marks_and_faults() -> None:
    assert len(read("\ufeff" + PERSON).statements) == 2
    assert not read("\ufeff" + PERSON).problems
    broken = read(PERSON[:-1] + ",\n")
    assert len(broken.statements) == 2
    assert [problem.line for problem in broken.problems] == [2]
    assert read(b"\xff\xfe{").problems
    assert [p.message for p in read("").problems] == ["empty block"]


def test_a_document_does_not_listen_to_base_elements() -> None:
    document = page('{"@id":"x","http://p/":"<base href=\'/other/\'>"}', kind=ContentKind.JSON_LD)
    found = jsonld.read_document(document, names(), TransformOptions())
    assert found.statements[0][0] == "<http://example.org/dir/x>"


def test_equal_problems_in_equal_blocks_have_their_own_places() -> None:
    found = extract(script("{,}") + "\n" + script("{,}"))
    assert [problem.line for problem in found.problems] == [1, 2]


def test_a_block_without_a_context_is_told() -> None:
    found = extract_block('[{"@type": "http://t/",\n "name": "Ann"}]')
    assert len(found.statements) == 1
    assert [(it.message, it.line, it.column) for it in found.problems] == [
        ("no @context, so terms are undefined and left out", 3, 2)
    ]
    assert not extract_block('{"@type": "http://t/", "http://p/": "Ann"}').problems


def test_spaces_around_the_address_of_a_context_do_not_matter() -> None:
    found = extract_block('{"@context": " https://schema.org ", "name": "Ann"}')
    assert [s[1:3] for s in found.statements] == [("<http://schema.org/name>", '"Ann"')]


# SECTION


SCRIPT = '<script type="application/ld+json" id="{}">{}</script>'


@pytest.mark.parametrize(
    "tag",
    [
        '<script type="application/ld+json">',
        "<SCRIPT TYPE=Application/LD+JSON>",
        '<script type=" application/ld+json ">',
        '<script type="application/ld+json;charset=utf-8">',
        "<script type='application/ld+json; profile=\"http://www.w3.org/ns/json-ld#expanded\"'>",
        '<script type="application/ld&#43;json">',
        '<script type="application&#x2F;ld&#x2B;json">',
        '<script data-x="a > b" type="application/ld+json">',
    ],
)
def test_blocks_are_found_however_the_type_is_spelled(tag: str) -> None:
    html = f"<p>{tag}{{}}</script>"
    assert Mark.JSON_LD in marks_in(html.encode())
    assert [script.content for script in find_scripts(page(html))] == ["{}"]


@pytest.mark.parametrize(
    "html",
    [
        '<script type="application/json">{}</script>',
        '<script type="application/ld+jsonx">{}</script>',
        '<script type="x application/ld+json">{}</script>',
        "<script>application/ld+json</script>",
        '<pre type="application/ld+json">{}</pre>',
        '<!-- <script type="application/ld+json">{}</script> -->',
        '<textarea><script type="application/ld+json">{}</script></textarea>',
    ],
)
def test_other_elements_are_not_blocks(html: str) -> None:
    assert not list(find_scripts(page(html)))


def test_the_gate_is_shut_for_plain_pages() -> None:
    assert Mark.JSON_LD not in marks_in(b'<p>application/json</p><script type="text/javascript">')


def test_loading_takes_the_first_block_or_all_or_the_one_that_is_named() -> None:
    html = page(SCRIPT.format("a", '{"a":1}') + SCRIPT.format("b c", '[{"b":2}]'))
    assert load_scripts(html) == {"a": 1}
    assert load_scripts(html, extract_all=True) == [{"a": 1}, {"b": 2}]
    assert load_scripts(html, fragment="b%20c") == [{"b": 2}]
    assert load_scripts(page("<p>")) == []


@pytest.mark.parametrize(
    ("html", "fragment", "code"),
    [
        (SCRIPT.format("a", "{}"), "b", ErrorCode.LOADING_DOCUMENT_FAILED),
        ('<p id="b">', "b", ErrorCode.LOADING_DOCUMENT_FAILED),
        (SCRIPT.format("a", "{,}"), "", ErrorCode.INVALID_SCRIPT_ELEMENT),
        (SCRIPT.format("a", "<!-- {} -->"), "a", ErrorCode.INVALID_SCRIPT_ELEMENT),
        (SCRIPT.format("a", "[" * 100_000), "", ErrorCode.INVALID_SCRIPT_ELEMENT),
    ],
)
def test_loading_refuses_by_the_code(html: str, fragment: str, code: ErrorCode) -> None:
    with pytest.raises(JsonLdError) as caught:
        load_scripts(page(html), fragment=fragment)
    assert caught.value.code is code
