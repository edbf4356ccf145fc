"""The examples of the documentation run as they are written.

A block of the language `console` has commands after `$ ` and lines of their output. Numbers, white space and the
borders of tables may differ, and `...` matches any text. A block with a title is written to a file of that name. A
block of the language `python` runs as a script. All blocks of a page run in order in one empty folder. The site
https://shop.example is served on loopback: its URL is replaced, and `crawl` gets the flags that allow it.
"""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.docs.shop import serve_shop

DOCS = Path(__file__).resolve().parents[2] / "docs"
_BLOCK = re.compile(r'^```(console|python|toml|text)(?: title="([^"]+)")?\n(.*?)^```$', re.MULTILINE | re.DOTALL)
_TIMEOUT_SECONDS = 240


@dataclass(frozen=True)
class Block:
    """A block of code on a page."""

    language: str
    title: str
    text: str
    line: int


def read_blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    return [
        Block(match[1], match[2] or "", match[3], text.count("\n", 0, match.start()) + 1)
        for match in _BLOCK.finditer(text)
    ]


def is_example(block: Block) -> bool:
    return block.language in ("console", "python")


OWN_TESTS = ("links.md",)
"""Pages whose examples need other sites, and run in tests of their own."""
PAGES = [
    page
    for page in sorted(DOCS.rglob("*.md"))
    if any(map(is_example, read_blocks(page))) and page.name not in OWN_TESTS
]


@pytest.fixture(scope="module")
def shop() -> Iterator[str]:
    with serve_shop() as address:
        yield address


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(DOCS)))
def test_examples_of_page_run_as_written(page: Path, shop: str, tmp_path: Path) -> None:
    for block in read_blocks(page):
        text = block.text.replace("https://shop.example", shop)
        if block.title:
            (tmp_path / block.title).write_text(text, encoding="utf-8")
        elif block.language == "console":
            run_console(text, tmp_path, f"{page.name}:{block.line}")
        elif block.language == "python":
            run([sys.executable, "-c", allow_loopback(text)], tmp_path, f"{page.name}:{block.line}")


def allow_loopback(text: str) -> str:
    """Return a script whose crawls may fetch from this machine, without delays."""
    return re.sub(r'(ml\.crawl\(.*?)output="', r'\1allow=["127.0.0.0/8"], delay=0.0, output="', text)


def run_console(text: str, folder: Path, where: str) -> None:
    """Run the commands of a block and compare their output with the lines below each."""
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, expected = part.partition("\n")
        if command.startswith("motherlode crawl"):
            command += " --allow 127.0.0.0/8 --delay 0" if "9/ -o private" not in command else ""
        output = run(["bash", "-c", command], folder, where)
        compare(expected, output, f"{where}: {command}")


def run(command: list[str], folder: Path, where: str) -> str:
    """Run a command and return what it prints. The terminal is wide, so that no line is wrapped differently."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    variables = os.environ | {"PATH": path, "COLUMNS": "80", "XDG_CACHE_HOME": str(folder / ".cache")}
    done = subprocess.run(
        command, cwd=folder, env=variables, capture_output=True, text=True, timeout=_TIMEOUT_SECONDS, check=False
    )
    expected = 3 if "-o private" in command[-1] else 0
    assert done.returncode == expected, f"{where}: exit code {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout + done.stderr


def compare(expected: str, output: str, where: str) -> None:
    """Check that every expected line occurs in the output, in this order."""
    rest = normalize(output)
    for line in normalize(expected).splitlines():
        pattern = "(.|\n)*?".join(map(re.escape, line.split("...")))
        match = re.search(pattern, rest)
        assert match, f"{where}: {line!r} is not in the output:\n{output}"
        rest = rest[match.end() :]


def normalize(text: str) -> str:
    """Return text with one digit for every number, and without the lines and borders of tables."""
    text = re.sub(r"[─━┌┐└┘├┤┬┴┼┏┓┗┛┣┫┳┻╋┡┩╇]+", "", text)
    text = re.sub(r"\d+(?:[.,]\d+)*", "0", text.replace("┃", "│"))
    return "\n".join(" ".join(line.split()) for line in text.splitlines() if line.strip())


def test_normalize_ignores_digits_and_borders() -> None:
    assert normalize("┃ a  ┃ 1,234.5 ┃\n┡━━━╇━━━┩") == "│ a │ 0 │"


def test_compare_raises_if_a_line_is_missing() -> None:
    compare("a\n...\nc 1", "a\nb\nc 2", "here")
    with pytest.raises(AssertionError, match="'d' is not in the output"):
        compare("a\nd", "a\nb", "here")
