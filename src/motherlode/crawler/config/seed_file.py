"""Files of seed URLs."""

from __future__ import annotations

import re
from pathlib import Path

from motherlode.crawler.config.errors import JobError

_COMMENT = re.compile(r"(?:^|\s)#.*")


def read_seeds(path: Path) -> tuple[str, ...]:
    """Read a file with one URL per line. A # starts a comment at the beginning of a line or after a space."""
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except OSError as error:
        hint = "; give a URL without --seeds" if str(path).startswith(("http:", "https:")) else ""
        raise JobError(f"the seed file {path} cannot be read: {error.strerror}{hint}") from error
    except UnicodeDecodeError as error:
        raise JobError(f"the seed file {path} is not UTF-8 text: {error}") from error
    urls = (_COMMENT.sub("", line).strip() for line in lines)
    return tuple(url for url in urls if url)
