"""The command `keys`."""

from __future__ import annotations

import json
import stat
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from motherlode.cli import application

APP = application(["keys", "stats"])


def run(*arguments: object, expect: int = 0) -> tuple[str, str]:
    """Run the command. Return stdout and stderr."""
    result = CliRunner().invoke(APP, ["keys", *map(str, arguments)])
    assert result.exit_code == expect, result.output
    return result.stdout, result.stderr


def test_keys_makes_a_private_key_and_prints_its_directory(tmp_path: Path) -> None:
    path = tmp_path / "crawler.pem"
    printed, said = run(path)
    (key,) = json.loads(printed)["keys"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert key["kid"] in said
    assert "d" not in key
    assert b"PRIVATE KEY" in path.read_bytes()
    assert "PRIVATE" not in printed + said
    assert "/.well-known/http-message-signatures-directory" in said


def test_keys_of_existing_file_keeps_its_key(tmp_path: Path) -> None:
    path = tmp_path / "crawler.pem"
    first, _ = run(path)
    before = path.read_bytes()
    assert run(path)[0] == first
    assert path.read_bytes() == before


def test_keys_of_two_files_writes_both_into_one_directory(tmp_path: Path) -> None:
    output = tmp_path / "directory"
    _, said = run(tmp_path / "old.pem", tmp_path / "new.pem", "-o", output, "--agent", "https://crawler.example.org")
    assert len(json.loads(output.read_bytes())["keys"]) == 2
    assert "Content-Digest: sha-256=:" in said
    assert "https://crawler.example.org/.well-known/" in said


def test_keys_of_a_file_without_a_key_fails(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("no key")
    assert "not a private key in PEM" in run(path, expect=2)[1]
    assert path.read_text() == "no key"


def test_keys_with_a_wrong_agent_fails_before_a_key_is_made(tmp_path: Path) -> None:
    assert "should be an https URL" in run(tmp_path / "a.pem", "--agent", "crawler.example", expect=2)[1]
    assert not list(tmp_path.iterdir())


def test_keys_without_cryptography_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives", None)
    assert "pip install 'motherlode[signing]'" in run(tmp_path / "a.pem", expect=2)[1]
    assert not list(tmp_path.iterdir())
