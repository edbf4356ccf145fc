"""Hostile documents: each must end in time and in bounded memory, with a problem recorded.

Every case runs in a child process with a memory limit, because a stack overflow or exhausted memory would end this one.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable

import pytest

SECONDS = 3.0
MEGABYTES = 900

RUNNER = """
import json, resource, sys, time
from motherlode.model import ContentKind, Detected, DetectionEvidence
from motherlode.transform import TransformOptions, transform
from motherlode.www.document import Document

kind, charset, seconds = ContentKind(sys.argv[1]), sys.argv[2], float(sys.argv[3])
body = sys.stdin.buffer.read()
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
detected = Detected(kind=kind, evidence=DetectionEvidence.CONTENT, charset=charset)
started = time.process_time()
document = Document(url="http://example.org/x", body=body, detected=detected)
result = transform(document, TransformOptions(seconds=seconds))
print(json.dumps({
    "seconds": time.process_time() - started,
    "megabytes": (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024,
    "statements": sum(len(e.statements) for e in result.extractions),
    "problems": [[p.message, p.line] for p in result.all_problems()],
}))
"""

RDF_OPEN = b'<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="urn:e:">'
RDF_CLOSE = b"</rdf:RDF>"
GOOD_XML = b'<e:A rdf:about="urn:good"/>'
GOOD = b"<urn:a> <urn:p> <urn:o> .\n"
DEEP = 100_000
LONG = 50_000_000


def _laughs(levels: int, text: bytes = b"ha") -> bytes:
    entities = b"".join(b'<!ENTITY l%d "%s">' % (i, b"&l%d;" % (i - 1) * 10) for i in range(1, levels))
    return b'<!DOCTYPE rdf:RDF [<!ENTITY l0 "' + text + b'">' + entities + b"]>"


def _xml(inner: bytes, before: bytes = b"") -> bytes:
    return before + RDF_OPEN + GOOD_XML + inner + RDF_CLOSE


# Content kind, body, and whether the valid statement in the body must be extracted, by name
CASES: dict[str, tuple[str, Callable[[], bytes], bool]] = {
    "billion laughs": ("rdfxml", lambda: _xml(b"<e:A><e:p>&l29;</e:p></e:A>", _laughs(30)), True),
    "billion laughs in an attribute": ("rdfxml", lambda: _xml(b'<e:A e:p="&l29;"/>', _laughs(30)), True),
    "laughs of nothing": ("rdfxml", lambda: _xml(b"<e:A><e:p>&l29;&x;</e:p></e:A>", _laughs(30, b"")), True),
    "quadratic entities": (
        "rdfxml",
        lambda: _xml(b"<e:A><e:p>" + b"&x;" * 1_000_000 + b"</e:p></e:A>", _entity(b"x" * 4000)),
        True,
    ),
    "long entity": ("rdfxml", lambda: _xml(b"<e:A><e:p>&x;</e:p></e:A>", _entity(b"x" * 10_000_000)), False),
    "laughs behind a long comment": (
        "rdfxml",
        lambda: _xml(b"&l29;", b"<!--" + b"x" * 2_000_000 + b"-->" + _laughs(30)),
        False,
    ),
    "laughs in the middle": ("rdfxml", lambda: _xml(_laughs(30) + b"<e:A><e:p>&l29;</e:p></e:A>"), True),
    "external entity": (
        "rdfxml",
        lambda: _xml(b"<e:A><e:p>&x;</e:p></e:A>", b'<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]>'),
        True,
    ),
    "external document type": (
        "rdfxml",
        lambda: _xml(b"<e:A><e:p>&x;</e:p></e:A>", b'<!DOCTYPE a SYSTEM "file:///etc/passwd">'),
        True,
    ),
    "parameter entity": (
        "rdfxml",
        lambda: _xml(b"&x;", b'<!DOCTYPE a [<!ENTITY % p SYSTEM "http://127.0.0.1/"> %p;]>'),
        True,
    ),
    "deep XML": ("rdfxml", lambda: _xml(b"<e:A><e:p>" * DEEP + b"</e:p></e:A>" * DEEP), True),
    "deep XML, open": ("rdfxml", lambda: _xml(b"<e:A><e:p>" * DEEP), True),
    "deep XML literal": (
        "rdfxml",
        lambda: _xml(b'<e:A><e:p rdf:parseType="Literal">' + b"<x>" * DEEP + b"</x>" * DEEP + b"</e:p></e:A><oops"),
        True,
    ),
    "many attributes": (
        "rdfxml",
        lambda: _xml(b"<e:A " + b" ".join(b'e:p%d="1"' % number for number in range(500_000)) + b"/>"),
        True,
    ),
    "many namespaces": (
        "rdfxml",
        lambda: _xml(b"".join(b'<e:A xmlns:n%d="urn:n"><e:p>' % number for number in range(20_000))),
        True,
    ),
    "long XML text": ("rdfxml", lambda: _xml(b"<e:A><e:p>" + b"x" * LONG + b"</e:p></e:B>"), True),
    "long XML tag": ("rdfxml", lambda: _xml(b"<e:A e:p='" + b"x" * LONG), True),
    "long XML comment": ("rdfxml", lambda: _xml(b"<!--" + b"x" * LONG), True),
    "XML of bad nodes": ("rdfxml", lambda: _xml(b'<e:A rdf:about="urn:a"><oops</e:A>' * 200_000), True),
    "XML of open tags": ("rdfxml", lambda: _xml(b"<e:A><e:p>" + b"<a" * 2_000_000), True),
    "XML of ampersands": ("rdfxml", lambda: _xml(b"<e:A><e:p>" + b"&" * 5_000_000 + b"</e:p></e:A>"), True),
    "XML of unknown prefixes": (
        "rdfxml",
        lambda: _xml(b"".join(b"<p%d:A><p%d:p>" % (number, number) for number in range(100_000))),
        True,
    ),
    "XML of one byte": ("rdfxml", lambda: b"<" * LONG, False),
    "XML in disguise": ("rdfxml", lambda: b"<!DOCTYPE a [" + b"<!ENTITY a 'b" * 1_000_000, False),
    "deep Turtle nodes, open": ("turtle", lambda: GOOD + b"<urn:a> <urn:p> " + b"[ <urn:p> " * DEEP, True),
    "deep Turtle lists, open": ("turtle", lambda: GOOD + b"<urn:a> <urn:p> " + b"( " * DEEP, True),
    "deep triple terms": (
        "turtle",
        lambda: GOOD + b"<urn:a> <urn:p> " + b"<<( <urn:a> <urn:p> " * DEEP + b"1" + b" )>>" * DEEP + b" .",
        True,
    ),
    "deep triple terms in lines": (
        "nquads",
        lambda: GOOD + b"<urn:a> <urn:p> " + b"<<( <urn:a> <urn:p> " * DEEP + b'"1"' + b" )>>" * DEEP + b" .",
        True,
    ),
    "deep reified triples, open": ("turtle", lambda: GOOD + b"<< <urn:a> <urn:p> " * DEEP, True),
    "deep formulas, open": ("n3", lambda: GOOD + b"<urn:a> <urn:p> " + b"{ <urn:a> <urn:p> " * DEEP, True),
    "deep graphs": ("trig", lambda: GOOD + b"<urn:g> { " * DEEP, True),
    "long Turtle literal": ("turtle", lambda: GOOD + b'<urn:a> <urn:p> "' + b"x" * LONG + b'" .', True),
    "long Turtle string, open": ("turtle", lambda: GOOD + b'<urn:a> <urn:p> """' + b"x\n" * (LONG // 2), True),
    "long Turtle IRI": ("turtle", lambda: GOOD + b"<urn:" + b"x" * LONG + b"> <urn:p> 1 .", True),
    "long Turtle comment": ("turtle", lambda: GOOD + b"#" + b"x" * LONG, True),
    "Turtle of dots": ("turtle", lambda: GOOD + b". " * 1_000_000, True),
    "Turtle of quotes": ("turtle", lambda: GOOD + b"'\" " * 1_000_000, True),
    "Turtle of open strings": ("turtle", lambda: GOOD + b'<urn:a> <urn:p> """ ' * 100_000, True),
    "Turtle of bad statements": ("turtle", lambda: GOOD + b"<urn:a> <urn:p> ?? .\n" * 500_000, True),
    "Turtle of bad statements in one line": ("turtle", lambda: GOOD + b"<urn:a> <urn:p> ?? . " * 500_000, True),
    "Turtle of bad IRIs in one statement": (
        "turtle",
        lambda: GOOD + b"<urn:a> <urn:p> " + b"<urn:{}>, " * 300_000 + b"1 .",
        True,
    ),
    "TriG of bad graphs": ("trig", lambda: GOOD + b"?? { <urn:a> <urn:p> 1 } " * 200_000, True),
    "many prefixes, then errors": (
        "turtle",
        lambda: b"".join(b"@prefix p%d: <urn:%d:> .\n" % (n, n) for n in range(50_000)) + b"?? .\n" * 100_000,
        False,
    ),
    "long line": ("ntriples", lambda: GOOD + b'<urn:a> <urn:p> "' + b"x" * LONG + b'" .\n', True),
    "lines of garbage": ("ntriples", lambda: GOOD + b"x\n" * 2_000_000, True),
    "lines without end": ("nquads", lambda: GOOD + b"<urn:a> <urn:p> <urn:o> <urn:g> " * 1_000_000, True),
    "NULs": ("turtle", lambda: GOOD + b"\0" * LONG, True),
    "NULs in lines": ("ntriples", lambda: GOOD + b"\0\n" * 1_000_000, True),
    "NULs in XML": ("rdfxml", lambda: _xml(b"\0" * 1_000_000), True),
    "not UTF-8": ("turtle", lambda: GOOD + b'<urn:a> <urn:p> "' + b"\xff" * 1_000_000 + b'" .', True),
    "overlong UTF-8": ("ntriples", lambda: GOOD + b'<urn:a> <urn:p> "\xc0\xaf\xe0\x80\xaf\xf0\x80\x80\xaf" .', True),
    "surrogates in UTF-8": ("ntriples", lambda: GOOD + b'<urn:a> <urn:p> "\xed\xa0\x80\xed\xb0\x80" .', True),
    "half a surrogate escaped": ("turtle", lambda: GOOD + b'<urn:a> <urn:p> "\\uD800" .', True),
    "past Unicode": ("turtle", lambda: GOOD + b'<urn:a> <urn:p> "\xf4\x90\x80\x80 \\UFFFFFFFF" .', True),
    "cut in a character": ("turtle", lambda: GOOD + b'<urn:a> <urn:p> "\xe2\x82', True),
    "deep JSON": ("jsonld", lambda: b'{"@id": "urn:a", "urn:p": ' + b"[" * DEEP + b"]" * DEEP + b"}", False),
    "deep JSON, open": ("jsonld", lambda: b'{"urn:p": ' * DEEP, False),
}


def _entity(value: bytes) -> bytes:
    return b'<!DOCTYPE rdf:RDF [<!ENTITY x "' + value + b'">]>'


@pytest.mark.parametrize("name", CASES)
def test_transform_hostile_document_ends_in_time_and_memory_with_a_problem(name: str) -> None:
    kind, body, has_good = CASES[name]
    command = [sys.executable, "-c", RUNNER, kind, "utf-8", str(SECONDS)]
    done = subprocess.run(command, input=body(), capture_output=True, check=False, timeout=300)
    assert done.returncode == 0, f"the process died: {done.stderr[-1000:]!r}"
    report = json.loads(done.stdout)
    assert report["seconds"] < 2 * SECONDS + 2, report
    assert report["megabytes"] < MEGABYTES, report
    assert report["problems"], report
    assert len(report["problems"]) <= 103
    assert report["statements"] >= has_good, report
