"""The built-in stylesheets for feeds, which docs/transforms.md describes."""

from __future__ import annotations

import time

import pytest

from motherlode.model import ContentKind, Syntax
from motherlode.transform.options import TransformOptions
from motherlode.transform.xslt import stylesheets

from .pages import RDF, URL, XHTML, document, extract_document, statements

RSS = "http://purl.org/rss/1.0/"
DC = "http://purl.org/dc/elements/1.1/"
XSD = "http://www.w3.org/2001/XMLSchema#"
ENC = "http://purl.oclc.org/net/rss_2.0/enc#"
CONTENT = f"{RSS}modules/content/"
ATOM = "http://www.w3.org/2005/Atom"
RELATION = "http://www.iana.org/assignments/relation/"
OLD_AND_NEW = f'<feed xmlns="{ATOM}" xmlns:o="http://purl.org/atom/ns#">'
A = f"<{RDF}type>"
FEED = f"<{URL}>"
POST = "<http://example.org/post>"


def rss(channel: str, attributes: str = 'version="2.0"') -> set[tuple[str, str, str]]:
    return statements(document(f"<rss {attributes}><channel>{channel}</channel></rss>", ContentKind.RSS))


def item(inside: str, attributes: str = 'version="2.0"') -> set[tuple[str, str]]:
    """Return predicates and objects of an item with a link."""
    found = rss(f"<item><link>/post</link>{inside}</item>", attributes)
    return {(p, o) for s, p, o in found if s == POST and p != A and p != f"<{RSS}link>"}


def entry(inside: str) -> set[tuple[str, str, str]]:
    xml = f'<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="en"><entry><id>tag:a</id>{inside}</entry></feed>'
    found = statements(document(xml, ContentKind.ATOM))
    known = {("<tag:a>", A, f"<{RSS}item>"), ("<tag:a>", f"<{DC}identifier>", '"tag:a"')}
    assert known <= found
    return {(s, p, o) for s, p, o in found - known if s != FEED and (s, p) != ("_:1", A) and "syntax-ns#_1" not in p}


def test_rss_channel_lists_its_items_in_order() -> None:
    found = rss(
        "<title> T </title><link>http://e.org/</link><item><link>/post</link></item><item><title>x</title></item>"
    )
    assert found == {
        (FEED, A, f"<{RSS}channel>"),
        (FEED, f"<{RSS}title>", '"T"'),
        (FEED, f"<{RSS}link>", "<http://e.org/>"),
        (FEED, f"<{RSS}items>", "_:1"),
        ("_:1", A, f"<{RDF}Seq>"),
        ("_:1", f"<{RDF}_1>", POST),
        ("_:1", f"<{RDF}_2>", "_:2"),
        (POST, A, f"<{RSS}item>"),
        (POST, f"<{RSS}link>", POST),
        ("_:2", A, f"<{RSS}item>"),
        ("_:2", f"<{RSS}title>", '"x"'),
    }


@pytest.mark.parametrize(
    ("inside", "predicate", "value"),
    [
        ("<description>&lt;b&gt;x&lt;/b&gt;</description>", f"{RSS}description", '"<b>x</b>"'),
        ("<author>a@e.org (Ann)</author>", f"{DC}creator", '"a@e.org (Ann)"'),
        ("<pubDate>Tue, 10 Jun 2003 04:00:00 GMT</pubDate>", f"{DC}date", f'"2003-06-10T04:00:00Z"^^<{XSD}dateTime>'),
        ("<pubDate>one day</pubDate>", f"{DC}date", '"one day"'),
        ("<category>a</category>", f"{DC}subject", '"a"'),
        ('<guid isPermaLink="false">1</guid>', f"{DC}identifier", '"1"'),
        ("<comments>/c</comments>", "http://www.w3.org/2000/01/rdf-schema#seeAlso", "<http://example.org/c>"),
        ('<source url="/s">S</source>', f"{DC}source", "<http://example.org/s>"),
        ('<enclosure url="/e.mp3" type="a/b"/>', f"{ENC}enclosure", "<http://example.org/e.mp3>"),
        (f'<c:encoded xmlns:c="{CONTENT}">x</c:encoded>', f"{CONTENT}encoded", '"x"'),
        (f'<d:date xmlns:d="{DC}">2003-06-10T04:00Z</d:date>', f"{DC}date", f'"2003-06-10T04:00:00Z"^^<{XSD}dateTime>'),
        ('<i:image xmlns:i="http://i.org/#" href="/i.png"/>', "http://i.org/#image", "<http://example.org/i.png>"),
        (f'<a:link xmlns:a="{ATOM}" rel="self" href="/f"/>', f"{RELATION}self", "<http://example.org/f>"),
        ('<title xml:lang="fr">chat</title>', f"{RSS}title", '"chat"@fr'),
    ],
)
def test_rss_item_element_becomes_its_property(inside: str, predicate: str, value: str) -> None:
    assert item(inside) == {(f"<{predicate}>", value)}


@pytest.mark.parametrize(
    "inside", ["<title> </title>", "<ttl>60</ttl>", "<cloud/>", "<m:g xmlns:m='http://m/'><m:x>1</m:x></m:g>"]
)
def test_rss_element_without_content_makes_no_statement(inside: str) -> None:
    assert item(inside) == set()


def test_rss_item_without_link_has_the_url_in_its_guid_as_subject() -> None:
    assert (POST, A, f"<{RSS}item>") in rss("<item><guid>http://example.org/post</guid></item>")


def test_rss_with_namespace_and_xml_base_is_read() -> None:
    attributes = 'xmlns="http://backend.userland.com/rss2" xml:base="http://b.org/x/"'
    found = rss("<item><link>y</link></item>", attributes)
    assert ("<http://b.org/x/y>", A, f"<{RSS}item>") in found


def test_atom_entry_becomes_statements() -> None:
    found = entry(
        """<title>T</title><summary type="html">&lt;b&gt;</summary><published>2003-06-10T04:00:00Z</published>
        <updated>2004-01-01T00:00:00+01:00</updated><category term="t" label="L"/>
        <link href="/post"/><link rel="related" href="/r"/><link rel="http://x/y" href="/z"/>"""
    )
    assert {(p, o) for s, p, o in found} == {
        (f"<{RSS}title>", '"T"@en'),
        (f"<{RSS}description>", '"<b>"@en'),
        (f"<{DC}date>", f'"2003-06-10T04:00:00Z"^^<{XSD}dateTime>'),
        ("<http://purl.org/dc/terms/modified>", f'"2004-01-01T00:00:00+01:00"^^<{XSD}dateTime>'),
        (f"<{DC}subject>", '"t"'),
        (f"<{DC}subject>", '"L"@en'),
        (f"<{RSS}link>", POST),
        ("<http://www.iana.org/assignments/relation/related>", "<http://example.org/r>"),
        ("<http://www.w3.org/2000/01/rdf-schema#seeAlso>", "<http://example.org/z>"),
    }


def test_atom_xhtml_content_is_an_xml_literal() -> None:
    found = entry('<content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><b>x</b></div></content>')
    ((_, predicate, value),) = found
    assert predicate == f"<{RSS}modules/content/encoded>"
    assert value.startswith('"<b') and value.endswith(f"^^<{RDF}XMLLiteral>")


def test_atom_author_is_a_creator_and_an_agent() -> None:
    foaf = "http://xmlns.com/foaf/0.1/"
    found = entry("<author><name>Ann</name><uri>/ann</uri><email>a@e.org</email></author>")
    agents = {o for s, p, o in found if p == f"<{foaf}maker>"}
    assert len(agents) == 1
    agent = agents.pop()
    assert {(p, o) for s, p, o in found if s == agent} == {
        (A, f"<{foaf}Agent>"),
        (f"<{foaf}name>", '"Ann"'),
        (f"<{foaf}homepage>", "<http://example.org/ann>"),
        (f"<{foaf}mbox>", "<mailto:a@e.org>"),
    }
    assert ("<tag:a>", f"<{DC}creator>", '"Ann"') in found


def test_atom_nested_xml_bases_are_resolved() -> None:
    xml = """<feed xmlns="http://www.w3.org/2005/Atom" xml:base="http://b.org/x/"><entry xml:base="y/"><id>tag:a</id>
        <link href="z"/></entry></feed>"""
    assert ("<tag:a>", f"<{RSS}link>", "<http://b.org/x/y/z>") in statements(document(xml, ContentKind.ATOM))


def test_atom_0_3_and_single_entry_are_read() -> None:
    old = """<feed xmlns="http://purl.org/atom/ns#"><tagline>t</tagline><entry><id>tag:a</id><issued>2003-06-10</issued>
        </entry></feed>"""
    found = statements(document(old, ContentKind.ATOM))
    assert (FEED, f"<{RSS}description>", '"t"') in found
    assert ("<tag:a>", f"<{DC}date>", f'"2003-06-10"^^<{XSD}date>') in found
    lone = '<entry xmlns="http://www.w3.org/2005/Atom"><id>tag:a</id></entry>'
    assert ("<tag:a>", A, f"<{RSS}item>") in statements(document(lone, ContentKind.ATOM))


def test_malformed_feed_is_read_up_to_the_error_with_its_line() -> None:
    page = document("<rss><channel><title>T</title>\n<item><link>/post</link><title>a & b</title>", ContentKind.RSS)
    found = extract_document(page)
    assert (POST, f"<{RSS}title>", '"a & b"', "") in found.statements
    assert {problem.line for problem in found.problems} == {2}
    assert all(problem.repaired and problem.syntax is Syntax.FEED for problem in found.problems)


def test_html_entities_in_feeds_are_replaced() -> None:
    page = document("<rss><channel><title>caf&eacute;&nbsp;&bogus;!</title></channel></rss>", ContentKind.RSS)
    found = extract_document(page)
    assert (FEED, f"<{RSS}title>", '"café\xa0!"', "") in found.statements
    assert [problem.message for problem in found.problems] == ["the entity bogus was left out"]


def test_invalid_url_in_feed_removes_only_its_statement() -> None:
    found = rss("<link>http://a b/</link><docs/><title>T</title><item><link>/a b</link></item>")
    assert (FEED, f"<{RSS}title>", '"T"') in found
    assert ("<http://example.org/a%20b>", A, f"<{RSS}item>") in found


def test_feed_in_another_charset_is_decoded() -> None:
    xml = "<rss><channel><title>é</title></channel></rss>".encode("iso-8859-1")
    assert (FEED, f"<{RSS}title>", '"é"') in statements(document(xml, ContentKind.RSS, charset="iso-8859-1"))


def test_blank_nodes_are_the_same_in_every_run() -> None:
    page = document("<rss><channel><item><title>a</title></item><item/></channel></rss>", ContentKind.RSS)
    assert extract_document(page).statements == extract_document(page).statements


def test_large_feed_is_read_in_the_sandbox_and_reports_faults() -> None:
    items = "<item><link>/post</link><description>x & y</description></item>\n" * 40_000
    found = extract_document(document(f"<rss><channel>{items}", ContentKind.RSS), TransformOptions(seconds=60))
    assert (POST, f"<{RSS}description>", '"x & y"', "") in found.statements
    assert found.problems and all(problem.repaired for problem in found.problems)


@pytest.mark.parametrize(
    "body",
    [
        b"<rss><channel>" + b"<item>" * 1_000_000,
        b"<rss><channel><title>" + b"x" * 50_000_000 + b"</title></channel></rss>",
        b"<rss><channel>" + b"<item><link>/post</link></item>" * 1_600_000,
        b"x" * 3_000_000,
    ],
    ids=["deep", "one long line", "many items", "no xml"],
)
def test_hostile_feed_ends_within_the_time_limit(body: bytes) -> None:
    started = time.process_time()
    found = extract_document(document(body, ContentKind.RSS), TransformOptions(seconds=4))
    assert time.process_time() - started < 30
    assert found.problems


@pytest.mark.parametrize(
    ("kind", "start", "many", "end"),
    [
        (ContentKind.RSS, "<rss><channel>", "<item/>", "</channel>" + "<item/>" * 20_000 + "</rss>"),
        (ContentKind.RSS, "<rss><channel><item>", "<link>l</link><category>c</category>", "</item></channel></rss>"),
        (
            ContentKind.RSS,
            "<rss><channel><image><url>u</url>",
            "<title>t</title><link>l</link>",
            "</image></channel></rss>",
        ),
        (ContentKind.ATOM, OLD_AND_NEW, "<entry/><o:entry/>", "</feed>"),
        (
            ContentKind.ATOM,
            OLD_AND_NEW + "<entry>",
            "<link href='a'/><o:link href='b'/><id/><o:id/>",
            "</entry></feed>",
        ),
        (ContentKind.ATOM, OLD_AND_NEW + "<entry>", "<o:created>2000</o:created><o:issued/>", "</entry></feed>"),
        (
            ContentKind.ATOM,
            OLD_AND_NEW + "<entry><content>",
            f"<div xmlns='{XHTML}'>x</div><b/>",
            "</content></entry></feed>",
        ),
    ],
)
def test_built_in_stylesheets_need_linear_time(kind: ContentKind, start: str, many: str, end: str) -> None:
    started = time.process_time()
    extract_document(document(start + many * 20_000 + end, kind), TransformOptions(seconds=60))
    assert time.process_time() - started < 20


@pytest.mark.parametrize("long", [False, True])
def test_bare_ampersand_is_read_as_text(*, long: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if long:
        monkeypatch.setattr(stylesheets, "_MIN_SANDBOX_BYTES", 10)
    inside = "<title>A & B &amp; <![CDATA[C & D]]></title><link>/post?a=1&b=2</link>"
    xml = f"<rss><channel><item>\n{inside}</item></channel></rss>"
    found = extract_document(document(xml, ContentKind.RSS))
    pairs = {s[1:3] for s in found.statements}
    assert (f"<{RSS}title>", '"A & B & C & D"') in pairs
    assert (f"<{RSS}link>", "<http://example.org/post?a=1&b=2>") in pairs
    assert found.problems
    assert all(problem.repaired and (long or problem.line == 2) for problem in found.problems)
