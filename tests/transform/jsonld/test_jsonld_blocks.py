"""JSON-LD in pages and documents, and positions of problems."""

from __future__ import annotations

import json
import time

import pytest

from motherlode.model import ContentKind, Detected, DetectionEvidence, Syntax
from motherlode.transform import jsonld
from motherlode.transform.jsonld.jsonld_blocks import ScriptLocations, find_sample, find_scripts
from motherlode.transform.options import TransformOptions
from motherlode.www.document import Document
from motherlode.www.html_prefilter import Mark, marks_in

from .helpers import SCHEMA, TYPE, extract, extract_block, names, page, read

TAG = '<script type="application/ld+json">'


def test_script_locations_positions_refer_to_page() -> None:
    source = f"<p>\r\n{TAG}\r\n{{\r\n  x}}</script>"
    content = "\n{\n  x}"
    assert ScriptLocations(source).position([content], content.index("x")) == (4, 3)
    assert ScriptLocations(source).position([content], 0) == (2, len(TAG) + 1)


def test_script_locations_similar_scripts_are_distinguished() -> None:
    long = '{"@context": "https://schema.org", "@type": "Product", "name": "%s"}'
    blocks = ["{}", "{}", long % "one", long % "two", "", "{}"]
    source = "\n".join(f"<script src=x></script>{TAG}{block}</script>" for block in blocks)
    locations = ScriptLocations(source)
    column = len("<script src=x></script>" + TAG) + 1
    assert [locations.position(blocks[:number], 0) for number in (2, 3, 4, 5, 6)] == [
        (number, column) for number in (2, 3, 4, 5, 6)
    ]
    assert locations.position(blocks[:1], 1) == (1, column + 1), "blocks can be requested in any order"


def test_script_locations_ignore_scripts_in_comments() -> None:
    source = f"<!-- {TAG}{{}}</script> -->\n<script>x = '<!--'</script>\n{TAG}{{}}</script>"
    assert ScriptLocations(source).position(["{}"], 0) == (3, len(TAG) + 1)


def test_script_locations_content_changed_by_parser_is_found() -> None:
    entities = TAG.replace("+", "&#43;")
    assert ScriptLocations(f"<p>\n{entities}a\0b</script>").position(["a\ufffdb"], 0) == (2, len(entities) + 1)
    head = "x" * 60
    assert ScriptLocations(f"{TAG}{head} and more").position([head + " changed"], 0) == (1, len(TAG) + 1)


def test_script_locations_unknown_content_has_no_position() -> None:
    locations = ScriptLocations(f"{TAG}a</script>")
    assert locations.position(["b"], 0) == (None, None)
    assert locations.position(["b", "a"], 0) == (1, len(TAG) + 1)


def test_script_locations_whole_document_starts_at_line_one() -> None:
    assert ScriptLocations("{\n x}", embedded=False).position(["{\n x}"], 3) == (2, 2)


def test_script_locations_many_scripts_take_linear_time() -> None:
    blocks = ['{"a": 1,}'] * 20_000
    locations = ScriptLocations("\n".join(f"{TAG}{block}</script>" for block in blocks))
    began = time.process_time()
    assert [locations.position(blocks[:number], 0)[0] for number in (1, 20_000)] == [1, 20_000]
    assert time.process_time() - began < 2


def test_find_sample_finds_escaped_spellings() -> None:
    assert find_sample(' {"a": "http:\\/\\/x y"}', "http://x y") == 8
    assert find_sample('{"a": "\\u00e9"}', "é") == 7
    assert find_sample('{"a": "no such"}', "http://example.org/no such") == 7
    assert find_sample("  {}", "not there") == 2


def test_find_sample_finds_root_relative_reference() -> None:
    assert find_sample('{"@id": "/a b"}', "http://example.org/a b") == 9


def test_script_locations_xhtml_script_with_references_is_found() -> None:
    page = '<p>\n<script type="application/ld+json">{"a": "x &amp; y"}</script>'
    assert ScriptLocations(page).position(['{"a": "x & y"}'], 0) == (2, 36)


# Extraction from pages and documents


PERSON = '{"@context":"https://schema.org","@id":"#ann","@type":"Person","name":"Ann"}'


def script(content: str) -> str:
    return f'<script type="application/ld+json">{content}</script>'


def test_extract_block_gives_statements() -> None:
    found = extract(script(PERSON))
    assert found.syntax is Syntax.JSON_LD
    assert found.statements == (
        ("<http://example.org/dir/page#ann>", TYPE, SCHEMA.format("Person"), ""),
        ("<http://example.org/dir/page#ann>", SCHEMA.format("name"), '"Ann"', ""),
    )
    assert not found.problems


def test_extract_broken_block_does_not_affect_others() -> None:
    found = extract(script("{{{") + script("not json") + script(PERSON) + script("[") + script(""))
    assert len(found.statements) == 2
    assert [problem.repaired for problem in found.problems].count(False) == 1
    assert all(problem.syntax is Syntax.JSON_LD for problem in found.problems)


def test_extract_problems_have_positions_in_page() -> None:
    html = f"<html>\n<p>\n{script('{}')}\n{script(chr(10) + PERSON.replace('}', ',}'))}"
    found = extract(html)
    assert [(p.message, p.line, p.column, p.repaired) for p in found.problems] == [
        ("trailing comma", 5, len(PERSON) + 1, True)
    ]
    assert len(found.statements) == 2


def test_extract_repaired_iri_is_a_located_problem() -> None:
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
def test_extract_iri_with_invalid_characters_is_repaired_everywhere(place: str, written: str, meant: str) -> None:
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


def test_extract_strict_iris_lose_their_statements() -> None:
    document = page('{"@id": "http://s/", "http://p/": [{"@id": "http://x/a b"}, 1]}', kind=ContentKind.JSON_LD)
    found = jsonld.read_document(document, names(), TransformOptions(strict_jsonld=True))
    assert [statement[2][:3] for statement in found.statements] == ['"1"']
    assert [(p.message, p.repaired) for p in found.problems] == [
        ("invalid IRI, its statements are lost: http://x/a b", False)
    ]


@pytest.mark.parametrize("digits", ["9" * 400, "-" + "9" * 400, "9" * 5_000, "-" + "9" * 100_000])
def test_extract_long_integer_keeps_its_digits(digits: str) -> None:
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
def test_extract_block_without_context_is_reported(block: str) -> None:
    messages = [problem.message for problem in extract_block(block).problems]
    assert messages.count("no @context, so terms are undefined and left out") == 1


def test_extract_prefix_without_context_is_reported() -> None:
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
def test_extract_block_that_needs_no_context_is_not_reported(block: str) -> None:
    assert not extract_block(block).problems


def test_extract_similar_blocks_have_their_own_positions() -> None:
    """The blocks of a page often start alike, and an empty block is a prefix of any other."""
    block = '{"@context":"https://schema.org","@type":"Product","name":"%s"%s}'
    contents = [block % ("good", ""), "", block % ("bad", ","), block % ("good", ""), block % ("bad", ",")]
    html = "\n".join(
        f'<script src="s.js"></script><script type="application/ld+json">\n{it}</script>' for it in contents
    )
    found = extract(html)
    column = len(contents[2])
    assert [(p.line, p.column) for p in found.problems] == [(3, 64), (6, column), (10, column)]


def test_extract_url_template_property_is_kept() -> None:
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


def test_extract_base_element_is_used() -> None:
    html = '<base href="/other/"><base href="/third/">' + script('{"@id":"x","http://p/":"y"}')
    assert extract(html).statements[0][0] == "<http://example.org/other/x>"


def test_extract_blocks_share_blank_node_labels() -> None:
    blocks = script('{"@id":"_:a","http://p/":1}') + script('{"@id":"_:a","http://p/":2}') + script('{"http://p/":3}')
    found = extract(blocks).statements
    assert found[0][0] == found[1][0] != found[2][0]


def test_extract_same_page_gives_same_blank_nodes() -> None:
    html = script('{"http://p/":{"http://q/":{"@list":[1,2]}}}')
    assert extract(html).statements == extract(html).statements


def test_extract_block_with_several_values_reads_all() -> None:
    found = extract_block(PERSON + "\n" + PERSON.replace("ann", "bob"))
    assert len({statement[0] for statement in found.statements}) == 2
    assert [(p.line, p.repaired) for p in found.problems] == [(3, True)]


def test_extract_missing_context_is_wanted_and_used_when_provided() -> None:
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


def test_extract_block_without_statements_is_reported() -> None:
    silent = '{"@context": {"a": "http://a/"}, "b": 1}'
    assert [p.message for p in extract_block(silent).problems] == ["the block gives no statements"]
    assert not extract_block('{"@context": {"a": "http://a/"}}').problems
    assert not extract_block("{}").problems
    assert not extract_block("[]").problems


def test_extract_statement_limit_applies_to_whole_page() -> None:
    found = extract(script(PERSON) + script(PERSON.replace("ann", "bob")), max_statements=3)
    assert len(found.statements) == 3
    assert "more than" in found.problems[-1].message


def test_extract_other_charsets_are_decoded() -> None:
    body = script('{"@id":"http://a/","http://p/":"caf\xe9"}').encode("latin-1")
    document = Document(
        url="http://a/",
        body=body,
        detected=Detected(kind=ContentKind.HTML, evidence=DetectionEvidence.HEADER, charset="latin-1"),
    )
    assert jsonld.extract(document, names(), TransformOptions()).statements[0][2] == '"café"'


def test_extract_xhtml_wrappers_and_entities_are_removed() -> None:
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


def test_read_document_gives_statements() -> None:
    found = read({"@context": {"p": "http://p/"}, "@id": "", "p": [1, {"@id": "b"}]})
    assert [statement[2] for statement in found.statements] == [
        '"1"^^<http://www.w3.org/2001/XMLSchema#integer>',
        "<http://example.org/dir/b>",
    ]
    assert not found.problems


def test_read_document_byte_order_mark_and_faults_are_handled() -> None:
    assert len(read("\ufeff" + PERSON).statements) == 2
    assert not read("\ufeff" + PERSON).problems
    broken = read(PERSON[:-1] + ",\n")
    assert len(broken.statements) == 2
    assert [problem.line for problem in broken.problems] == [2]
    assert read(b"\xff\xfe{").problems
    assert [p.message for p in read("").problems] == ["empty block"]


def test_read_document_ignores_base_elements() -> None:
    document = page('{"@id":"x","http://p/":"<base href=\'/other/\'>"}', kind=ContentKind.JSON_LD)
    found = jsonld.read_document(document, names(), TransformOptions())
    assert found.statements[0][0] == "<http://example.org/dir/x>"


def test_extract_equal_problems_in_equal_blocks_have_own_positions() -> None:
    found = extract(script("{,}") + "\n" + script("{,}"))
    assert [problem.line for problem in found.problems] == [1, 2]


def test_extract_terms_without_context_are_reported() -> None:
    found = extract_block('[{"@type": "http://t/",\n "name": "Ann"}]')
    assert len(found.statements) == 1
    assert [(it.message, it.line, it.column) for it in found.problems] == [
        ("no @context, so terms are undefined and left out", 3, 2)
    ]
    assert not extract_block('{"@type": "http://t/", "http://p/": "Ann"}').problems


def test_extract_spaces_around_context_url_are_ignored() -> None:
    found = extract_block('{"@context": " https://schema.org ", "name": "Ann"}')
    assert [s[1:3] for s in found.statements] == [("<http://schema.org/name>", '"Ann"')]


@pytest.mark.parametrize(
    "block",
    [
        '{"@context": "https://schema.org", "@type": " Person", "name": "Ann"}',
        '{"@context": "https://schema.org", "@type ": "Person", " name": "Ann"}',
        '{"@context": {"@vocab": "http://schema.org/"}, "@type": "\\nPerson", "\\tname ": "Ann"}',
        '{"@context": {"@vocab": "http://schema.org"}, "@type": "Person", "name": "Ann"}',
        '{"@context": "https://schema.org", "@type": "Person", "name": {"@value": "Ann", "@language": "in English"}}',
        json.dumps('{"@context": "https://schema.org", "@type": "Person", "name": "Ann"}'),
    ],
)
def test_extract_common_mistakes_are_repaired(block: str) -> None:
    found = extract_block(block)
    assert [s[1:3] for s in found.statements] == [
        (TYPE, SCHEMA.format("Person")),
        (SCHEMA.format("name"), '"Ann"'),
    ]
    assert found.problems and all(problem.repaired for problem in found.problems)


@pytest.mark.parametrize(
    ("block", "predicates"),
    [
        ('{"@context": {"@vocab": "http://schema.org"}, "name": 1, " name": 2}', ["<http://schema.orgname>"]),
        ('{"http://p/": {"@value": "Ann", "@language": "en_US"}}', []),
    ],
)
def test_extract_strict_iris_mistakes_are_not_repaired(block: str, predicates: list[str]) -> None:
    document = page(block, kind=ContentKind.JSON_LD)
    found = jsonld.read_document(document, names(), TransformOptions(strict_jsonld=True))
    assert [s[1] for s in found.statements] == predicates


def test_extract_key_with_spaces_that_is_a_term_stays() -> None:
    found = extract_block('{"@context": {" a": "http://p/a", "a": "http://p/b"}, " a": 1}')
    assert [s[1] for s in found.statements] == ["<http://p/a>"] and not found.problems


# Script elements


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
def test_find_scripts_accepts_spellings_of_media_type(tag: str) -> None:
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
def test_find_scripts_ignores_other_elements(html: str) -> None:
    assert not list(find_scripts(page(html)))


def test_plain_page_has_no_jsonld_mark() -> None:
    assert Mark.JSON_LD not in marks_in(b'<p>application/json</p><script type="text/javascript">')


@pytest.mark.parametrize(
    ("fragment", "expected"),
    [("", [1, 2, 3]), ("#b%C3%A9", [2]), ("#other", [1, 2, 3]), ("#body", [1, 2, 3]), ("#twice", [3])],
)
def test_fragment_of_url_selects_script(fragment: str, expected: list[int]) -> None:
    blocks = "".join(
        f'<script type="application/ld+json" id="{name}">{{"http://p/": {number}}}</script>'
        for number, name in enumerate(["a", "bé", "twice"], 1)
    )
    document = page(f'<body id="body">{blocks}<p id="twice">', url="http://example.org/" + fragment)
    found = jsonld.extract(document, names(), TransformOptions())
    assert [int(statement[2].split('"')[1]) for statement in found.statements] == expected


def test_fragment_of_url_keeps_positions_of_problems() -> None:
    html = '<script type="application/ld+json">{"a</script>\n<script id=x type="application/ld+json">{"b</script>'
    found = jsonld.extract(page(html, url="http://example.org/#x"), names(), TransformOptions())
    assert {problem.line for problem in found.problems} == {2}
