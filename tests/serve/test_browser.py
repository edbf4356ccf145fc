"""Tests in a real browser: scripts of crawled pages do not run, and our own pages work."""

from __future__ import annotations

import urllib.parse
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.serve.browser import Tab, browser
from tests.serve.site import HOME, INJECTIONS, RUN, SCRIPT_IRI, page_url

FOREIGN = """
({
  pwned: document.documentElement.dataset.pwned || "",
  scripts: [...document.scripts].map(script => script.getAttribute("src") || "inline"),
  frames: document.querySelectorAll("iframe, object, embed, img, math, base").length,
  handlers: [...document.querySelectorAll("*")].filter(
    element => [...element.attributes].some(attribute => /^on|^style$|^srcdoc$/i.test(attribute.name))).length,
  targets: [...document.querySelectorAll("[href], [src], [action], [formaction]")].flatMap(
    element => ["href", "src", "action", "formaction"].map(name => element.getAttribute(name)).filter(Boolean)),
})
"""


def query(**parameters: str) -> str:
    return urllib.parse.urlencode(parameters)


PATHS = [
    "/",
    "/pages",
    "/hosts",
    "/host?name=evil.test",
    f"/explain?{query(url=HOME)}",
    f"/explain?{query(url=page_url(2))}",
    f"/explain?{query(url=INJECTIONS[2])}",
    "/table",
    f"/table?{query(type='schema:Recipe')}",
    f"/table?{query(type='schema:Thing', distinct='1', column='url')}",
    f"/table?{query(type=INJECTIONS[2])}",
    f"/search?{query(q='tomato', limit='50')}",
    f"/search?{query(q='nameless')}",
    f"/search?{query(q='zurich')}",
    f"/query?{query(q='SELECT * { GRAPH ?g { ?s ?p ?o } }')}",
    f"/query?{query(q='CONSTRUCT WHERE { ?s ?p ?o }')}",
    f"/query?{query(q='DESCRIBE <' + SCRIPT_IRI + '>')}",
    f"/entity?{query(iri=SCRIPT_IRI)}",
    f"/entity?{query(iri=HOME + 'same')}",
    *(f"/entity?{query(iri=f'{HOME}thing/{number}')}" for number in range(len(INJECTIONS))),
    f"/page?{query(url=HOME)}",
    f"/page?{query(url=page_url(1))}",
    *(f"/search?{query(q=text, type=text, host=text)}" for text in INJECTIONS),
    *(f"/query?{query(q=text)}" for text in INJECTIONS[:5]),
    *(f"/entity?{query(iri=text)}" for text in INJECTIONS[:3]),
    f"/entity?{query(node='_:x' + INJECTIONS[2], page=HOME)}",
    f"/page?{query(url=INJECTIONS[2])}",
    "/nowhere/" + urllib.parse.quote(INJECTIONS[2]),
]


@pytest.fixture(scope="module")
def tab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tab]:
    with browser(tmp_path_factory.mktemp("chromium")) as opened:
        yield opened


def test_injections_run_in_unprotected_page(tab: Tab, tmp_path: Path) -> None:
    for number in (0, 1, 2, 3):
        (tmp_path / "bare.html").write_text(f'<title></title><input value=""><p>{INJECTIONS[number]}</p>')
        tab.load((tmp_path / "bare.html").as_uri())
        assert tab.evaluate(FOREIGN)["pwned"] == "yes", INJECTIONS[number]


def test_injections_do_not_run_in_any_page(tab: Tab, site: str) -> None:
    shown = 0
    for path in PATHS:
        tab.load(site + path)
        found = tab.evaluate(FOREIGN)
        assert found["pwned"] == "", path
        assert set(found["scripts"]) <= {"/script.js"}, path
        assert found["frames"] == found["handlers"] == 0, path
        assert all(target.startswith(("/", "#", "http://", "https://")) for target in found["targets"]), (path, found)
        assert not [line for line in tab.problems() if "Content Security Policy" in line], (path, tab.problems())
        shown += RUN in tab.evaluate("document.body.textContent")
    assert shown > 20, "the injections are shown as text"


def test_search_and_query_work_in_browser(tab: Tab, site: str) -> None:
    tab.load(f"{site}/")
    assert "Crawl of evil.test" in tab.evaluate("document.querySelector('h1').textContent")
    assert tab.evaluate("document.querySelector('.figures dd').textContent.length") > 0
    tab.evaluate("document.querySelector('form.big input').value = 'zurich'; 0")
    submit(tab, "form.big")
    assert "Zürich" in tab.evaluate("document.querySelector('.hits').textContent")
    tab.load(f"{site}/entity?iri=http://plain.test/x")
    assert tab.evaluate("document.querySelector('.facts').textContent").count("Zürich") == 1
    assert tab.evaluate("document.querySelectorAll('.sources li').length") == 4
    tab.load(f"{site}/query")
    tab.evaluate("document.querySelector('textarea').value = 'SELECT ?s { ?s schema:name ?o } LIMIT 3'; 0")
    submit(tab, "form.query")
    assert tab.evaluate("document.querySelectorAll('.results tbody tr').length") == 3
    tab.load(f"{site}/query?{query(q='SELECT * {')}")
    assert "never closed" in tab.evaluate("document.querySelector('.problem').textContent")


def submit(tab: Tab, form: str) -> None:
    tab.events.clear()
    tab.evaluate(f"document.querySelector('{form}').requestSubmit(); 0")
    while not any(event.get("method") == "Page.loadEventFired" for event in tab.events):
        tab.call("Runtime.enable")


def test_pages_fit_on_phone_screen(tab: Tab, site: str) -> None:
    tab.call("Emulation.setDeviceMetricsOverride", width=380, height=800, deviceScaleFactor=1, mobile=True)
    try:
        for path in (
            "/",
            "/pages",
            "/hosts",
            f"/explain?{query(url=HOME)}",
            f"/search?{query(q='tomato')}",
            f"/page?{query(url=HOME)}",
            "/query",
        ):
            tab.load(site + path)
            assert tab.evaluate("document.documentElement.scrollWidth") <= 380, path
    finally:
        tab.call("Emulation.clearDeviceMetricsOverride")
