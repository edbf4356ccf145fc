"""Validation of a crawl at the end of a run, by the profiles that its job names in `validate`."""

from __future__ import annotations

from collections.abc import Sequence

from motherlode.crawler.folder import CrawlFolder


def check_profiles(profiles: Sequence[str]) -> None:
    """Raise ValueError if a profile or a file of shapes cannot be used."""
    if profiles:
        from motherlode.quality.shape_profiles import load_validator  # slow to import

        load_validator(*profiles)


def validate_and_save(folder: CrawlFolder, profiles: Sequence[str]) -> None:
    """Validate all pages of a crawl, and save the counts in its folder, where statistics and report read them."""
    from motherlode.crawler.parallel_validation import validate_in_processes  # slow to import
    from motherlode.crawler.validation_summary import ValidationSummary, save_counts

    summary = ValidationSummary(folder.read_job().source_list())
    for page in validate_in_processes(folder, profiles):
        summary.add(page)
    save_counts(summary, folder, profiles)
