"""Directives and due times in the state of a page. `test_refresh` tests the estimate of change rates."""

from __future__ import annotations

import pytest

from motherlode.crawler.recrawl.revisits import DAY_SECONDS, PageMemory, header_asks, memory_of
from motherlode.model import CrawlerDirectives, Page, Visit

A = "http://a.example/1"


def visit(**more: object) -> Visit:
    return Visit(number=1, url=A, host="a.example", at=100.0, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("told", "due"),
    [
        ({"ends_at": 100.0 + DAY_SECONDS}, 100.0 + DAY_SECONDS),
        ({"directives": f"nofollow ends={100 + DAY_SECONDS:.0f}"}, 100.0 + DAY_SECONDS),
        ({"directives": f"ends={100 + DAY_SECONDS:.0f}", "ends_at": 100.0 + 2 * DAY_SECONDS}, 100.0 + DAY_SECONDS),
    ],
)
def test_page_is_due_on_its_end_date(told: dict[str, object], due: float) -> None:
    page = memory_of(visit(**told))
    assert page.due_at == due
    assert page.change_expected(due) == 1.0
    assert page.change_expected(due - 1) < 0.5
    again = page.looked_at(due, changed=False).due_by_its_end()
    assert again.due_at > due + DAY_SECONDS, "after its end date the page has the usual due time"
    assert again.change_expected(due + 1) < 0.5


def test_distant_or_past_end_date_does_not_change_the_due_time() -> None:
    plain = memory_of(visit()).due_at
    for ends_at in (99.0, plain + 1):
        assert memory_of(visit(ends_at=ends_at)).due_at == plain


def test_header_directives_are_parsed() -> None:
    page = Page(url=A, status=200, headers={"x-robots-tag": "noindex, unavailable_after: 1970-01-02"}, fetched_at=5.0)
    assert header_asks(page) == CrawlerDirectives(noindex=True, ends_at=DAY_SECONDS)
    assert header_asks(Page(url=A, status=200, headers={"x-robots-tag": "all"}, fetched_at=5.0)) == CrawlerDirectives()
    assert header_asks(Page(url=A, status=200)) is None
    recorded = Page(url=A, status=200, headers=page.headers)
    assert header_asks(recorded) == CrawlerDirectives(noindex=True), "dates are ignored in a recorded web"


def test_record_of_an_earlier_version_is_decoded() -> None:
    assert PageMemory(url=A, directives="nofollow noindex none").header_directives == CrawlerDirectives(
        noindex=True, nofollow=True
    )
