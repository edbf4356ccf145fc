"""Scorers of the user: their forms, messages, limits and functions."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from motherlode.policies import scorers, target_from
from motherlode.policies.scorers import (
    PageMessage,
    ScorerError,
    ScorerKind,
    ScorerLimits,
    ScorerSpec,
    call_function,
    check_score,
    decode_answer,
    encode_page,
    load_function,
    parse_scorer,
    parse_threshold,
)

QUADS = b'<http://x/a> <http://p> "1" <http://g> .\n<http://x/b> <http://p> "2" <http://g> .\n'


@pytest.mark.parametrize(
    ("spec", "kind", "name"),
    [
        ("python:my.module:quality", ScorerKind.FUNCTION, "my.module:quality"),
        ("command: python3 'a b.py' -q", ScorerKind.COMMAND, "python3 'a b.py' -q"),
        ("http://127.0.0.1:8000/score?x=1", ScorerKind.ENDPOINT, "http://127.0.0.1:8000/score?x=1"),
    ],
)
def test_parse_scorer_reads_each_form(spec: str, kind: ScorerKind, name: str) -> None:
    scorer = parse_scorer(spec)
    assert scorer == ScorerSpec(kind, name)
    assert parse_scorer(scorer.text) == scorer


@pytest.mark.parametrize("spec", ["any", "microdata>=5", "type:schema:Recipe", "valid:google", "ASK { ?s ?p ?o }", ""])
def test_parse_scorer_leaves_other_targets_alone(spec: str) -> None:
    assert parse_scorer(spec) is None
    assert parse_threshold(spec) is None


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("python:module", "names no function"),
        ("command:", "names no command"),
        ("command:echo 'a", "cannot be read"),
        ("scorer:absent", "no installed package has a scorer 'absent'"),
    ],
)
def test_parse_scorer_with_wrong_form_raises_value_error(spec: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse_scorer(spec)


def test_target_of_a_scorer_accepts_scores_from_its_threshold_on() -> None:
    target = target_from("command:score --x >= 0.8")
    assert target.scorer == ScorerSpec(ScorerKind.COMMAND, "score --x")
    assert [target.accepts(score) for score in (None, 0.79, 0.8)] == [False, False, True]
    assert target_from("command:score").accepts(0.5)
    with pytest.raises(ValueError, match="least score"):
        target_from("command:score>=0")


def test_encode_page_without_much_content_keeps_all() -> None:
    line = encode_page("http://x/", kind="html", counts={"rdfa": 2}, text="a\nb", quads=QUADS, max_bytes=1000)
    assert b"\n" not in line
    message = msgspec.json.decode(line, type=PageMessage)
    assert (message.text, message.quads, message.truncated) == ("a\nb", QUADS.decode(), False)


def test_encode_page_cuts_text_and_whole_quads_to_the_limit() -> None:
    line = encode_page("u", kind="html", counts={}, text="x" * 500, quads=QUADS, max_bytes=100)
    message = msgspec.json.decode(line, type=PageMessage)
    assert message.truncated
    assert message.quads == QUADS.splitlines(keepends=True)[0].decode()
    assert len(message.text or "") == 50
    wide = encode_page("u", kind="html", counts={}, text="é" * 500, quads=b"", max_bytes=101)
    assert msgspec.json.decode(wide, type=PageMessage).text == "é" * 50


@pytest.mark.parametrize(
    "answer", [b"", b"Loading the model", b"nan", b"1.5", b"-0.1", b'"0.5"', b'{"value": 1}', b"[]", b"\xff"]
)
def test_decode_answer_without_a_score_raises_scorer_error(answer: bytes) -> None:
    with pytest.raises(ScorerError, match="no number from 0 to 1"):
        decode_answer(answer)


def test_decode_answer_with_an_error_raises_its_message() -> None:
    with pytest.raises(ScorerError, match="no model"):
        decode_answer(b'{"error": "no model"}')


def test_check_score_accepts_booleans_and_numbers_of_numpy() -> None:
    numpy = pytest.importorskip("numpy")
    assert [check_score(value) for value in (True, numpy.float32(0.5), 0)] == [1.0, 0.5, 0.0]
    with pytest.raises(ScorerError):
        check_score(None)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"second": 3}, "unknown key 'second'"),
        ({"seconds": 0}, "seconds must be a number above 0"),
        ({"workers": 1.5}, "workers must be"),
        ({"max_bytes": True}, "max_bytes must be"),
    ],
)
def test_limits_with_a_wrong_table_raise_value_error(table: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ScorerLimits.from_table(table)
    assert ScorerLimits.from_table({"seconds": 0.5, "workers": 2}).workers == 2


MODULE = """
def quality(page):
    return len(page.quads) / 4 if "long" in page.text else 0.0

def wrong(page):
    return page.size

constant = 3
"""


def test_function_gets_quads_and_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "own_scorers.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    function = load_function(ScorerSpec(ScorerKind.FUNCTION, "own_scorers:quality"))
    assert call_function(function, PageMessage(url="u", text="long", quads=QUADS.decode())) == 0.5
    with pytest.raises(ScorerError, match="traces have no text"):
        call_function(function, PageMessage(url="u", quads=QUADS.decode()))
    wrong = load_function(ScorerSpec(ScorerKind.FUNCTION, "own_scorers:wrong"))
    with pytest.raises(ScorerError, match="AttributeError"):
        call_function(wrong, PageMessage(url="u", text=""))
    with pytest.raises(ValueError, match="is no function of a page: 3"):
        load_function(ScorerSpec(ScorerKind.FUNCTION, "own_scorers:constant"))
    with pytest.raises(ValueError, match="cannot be imported: AttributeError"):
        load_function(ScorerSpec(ScorerKind.FUNCTION, "own_scorers:absent"))


class _Point:
    def load(self) -> object:
        return lambda page: 0.25


def test_installed_scorer_is_found_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scorers, "installed_scorers", lambda: {"mine": _Point()})
    scorer = parse_scorer("scorer:mine")
    assert scorer is not None
    assert scorer.is_function
    assert call_function(load_function(scorer), PageMessage(url="u")) == 0.25
