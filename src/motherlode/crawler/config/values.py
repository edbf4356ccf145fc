"""Values of a job in the form that users write: sizes, times, and URLs with passwords. Importing this is fast."""

import re
from datetime import UTC, datetime
from pathlib import Path

_TIME = re.compile(r"(\d+(?:\.\d+)?)\s*(s|m|h|d|)", re.IGNORECASE)
_SECONDS_PER_UNIT = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kmgt]?)i?b?", re.IGNORECASE)
_BYTES_PER_UNIT = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_TOKEN = re.compile(
    r"""^\s*(?:\[\s*tokens\s*\]|tokens\s*(?:\.|=\s*\{\s*[^}\s]))"""
    r"""|(?:authorization|cookie|(?<!signing_)key|token|secret)["']?\s*=\s*["'][^"']""",
    re.IGNORECASE | re.MULTILINE,
)
"""A table of tokens, or a header with a secret value."""
_USER_AND_PASSWORD = re.compile(r"://[^/?#@\s\"']*:[^/?#\s\"']*@")


class JobError(ValueError):
    """The user's configuration is wrong. The message says what to do."""


def format_size(count: float) -> str:
    """Return a number of bytes with a decimal unit."""
    if count < 1000:
        return f"{count:.0f} B"
    for unit in ("kB", "MB", "GB", "TB", "PB"):
        count /= 1000
        if count < 999.95:
            return f"{count:.1f} {unit}"
    return f"{count / 1000:,.1f} EB"


def parse_time(text: str) -> float:
    """Return the seconds of a time such as 90s, 30m, 2h or 1d."""
    match = _TIME.fullmatch(text.strip())
    if match is None:
        raise JobError(f"time {text!r} should look like 90s, 30m, 2h or 1d")
    return float(match[1]) * _SECONDS_PER_UNIT[match[2].lower()]


def parse_size(text: str) -> int:
    """Return the bytes of a size such as 500MB or 1GB. Units are decimal."""
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        raise JobError(f"size {text!r} should look like 500MB or 1GB")
    return int(float(match[1]) * _BYTES_PER_UNIT[match[2].lower()])


def format_duration(seconds: float) -> str:
    """Return a time in its two largest units."""
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    for unit, smaller, larger_size, smaller_size in (("d", "h", 86400, 3600), ("h", "min", 3600, 60)):
        if whole >= larger_size:
            return f"{whole // larger_size:,} {unit} {whole % larger_size // smaller_size} {smaller}"
    return f"{whole // 60} min {whole % 60} s"


def format_moment(seconds: float) -> str:
    """Return seconds since the epoch as a date and time."""
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M:%S} UTC"


def format_count(count: int, noun: str) -> str:
    """Return a number with its noun in singular or plural."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def has_password(text: str) -> bool:
    """Return whether the text has a URL with a password, a token, or a header with a secret."""
    return _USER_AND_PASSWORD.search(text) is not None or _TOKEN.search(text) is not None


def remove_password(url: str) -> str:
    """Return the URL without user name and password if it has a password."""
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
            "the password (proxy_env and tokens_env name environment variables with proxies and tokens)"
        )
