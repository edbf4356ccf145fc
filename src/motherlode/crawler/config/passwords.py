"""Passwords in the URLs of a job: how they are found, removed, and kept from other users of the machine."""

from __future__ import annotations

import re
from pathlib import Path

from motherlode.crawler.config.errors import JobError

_USER_AND_PASSWORD = re.compile(r"://[^/?#@\s\"']*:[^/?#\s\"']*@")


def has_password(text: str) -> bool:
    """Return whether the text has a URL with a password.

    >>> has_password('proxy = "http://ann:s=cret@127.0.0.1:3128"'), has_password("http://a.example:80/@b")
    (True, False)
    """
    return _USER_AND_PASSWORD.search(text) is not None


def remove_password(url: str) -> str:
    """Return the URL without user name and password if it has a password.

    >>> remove_password("http://ann:s=cret@a.example/"), remove_password("http://a.example/")
    ('http://a.example/', 'http://a.example/')
    """
    return _USER_AND_PASSWORD.sub("://", url)


def check_secrets(path: Path) -> None:
    """Raise JobError if a job file has a password and users other than its owner may read it."""
    try:
        mode, text = path.stat().st_mode, path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):  # read_job_file reports it
        return
    if mode & 0o077 and has_password(text):
        raise JobError(
            f"{path} has a password, and other users of this machine may read it: run `chmod 600 {path}`, or remove "
            "the password (for a proxy, proxy_env names an environment variable with its URL)"
        )
