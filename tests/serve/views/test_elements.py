"""The one way in which pages are written."""

from __future__ import annotations

from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from motherlode.serve.views.elements import element, entity, field, inside, outside, page


class _Names(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs


HOSTILE = st.text(alphabet="<>\"'&/= \x00\u202eabonclickjavascript:", max_size=60)


@given(HOSTILE)
def test_text_stays_text(text: str) -> None:
    parser = _Names()
    parser.feed(
        element("p", text, entity(text, text), inside("/x", {"q": text}, text), field("n", text, text), title=text)
    )
    assert parser.tags == ["p", "a", "a", "label", "span", "input"]
    assert {name for name, _ in parser.attributes} <= {"title", "href", "name", "value"}


@given(HOSTILE)
def test_links_lead_to_the_web_or_nowhere(text: str) -> None:
    parser = _Names()
    parser.feed(outside(text, "x") + outside(f" {text}", "x"))
    for name, value in parser.attributes:
        if name == "href":
            assert value is not None
            assert value.lower().startswith(("http://", "https://"))


def test_a_page_loads_nothing_from_elsewhere() -> None:
    parser = _Names()
    parser.feed(page("<title>", "text"))
    assert {value for name, value in parser.attributes if name == "src"} == {"/script.js"}
