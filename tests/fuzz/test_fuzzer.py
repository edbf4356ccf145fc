"""The corpus of the fuzzer holds for every target, and the fuzzer finds and minimises a planted fault."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.fuzz.fuzzer import CORPUS, MAX_INPUT_BYTES, Findings, failure_of, minimise
from tests.fuzz.targets import TARGETS

FILES = sorted(path for path in CORPUS.glob("*/*"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_target_accepts_corpus_and_its_beginnings(path: Path) -> None:
    data = path.read_bytes()
    assert len(data) <= MAX_INPUT_BYTES
    for end in {len(data), len(data) // 2, len(data) // 3, 0}:
        TARGETS[path.parent.name](data[:end])


def test_every_target_has_a_corpus() -> None:
    assert {path.parent.name for path in FILES} == set(TARGETS)


def _fragile(data: bytes) -> None:
    if b"<a" in data and b">" in data:
        raise KeyError("planted")


def test_minimise_keeps_only_what_the_failure_needs() -> None:
    assert minimise(_fragile, b"some text <a href=x> and more") == b"<a>"
    assert failure_of(_fragile, b"fine") == ""


def test_finding_is_stored_once_with_the_command_that_reproduces_it(tmp_path: Path) -> None:
    findings = Findings("html-guard", _fragile, tmp_path)
    for data in (b"x<a y>z", b"<a></a>", b"fine"):
        findings.run(data)
    found, note = sorted(tmp_path.glob("html-guard/*"), key=lambda path: path.suffix)
    assert found.read_bytes() == b"<a>"
    kind, command = note.read_text().splitlines()
    assert kind.startswith("KeyError at test_fuzzer.py:")
    assert command == f"python -m tests.fuzz.fuzzer --replay html-guard {found}"


def test_atheris_finds_a_planted_fault_by_coverage(tmp_path: Path) -> None:
    pytest.importorskip("atheris")
    code = (
        "import sys, atheris\n"
        "from pathlib import Path\n"
        "from tests.fuzz.fuzzer import Findings\n"
        "@atheris.instrument_func\n"
        "def target(data):\n"
        "    if data[:1] == b'{' and data[1:2] == b'!' and data[2:3] == b'}':\n"
        "        raise KeyError('planted')\n"
        f"findings = Findings('jsonld', target, Path({str(tmp_path)!r}))\n"
        "atheris.Setup([sys.argv[0], '-runs=300000', '-seed=1', '-verbosity=0'], findings.run)\n"
        "atheris.Fuzz()\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, cwd=Path(__file__).parents[2])
    [found] = [path for path in tmp_path.glob("jsonld/*") if path.suffix != ".txt"]
    assert found.read_bytes() == b"{!}"
