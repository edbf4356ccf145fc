"""How things look on a terminal: no text of the web is markup, results go to stdout, words for people to stderr."""

from __future__ import annotations

import json
from io import StringIO

import pytest
import typer

from motherlode.cli import terminal as output
from motherlode.cli.terminal import (
    FAILED,
    Printer,
    harmless,
    left_to_find,
    print_in_parts,
    print_json,
    print_summary,
    print_table,
    say,
    stop,
    typed_flags,
)
from motherlode.crawler import CrawlStats
from motherlode.crawler.stats.counters import Counters, Estimate
from motherlode.frontier import HostRecord


@pytest.fixture(autouse=True)
def _wide(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines are folded at the width of the terminal, which is the user's."""
    monkeypatch.setenv("COLUMNS", "160")


def stats(totals: Counters | None = None, **more: object) -> CrawlStats:
    told: dict[str, object] = {
        "hosts": (HostRecord(name="a.example"),),
        "known_urls": 1_234,
        "refused": {},
        "disk": 2_000,
    }
    return CrawlStats(totals=totals or Counters(), **{**told, **more})  # type: ignore[arg-type]


def summary(capsys: pytest.CaptureFixture[str], shown: CrawlStats) -> dict[str, str]:
    """The lines of the summary, folded ones joined."""
    print_summary(shown)
    lines: dict[str, str] = {}
    name = ""
    for line in capsys.readouterr().out.splitlines():
        cells = [cell.strip() for cell in line.split("│")]
        if len(cells) == 4:
            name = cells[1] or name
            lines[name] = f"{lines.get(name, '')} {cells[2]}".strip()
    return lines


def test_an_error_goes_to_stderr_with_its_code_and_is_no_markup(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(typer.Exit) as caught:
        stop("the folder [red]out[/] is [/nonsense", code=FAILED)
    assert caught.value.exit_code == FAILED
    found = capsys.readouterr()
    assert found.out == ""
    assert "error: the folder [red]out[/] is [/nonsense" in found.err
    with pytest.raises(typer.Exit) as caught:
        stop("wrong usage")
    assert caught.value.exit_code == 2


def test_json_is_one_line_that_programs_can_read(capsys: pytest.CaptureFixture[str]) -> None:
    value = {"name": "Zürich\n", "none": None, "list": [1, 2.5]}
    print_json(value)
    out = capsys.readouterr().out
    assert out.count("\n") == 1
    assert "Zürich" in out
    assert json.loads(out) == value


def test_cells_of_a_table_are_text_and_long_ones_are_folded(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(("[bold]a[/]", "b"), [("[link=http://evil.example]x[/link]", "y" * 300)])
    out = capsys.readouterr().out
    assert "[bold]a[/]" in out
    assert "[link=http://evil.example]x[/link]" in "".join(out.split())
    assert out.count("y") == 300, "nothing is cut off"
    print_table(("a",), [])
    assert "a" in capsys.readouterr().out


def test_no_text_of_the_web_commands_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    commands = "\x1b]0;title\x07\x1b[31mred\x9b5m\r"
    print_table((commands,), [(commands,)], title=commands)
    with pytest.raises(typer.Exit):
        stop(commands)
    found = capsys.readouterr()
    shown = found.out + found.err
    assert shown.count("␛]0;title␇␛[31mred�5m␍") == 4
    assert not {"\x1b", "\x07", "\x9b", "\r"} & set(shown)
    assert harmless("two\nlines\tand é") == "two\nlines\tand é"


def test_problems_are_counted_and_the_most_frequent_named(capsys: pytest.CaptureFixture[str]) -> None:
    totals = Counters(problems={"jsonld: context not loaded": 7, **{f"page: kind {letter}": 1 for letter in "abcdef"}})
    shown = summary(capsys, stats(totals))["problems"]
    assert shown.startswith("13 7 × jsonld: context not loaded 1 × page: kind a ")
    assert shown.endswith(" and 2 other kinds: --json")
    assert summary(capsys, stats())["problems"] == "none"


def test_the_summary_of_a_crawl_that_has_done_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    lines = summary(capsys, stats())
    assert lines["fetched"] == "0 pages in 0.0 s (0 a second)"
    assert (lines["failures"], lines["refused"], lines["known URLs"], lines["on disk"]) == (
        "none",
        "none",
        "1,234",
        "2.0 kB",
    )
    assert not {"heads", "refreshed", "sinks", "left to find"} & set(lines), "what did not happen is not told"


def test_the_summary_of_a_crawl_in_which_everything_has_happened(capsys: pytest.CaptureFixture[str]) -> None:
    totals = Counters(
        fetched=2_000,
        relevant=500,
        seconds=10.0,
        heads=3,
        refreshed=1_000,
        unchanged=7,
        changed=2,
        gone=1,
        failures={"dns": 1, "timeout": 1_000},
        syntaxes={"rdfa": [1, 9], "jsonld": [20, 90]},
    )
    sink = {"kind": "update", "to": "http://127.0.0.1/", "waiting": 3, "refused": 0, "trouble": "401 who are you?"}
    lines = summary(capsys, stats(totals, sinks=(sink,), left=Estimate(urls=7), refused={"robots.txt": 2}))
    assert lines["fetched"] == "2,000 pages in 10.0 s (200 a second)"
    assert lines["relevant"] == "500 (harvest rate 0.500)"
    assert lines["refreshed"] == "1,000 looks at known pages in all: 7 unchanged, 2 changed, 1 gone, 990 failed"
    assert lines["failures"] == "timeout 1,000, dns 1", "the most frequent first"
    assert lines["syntaxes"] == "jsonld on 20 pages, rdfa on 1 page"
    assert lines["sinks"] == "update http://127.0.0.1/: 3 waiting (401 who are you?), 0 refused"
    assert lines["left to find"].startswith("about 0 (0 to 2) among 7 waiting URLs")
    assert lines["heads"] == "3"


@pytest.mark.parametrize(
    ("left", "dried_out", "said"),
    [
        (None, False, ""),
        (Estimate(finds=1_000.4, urls=5_000, growth=2.0), False, "no end of new links in sight"),
        (
            Estimate(finds=4.2, urls=50, growth=2.0, requests=7),
            False,
            "how many more behind them, 7 requests cannot tell",
        ),
        (
            Estimate(finds=4.2, urls=50, growth=0.5, requests=7),
            False,
            "how many more behind them, 7 requests cannot tell",
        ),
        (Estimate(finds=10.0, urls=5_000, growth=0.5), False, "about 20 with pages that no link has led to yet"),
        (Estimate(finds=10.0, urls=5_000), True, "; the crawl dried out"),
        (Estimate(), False, "nothing: no URL waits"),
        (
            Estimate(finds=0.5, urls=5_000, requests=300, found=0),
            False,
            "nothing can be told yet: of 300 requests none was a find; 0 to 454 may be among 5,000 waiting URLs",
        ),
    ],
)
def test_what_is_left_in_words(left: Estimate | None, said: str, *, dried_out: bool) -> None:
    words = left_to_find(stats(left=left, dried_out=dried_out))
    assert words.endswith(said)
    assert ("dried out" in words) is dried_out


def test_a_message_is_one_line_however_narrow_the_terminal_and_its_brackets_are_kept(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    line = "`motherlode resume /a/folder/that/lies[b]deep/in/the/tree` goes on, `motherlode stats` tells about it"
    say(line)
    assert capsys.readouterr().err == f"{line}\n"
    with pytest.raises(typer.Exit):
        stop(line)
    assert capsys.readouterr().err == f"error: {line}\n"


def test_columns_without_names_have_no_line_for_them(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(("", ""), [("a", "b")])
    assert len(capsys.readouterr().out.splitlines()) == 3


def test_problems_that_differ_in_a_number_are_one_kind(capsys: pytest.CaptureFixture[str]) -> None:
    totals = Counters(problems={"page: 66 statements were left out": 6, "page: 1,064 statements were left out": 3})
    assert summary(capsys, stats(totals))["problems"] == "9 9 × page: N statements were left out"


def test_one_page_is_no_pages(capsys: pytest.CaptureFixture[str]) -> None:
    lines = summary(capsys, stats(Counters(fetched=1)))
    assert lines["fetched"].startswith("1 page in ")
    assert lines["syntaxes"] == "none"


HEADS = ("policy", "relevant", "harvest", "focus", "fetched", "pick µs")
ROWS = [("bandit:success-rate:0.25:1000", "24", "0.490 ±0.050", "0.407 ±0.058", "50", "161.5"), ("bfs", *"12345")]


def in_parts(width: int, monkeypatch: pytest.MonkeyPatch) -> str:
    screen = StringIO()
    monkeypatch.setattr(output, "unfolded", lambda: Printer(file=screen, width=width))
    print_in_parts(HEADS, ROWS)
    return screen.getvalue()


@pytest.mark.parametrize("width", [200, 100, 80, 60, 50])
def test_a_table_of_figures_loses_nothing_however_narrow_the_terminal(
    width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = in_parts(width, monkeypatch)
    assert all(text in shown for text in (*HEADS, *ROWS[0]))
    assert max(map(len, shown.splitlines())) <= width
    assert shown.count("policy") == {200: 1, 100: 1, 80: 2, 60: 3, 50: 5}[width], "as few tables as possible"
    assert shown.index("relevant") < shown.index("fetched")


def test_even_a_name_that_is_wider_than_the_terminal_is_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    cells = [line.split("│")[1].strip() for line in in_parts(30, monkeypatch).splitlines() if "│" in line]
    assert ROWS[0][0] in "".join(cells)


def test_an_error_about_a_key_names_the_flag_where_it_was_typed(capsys: pytest.CaptureFixture[str]) -> None:
    before = typed_flags.set({"stop_after": "--stop-after"})
    for message in ("stop_after must be more", "stop_below must be less"):
        with pytest.raises(typer.Exit):
            stop(message)
    typed_flags.reset(before)
    assert capsys.readouterr().err.splitlines() == [
        "error: --stop-after must be more",
        "error: stop_below must be less",
    ]


def test_the_summary_tells_whose_rules_cannot_be_read(capsys: pytest.CaptureFixture[str]) -> None:
    hosts = (
        HostRecord(name="a.example"),
        HostRecord(name="b.example", unread_since=1.0, unread_for="unavailable"),
        HostRecord(name="c.example", unread_since=1.0, unread_for="server-error"),
        HostRecord(name="d.example", unread_since=1.0, unread_for="unavailable"),
    )
    shown = stats(hosts=hosts)
    assert summary(capsys, shown)["robots.txt unread"] == (
        "of 3 hosts, nothing of which is fetched meanwhile: unavailable 2, server-error 1"
    )
    assert shown.summary()["unread_rules"] == {"server-error": 1, "unavailable": 2}
    assert "robots.txt unread" not in summary(capsys, stats())


def test_pages_under_way_at_the_end_of_the_time_are_told_by_stage() -> None:
    totals = Counters(unfinished={"http://a.example/1": "being read", "http://a.example/2": "being fetched"})
    assert output._unfinished(totals) == (
        "1 being read and 1 being fetched when the time was up; `motherlode resume` begins with them"
    )
    assert totals.summary()["unfinished"] == {"being fetched": 1, "being read": 1}


def test_the_summary_tells_how_long_there_was_no_network(capsys: pytest.CaptureFixture[str]) -> None:
    assert "network" not in summary(capsys, stats())
    once = Counters(outages=1, outage_seconds=3725.0)
    assert summary(capsys, stats(once))["network"] == "gone once, for 1 h 2 min in all"
    now = Counters(outages=2, outage_seconds=90.0, no_network_since=60.0)
    assert summary(capsys, stats(now))["network"] == (
        "gone 2 times, for 1 min 30 s in all; none since 1970-01-01 00:01:00 UTC"
    )
    told = stats(now).summary()
    assert (told["outages"], told["outage_seconds"], told["no_network_since"]) == (2, 90.0, 60.0)
