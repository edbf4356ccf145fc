from __future__ import annotations

import pytest

from motherlode.sim.synthetic import HABITS, SyntheticWeb, Trap
from motherlode.sim.synthetic.special_urls import without_session


def _start(web: SyntheticWeb, trap: Trap) -> str:
    number = next(number for number, habit in enumerate(HABITS) if habit.trap is trap)
    return web.home(web.hosts()[number])


@pytest.mark.parametrize("trap", Trap)
def test_trap_pages_are_infinite_and_marked(web: SyntheticWeb, trap: Trap) -> None:
    """A crawler that follows only links to trap pages still finds new URLs after 200 steps."""
    host = _start(web, trap).split("/")[2]
    real = list(web.urls(host))
    seen = set(real)
    waiting = list(real)
    trapped = 0
    while waiting and trapped < 200:
        model = web.facts(waiting.pop())
        assert model.status == 200
        trapped += model.trap
        new = [link.url for link in model.links if link.url.startswith(f"http://{host}/") and link.url not in seen]
        seen.update(new)
        waiting += [url for url in new if web.facts(url).trap]
    assert trapped == 200


def test_regular_pages_are_not_marked_as_trap(web: SyntheticWeb) -> None:
    for trap in Trap:
        assert not any(web.facts(url).trap for url in web.urls(_start(web, trap).split("/")[2]))


def test_session_changes_url_but_not_page(web: SyntheticWeb) -> None:
    home = _start(web, Trap.SESSION)
    item = next(url for url in web.urls(home.split("/")[2]) if web.facts(url).role.value == "item")
    marked = [link.url for link in web.facts(item).links if "sid=" in link.url]
    assert len(marked) == 1
    clean, session = without_session(marked[0])
    assert session
    assert web.facts(marked[0]).heading == web.facts(clean).heading
    assert web.facts(marked[0]).url == marked[0]


@pytest.mark.parametrize("path", ["/calendar/2026-13", "/calendar/20261-01", "/calendar/2026-02-30", "/calendar/"])
def test_calendar_with_invalid_month_gives_404(web: SyntheticWeb, path: str) -> None:
    assert web.facts(_start(web, Trap.CALENDAR).rstrip("/") + path).status == 404
