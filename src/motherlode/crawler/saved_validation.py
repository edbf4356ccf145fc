"""The numbers of the last validation of a crawl, saved per host in the crawl folder for statistics and reports.

`motherlode validate DIR` saves them, and so does a crawl whose job names profiles in `validate`.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from motherlode.crawler.folder import VALIDATION_FILE, CrawlFolder, write_atomically
from motherlode.www.urls import host_of

if TYPE_CHECKING:
    from motherlode.crawler.validation import PageFindings

_FIELDS = {"violation": "violations", "warning": "warnings", "info": "infos"}


class HostValidation(msgspec.Struct, kw_only=True):
    """Numbers of one host."""

    pages: int = 0
    """Pages that the shapes are about."""
    conforming: int = 0
    """Pages without violations."""
    violations: int = 0
    warnings: int = 0
    infos: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidationFigures:
    """Numbers of the last validation, summed over some hosts."""

    profile: str
    validated_at: float
    """In seconds since the epoch."""
    pages: int
    conforming: int
    violations: int
    warnings: int
    infos: int


class SavedValidation(msgspec.Struct, kw_only=True):
    """Numbers of the last validation of a crawl by host. Hosts have their ports, as in `HostRecord`."""

    profile: str
    validated_at: float = 0.0
    hosts: dict[str, HostValidation] = {}

    def watch(self, pages: Iterable[PageFindings]) -> Iterator[PageFindings]:
        """Yield all pages and count their findings."""
        for page in pages:
            if page.nodes:
                self._count(page)
            yield page

    def _count(self, page: PageFindings) -> None:
        host = self.hosts.setdefault(host_of(page.page), HostValidation())
        host.pages += 1
        host.conforming += all(finding.severity != "violation" for finding in page.findings)
        for finding in page.findings:
            if (name := _FIELDS.get(finding.severity)) is not None:
                setattr(host, name, getattr(host, name) + 1)

    def sum_hosts(self, names: Collection[str]) -> ValidationFigures:
        """Return the sums over the named hosts."""
        own = [host for name, host in self.hosts.items() if name in names]
        sums = {field: sum(getattr(host, field) for host in own) for field in HostValidation.__struct_fields__}
        return ValidationFigures(profile=self.profile, validated_at=self.validated_at, **sums)

    def save(self, folder: CrawlFolder) -> None:
        """Write the numbers to the crawl folder, with the current time."""
        self.validated_at = time.time()
        write_atomically(folder.path / VALIDATION_FILE, msgspec.json.encode(self))


def read_validation(folder: CrawlFolder) -> SavedValidation | None:
    """Return the numbers of the last validation of a crawl; None if there was none."""
    try:
        return msgspec.json.decode((folder.path / VALIDATION_FILE).read_bytes(), type=SavedValidation)
    except (OSError, msgspec.MsgspecError):
        return None


def check_profiles(profiles: Sequence[str]) -> None:
    """Raise ValueError if a profile or a file of shapes cannot be used."""
    if profiles:
        from motherlode.quality.shape_profiles import load_validator  # slow to import

        load_validator(*profiles)


def validate_and_save(folder: CrawlFolder, profiles: Sequence[str]) -> None:
    """Validate all pages of a crawl with some profiles or files of shapes, and save the numbers."""
    from motherlode.crawler.validation import validate_crawl  # slow to import
    from motherlode.quality.shape_profiles import load_validator

    saved = SavedValidation(profile=", ".join(profiles))
    for _ in saved.watch(validate_crawl(folder, load_validator(*profiles))):
        pass
    saved.save(folder)
