"""Passwords in job files."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path

import pytest

from motherlode.crawler.config.values import JobError, check_secrets


@pytest.mark.parametrize(
    ("text", "mode", "refused"),
    [
        ('proxy = "http://ann:s=cret@127.0.0.1:3128"', 0o644, True),
        ('proxy = "http://ann:s=cret@127.0.0.1:3128"', 0o640, True),
        ('proxy = "http://ann:s=cret@127.0.0.1:3128"', 0o600, False),
        ('proxy = "http://127.0.0.1:3128"', 0o644, False),
        ('tokens = { "a.example" = "abc" }', 0o644, True),
        ('[tokens]\n"a.example" = "abc"', 0o644, True),
        ('tokens = { "a.example" = "abc" }', 0o600, False),
        ('headers = { "a.example" = { X-Api-Key = "abc" } }', 0o644, True),
        ('headers = { "a.example" = { Accept-Language = "de" } }', 0o644, False),
        ('tokens_env = { "a.example" = "NAME" }', 0o644, False),
        ('signing_key = "crawler.pem"', 0o644, False),
        ('contact = "mailto:ann@example.org"', 0o644, False),
    ],
)
def test_readable_job_file_with_a_password_is_refused(tmp_path: Path, text: str, mode: int, *, refused: bool) -> None:
    path = tmp_path / "job.toml"
    path.write_text(text)
    path.chmod(mode)
    with pytest.raises(JobError, match="chmod 600") if refused else nullcontext():
        check_secrets(path)
