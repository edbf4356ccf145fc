"""Tables, messages and errors on a terminal. Text of the web is never markup or a terminal command."""

from __future__ import annotations

import json
from io import StringIO

import pytest
import typer

from motherlode.cli import terminal as output
from motherlode.cli.terminal import (
    FAILED,
    Printer,
    _split_columns,
    print_json,
    print_table,
    print_wide_table,
    replace_controls,
    say,
    stop,
    typed_flags,
)


@pytest.fixture(autouse=True)
def _wide(monkeypatch: pytest.MonkeyPatch) -> None:
    """Use a wide terminal, because lines are folded at its width."""
    monkeypatch.setenv("COLUMNS", "160")


def test_error_goes_to_stderr_with_its_code_and_without_markup(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(typer.Exit) as caught:
        stop("the folder [red]out[/] is [/nonsense", code=FAILED)
    assert caught.value.exit_code == FAILED
    found = capsys.readouterr()
    assert found.out == ""
    assert "error: the folder [red]out[/] is [/nonsense" in found.err
    with pytest.raises(typer.Exit) as caught:
        stop("wrong usage")
    assert caught.value.exit_code == 2


def test_json_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    value = {"name": "Zürich\n", "none": None, "list": [1, 2.5]}
    print_json(value)
    out = capsys.readouterr().out
    assert out.count("\n") == 1
    assert "Zürich" in out
    assert json.loads(out) == value


def test_table_cells_are_text_and_long_cells_are_folded(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(("[bold]a[/]", "b"), [("[link=http://evil.example]x[/link]", "y" * 300)])
    out = capsys.readouterr().out
    assert "[bold]a[/]" in out
    assert "[link=http://evil.example]x[/link]" in "".join(out.split())
    assert out.count("y") == 300, "no text is cut"
    print_table(("a",), [])
    assert "a" in capsys.readouterr().out


def test_control_characters_are_replaced(capsys: pytest.CaptureFixture[str]) -> None:
    commands = "\x1b]0;title\x07\x1b[31mred\x9b5m\r"
    print_table((commands,), [(commands,)], title=commands)
    with pytest.raises(typer.Exit):
        stop(commands)
    found = capsys.readouterr()
    shown = found.out + found.err
    assert shown.count("␛]0;title␇␛[31mred�5m␍") == 4
    assert not {"\x1b", "\x07", "\x9b", "\r"} & set(shown)
    assert replace_controls("two\nlines\tand é") == "two\nlines\tand é"


def test_message_is_one_line_on_a_narrow_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    line = "`motherlode resume /a/folder/that/lies[b]deep/in/the/tree` goes on, `motherlode stats` tells about it"
    say(line)
    assert capsys.readouterr().err == f"{line}\n"
    with pytest.raises(typer.Exit):
        stop(line)
    assert capsys.readouterr().err == f"error: {line}\n"


def test_table_without_column_names_has_no_header(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(("", ""), [("a", "b")])
    assert len(capsys.readouterr().out.splitlines()) == 3


HEADS = ("policy", "relevant", "harvest", "focus", "fetched", "pick µs")
ROWS = [("bandit:success-rate:0.25:1000", "24", "0.490 ±0.050", "0.407 ±0.058", "50", "161.5"), ("bfs", *"12345")]


def in_parts(width: int, monkeypatch: pytest.MonkeyPatch) -> str:
    screen = StringIO()
    monkeypatch.setattr(output, "folding_printer", lambda: Printer(file=screen, width=width))
    print_wide_table(HEADS, ROWS)
    return screen.getvalue()


@pytest.mark.parametrize("width", [200, 100, 80, 60, 50])
def test_wide_table_shows_all_columns_on_a_narrow_terminal(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = in_parts(width, monkeypatch)
    assert all(text in shown for text in (*HEADS, *ROWS[0]))
    assert max(map(len, shown.splitlines())) <= width
    assert shown.count("policy") == {200: 1, 100: 1, 80: 2, 60: 3, 50: 5}[width], "as few tables as possible"
    assert shown.index("relevant") < shown.index("fetched")


def test_wide_table_folds_names_wider_than_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    cells = [line.split("│")[1].strip() for line in in_parts(30, monkeypatch).splitlines() if "│" in line]
    assert ROWS[0][0] in "".join(cells)


def test_error_about_a_key_names_the_typed_flag(capsys: pytest.CaptureFixture[str]) -> None:
    before = typed_flags.set({"stop_after": "--stop-after"})
    for message in ("stop_after must be more", "stop_below must be less"):
        with pytest.raises(typer.Exit):
            stop(message)
    typed_flags.reset(before)
    assert capsys.readouterr().err.splitlines() == [
        "error: --stop-after must be more",
        "error: stop_below must be less",
    ]


def test_replace_controls_on_examples_gives_expected_values() -> None:
    assert replace_controls("\x1b[31mred\n") == "␛[31mred\n"


def test_split_columns_on_examples_gives_expected_values() -> None:
    assert (_split_columns([10, 5, 5, 5], 30), _split_columns([10, 5, 5, 5], 10)) == (
        [[0, 1, 2], [0, 3]],
        [[0, 1], [0, 2], [0, 3]],
    )
