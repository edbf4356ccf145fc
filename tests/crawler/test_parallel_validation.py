"""Validation in several processes gives what one process gives."""

from motherlode.crawler.folder import CrawlFolder
from motherlode.crawler.parallel_validation import validate_in_processes
from tests.crawler.test_validation import crawl as crawl
from tests.crawler.test_validation import validate_crawl


def test_two_processes_find_the_same_in_the_same_order(crawl: CrawlFolder) -> None:
    shapes = ("google", "schema.org")
    one = validate_crawl(crawl, *shapes, has_reports=True)
    assert list(validate_in_processes(crawl, shapes, has_reports=True, processes=2)) == one
    assert any(page.findings for page in one)


def test_small_crawl_is_validated_in_this_process(crawl: CrawlFolder) -> None:
    pages = validate_in_processes(crawl, ("google",))
    assert sum(page.nodes for page in pages) == sum(page.nodes for page in validate_crawl(crawl, "google"))


def test_iteration_that_ends_early_leaves_no_processes(crawl: CrawlFolder) -> None:
    pages = validate_in_processes(crawl, ("google",), processes=2)
    assert next(pages).page.startswith("http://127.0.0.1")
    pages.close()  # type: ignore[attr-defined]
