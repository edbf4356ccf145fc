"""Input that is expensive to process: each case ends within its CPU time limit."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from motherlode.model import Extraction
from motherlode.transform.jsonld.context_processor import MAX_REMOTE_LOADS

from .helpers import extract, extract_block, process, read

EX = "http://example.com/"


@contextmanager
def soon(seconds: float = 5.0) -> Iterator[None]:
    started = time.process_time()
    yield
    assert time.process_time() - started < seconds


@pytest.mark.parametrize("levels", [200, 2000, 100_000])
@pytest.mark.parametrize(
    ("opening", "closing"),
    [("[", "]"), ('{"http://p/":', "}"), ('{"@graph":[', "]}"), ('{"http://p/":{"@list":[', "]}}"), ('{"@nest":', "}")],
)
def test_deep_nesting_is_a_problem(opening: str, closing: str, levels: int) -> None:
    with soon():
        for closed in (True, False):
            found = extract_block(opening * levels + "1" + (closing * levels if closed else ""))
            assert any("too deep" in problem.message for problem in found.problems)


def test_deeply_nested_contexts_are_a_problem() -> None:
    context: Any = {}
    for _ in range(150):
        context = {"a": {"@id": "http://a/", "@context": context}}
    with soon():
        notes = process({"@context": context, "a": {"a": "x"}}, strict=False).notes
    assert [note.message for note in notes] == ["context overflow: scoped contexts are nested too deep"]


def test_reasonable_nesting_is_read() -> None:
    document: Any = "x"
    for _ in range(100):
        document = {"http://p/": document}
    assert len(process(document).statements) == 100


def test_long_chain_of_terms_is_a_problem() -> None:
    chain = {f"t{n}": f"t{n + 1}:x" for n in range(10_000)}
    with soon():
        assert "context overflow" in process({"@context": chain, "t0": "x"}, strict=False).notes[0].message


def test_many_large_contexts_are_a_problem() -> None:
    large = {f"t{n}": f"http://t/{n}" for n in range(5000)}
    nodes = [{"@context": {f"u{n}": "http://u/"}, f"u{n}": "x"} for n in range(5000)]
    with soon(10):
        found = process({"@context": large, "@graph": nodes}, strict=False)
    assert "too much work" in found.notes[-1].message


def test_many_scoped_contexts_end_in_time() -> None:
    scope = {f"s{n}": f"http://s/{n}" for n in range(2000)}
    context = {f"t{n}": {"@id": f"http://t/{n}", "@context": scope} for n in range(200)}
    document = {"@context": context, **{f"t{n}": {"s1": "x"} for n in range(200)}}
    with soon(10):
        assert process(document, strict=False)


def test_remote_contexts_are_limited() -> None:
    urls = [f"http://c/{n}" for n in range(5000)]
    with soon():
        found = process({"@context": urls, "http://p/": "x"}, strict=False)
    assert len(found.wanted) <= MAX_REMOTE_LOADS
    assert len(found.notes) <= 101


def test_branching_remote_contexts_are_a_problem() -> None:
    contexts = {
        f"{EX}{n}": json.dumps(
            {"@context": {f"t{m}": {"@id": "http://t/", "@context": f"{EX}{m}"} for m in range(12)}}
        ).encode()
        for n in range(12)
    }
    with soon(20):
        found = process({"@context": EX + "0", "t1": "x"}, strict=False, contexts=contexts)
    assert any("context overflow" in note.message for note in found.notes)


def test_many_small_values_are_read_in_time() -> None:
    member = '{"@id":"http://x/","http://p/":"y"},'
    with soon(20):
        found = extract_block("[" + member * 150_000 + "{}]", max_statements=1000)
    assert len(found.statements) == 1


def test_fifty_megabytes_in_one_line_are_rejected_in_time() -> None:
    with soon(20):
        found = read(b'{"http://p/":"' + b"x" * 50_000_000 + b'"}')
        assert "longer than" in found.problems[0].message
        found = extract_block('{"http://p/":"' + "x" * 10_000_000)
        assert found.problems


BROKEN: list[Callable[[], Extraction]] = [
    lambda: extract_block('{"@id":"http://a/","http://p/":"\\ud800 \\udc00\\ud800"}'),
    lambda: extract_block('{"@id":"http://a/\\ud800","http://p/":"x"}'),
    lambda: extract(b'<script type="application/ld+json">{"http://p/":"\xed\xa0\x80\xff\xc0\x80"}</script>'),
    lambda: extract(b'<script type="application/ld+json">{"http://p/":"a\x00b"}</script>'),
    lambda: extract(b'\x00<script type="application/ld+json">\x00{"http://p/":"x"}\x00</script>'),
    lambda: read(b'{"http://p/":"\xff\xfe\xed\xbf\xbf"}'),
    lambda: read(b"\x00" * 1000),
    lambda: extract_block('{"@context":{"@language":"\\u0000"},"http://p/":"x"}'),
    lambda: extract_block('{"@context":' + '"http://c/",' * 1000),
    lambda: extract_block("<script " * 50_000 + "{,"),
    lambda: extract("<script <script " * 50_000 + '<script type="application/ld+json">{,}</script>'),
]


@pytest.mark.parametrize("attempt", BROKEN)
def test_broken_text_ends_in_time(attempt: Callable[[], Extraction]) -> None:
    with soon():
        found = attempt()
    for statement in found.statements:
        "\n".join(statement).encode()  # raises if a lone surrogate is left
    for problem in found.problems:
        problem.message.encode()


def test_large_attributes_and_keys_are_read_in_time() -> None:
    with soon():
        key = "http://p/" + "k" * 1_000_000
        assert not process({"@id": "x", key: "y"}, strict=False).statements
        assert (
            len(process({"@id": "x", "@context": {"k" * 1_000_000: "http://p/"}, "k" * 1_000_000: "y"}).statements) == 1
        )
