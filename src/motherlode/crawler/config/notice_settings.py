"""The table `[notices]` of a job: which events of a crawl cause a notice, and where it is sent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

EVENTS = ("end", "outage", "challenged", "harvest-drop", "disk")


@dataclass(frozen=True, slots=True, kw_only=True)
class NoticeSettings:
    """The table `[notices]` of a job."""

    webhook: str = ""
    """URL that gets each notice as a POST."""
    command: Sequence[str] = ()
    """Program and arguments of a command that gets each notice on stdin."""
    events: Sequence[str] = EVENTS
    drop_below: float = 0.5
    """A drop: the share of relevant pages among the last requests is less than this times the share before them."""
    drop_requests: int = 500
    """Number of last requests that are compared with those before."""

    @classmethod
    def from_table(cls, table: Mapping[str, Any]) -> NoticeSettings:
        """Return the settings of a table. ValueError if a key is unknown or a value is wrong."""
        known = [one.name for one in fields(cls)]
        if unknown := next((name for name in table if name not in known), ""):
            raise ValueError(f"unknown key {unknown!r}: the keys are {', '.join(known)}")
        values: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in table.items()
        }
        settings = cls(**values)
        settings._check()
        return settings

    def _check(self) -> None:
        if not isinstance(self.webhook, str) or not (self.webhook or self.command):
            raise ValueError("name a webhook, a command, or both")
        if self.webhook and not self.webhook.startswith(("http://", "https://")):
            raise ValueError(f"webhook must be an http or https URL; got {self.webhook!r}")
        if isinstance(self.command, str) or not all(isinstance(word, str) for word in self.command):
            raise ValueError('command must be a list of words, as in ["mail", "-s", "crawl", "me@example.org"]')
        if isinstance(self.events, str) or (wrong := next((one for one in self.events if one not in EVENTS), "")):
            shown = self.events if isinstance(self.events, str) else wrong
            raise ValueError(f"events must be a list of {', '.join(EVENTS)}; got {shown!r}")
        if not 0 < self.drop_below <= 1 or not self.drop_requests > 0:
            raise ValueError("drop_below must be a share up to 1, and drop_requests a number above 0")
