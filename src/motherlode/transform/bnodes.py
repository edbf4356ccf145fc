"""Blank node terms that are unique to their page and the same on every run."""

import xxhash

from motherlode.model import Syntax


class BlankNames:
    """Creates blank node terms for one syntax on one page."""

    def __init__(self, page_url: str, syntax: Syntax) -> None:
        self._page_url = page_url
        self._syntax = syntax
        self._prefix = ""  # computed for the first blank node: most pages have none in most syntaxes
        self._count = 0
        self._named: dict[str, str] = {}

    def fresh(self) -> str:
        """Return a new blank node."""
        if not self._prefix:
            self._prefix = f"_:{self._syntax.value}{xxhash.xxh3_64_hexdigest(self._page_url.encode())}n"
        self._count += 1
        return f"{self._prefix}{self._count}"

    def for_label(self, label: str) -> str:
        """Return the blank node for a label of the document, always the same one."""
        if label not in self._named:
            self._named[label] = self.fresh()
        return self._named[label]
