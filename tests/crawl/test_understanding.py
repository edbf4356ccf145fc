"""From a body to its facts: plain documents, archives, and what was fetched for a page."""

from __future__ import annotations

import gzip
import io
import zipfile

import pytest

from motherlode.crawl.understanding import ServiceAnswer, Supplies, understand
from motherlode.model import ContentKind, Facts, Syntax
from motherlode.transform import TransformOptions
from motherlode.transform.options import Service
from motherlode.www.document import Document

URL = "http://ex.org/a"
TURTLE = b"@prefix s: <http://schema.org/> .\n<#it> s:name 'Ann' ; s:knows [ s:name 'Bo' ] ."
PDF = Service(media_type="application/pdf", url="http://s.example/pdf")


def understood(
    body: bytes, content_type: str, *, services: tuple[Service, ...] = (), supplies: Supplies | None = None
) -> tuple[Document, Facts]:
    options = TransformOptions(services=services)
    return understand(body, url=URL, content_type=content_type, options=options, supplies=supplies or Supplies())


def zipped(**members: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in members.items():
            archive.writestr(name.replace("__", "."), content)
    return file.getvalue()


def subjects(facts: Facts) -> set[str]:
    return {statement[0] for one in facts.extractions for statement in one.statements}


def test_a_document_is_told_by_its_type_and_read() -> None:
    document, facts = understood(TURTLE, "text/turtle")
    assert document.kind is ContentKind.TURTLE
    assert facts.counts == {Syntax.TURTLE: 3}


def test_the_members_of_an_archive_are_facts_of_the_archive() -> None:
    body = zipped(one__ttl=TURTLE, two__ttl=TURTLE, readme__txt=b"no data")
    document, facts = understood(body, "application/zip")
    assert document.url == URL
    assert facts.counts == {Syntax.TURTLE: 6}
    nodes = {name for name in subjects(facts) if name.startswith("_:")}
    assert len(nodes) == 2, "each member has blank nodes of its own"
    assert subjects(facts) - nodes == {f"<{URL}#it>"}, "what is relative is relative to the archive"


def test_a_packed_document_says_what_it_says_unpacked() -> None:
    _, plain = understood(TURTLE, "text/turtle")
    _, packed = understood(gzip.compress(TURTLE), "application/gzip")
    assert packed.counts == plain.counts


def test_a_broken_member_costs_itself_and_is_told() -> None:
    _, facts = understood(zipped(good__ttl=TURTLE, bad__ttl=b"<#it> s:name 'never declared' ."), "application/zip")
    assert facts.counts == {Syntax.TURTLE: 3}
    assert facts.all_problems()
    _, facts = understood(zipped(good__ttl=TURTLE)[:-30], "application/zip")
    assert facts.all_problems()


def test_contexts_that_were_fetched_for_a_page_are_used() -> None:
    body = b'{"@context": "http://c.example/", "@id": "http://x.example/", "name": "Ann"}'
    _, facts = understood(body, "application/ld+json")
    assert [url for one in facts.extractions for url in one.wanted] == ["http://c.example/"]
    context = b'{"@context": {"name": "http://v.example/name"}}'
    _, facts = understood(body, "application/ld+json", supplies=Supplies(contexts={"http://c.example/": context}))
    assert facts.counts == {Syntax.JSON_LD: 1}


def test_the_answer_of_a_service_stands_beside_the_facts_of_the_page() -> None:
    answer = ServiceAnswer(content_type="text/turtle", body=b"<> <http://purl.org/dc/terms/title> 'On ore' .")
    _, facts = understood(b"%PDF-1.4 x", "application/pdf", services=(PDF,), supplies=Supplies(service=answer))
    assert facts.counts == {Syntax.OTHER: 1}
    assert subjects(facts) == {f"<{URL}>"}


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (ServiceAnswer(failure="timeout: 60 s"), "timeout"),
        (ServiceAnswer(content_type="image/png", body=b"x"), "image/png"),
        (ServiceAnswer(content_type="text/turtle", body=b"<> <"), ""),
    ],
)
def test_a_service_without_an_answer_is_a_problem_and_the_page_remains(answer: ServiceAnswer, said: str) -> None:
    page = Service(media_type="text/turtle", url="http://s.example/")
    _, facts = understood(TURTLE, "text/turtle", services=(page,), supplies=Supplies(service=answer))
    assert facts.counts == {Syntax.TURTLE: 3}
    assert any(said in problem.message for problem in facts.all_problems())
    assert facts.all_problems()


def test_an_answer_for_a_page_that_no_service_wants_is_nothing() -> None:
    answer = ServiceAnswer(content_type="text/turtle", body=TURTLE)
    _, facts = understood(b"plain", "text/plain", services=(PDF,), supplies=Supplies(service=answer))
    assert (facts.counts, facts.all_problems()) == ({}, ())
