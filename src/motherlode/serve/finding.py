"""The search page."""

from __future__ import annotations

from collections.abc import Sequence

from motherlode.index.words import Hit, Search, Snippet
from motherlode.serve.html import Markup, element, entity, field, inside, joined, nothing, page, problem, short, void


def searching(asked: Search, hits: Sequence[Hit] | None, trouble: str = "") -> str:
    """The page; `hits` is None before anything was asked."""
    title = f"{asked.words} · Search" if asked.words else "Search"
    content = [element("h1", "Search"), _form(asked)]
    if trouble:
        content.append(problem(trouble))
    elif hits is not None:
        content.append(_hits(asked, hits))
    return page(title, *content, here="/search", words=asked.words)


def _form(asked: Search) -> Markup:
    words = void(
        "input",
        type="search",
        name="q",
        value=asked.words,
        placeholder="tomato soup",
        aria_label="Words",
        autofocus="on",
    )
    filters = element(
        "details",
        element("summary", "Filters"),
        element(
            "div",
            field("type", asked.type, "Type", placeholder="schema:Recipe"),
            field("predicate", asked.predicate, "Predicate", placeholder="schema:name"),
            field("host", asked.host, "Host", placeholder="example.org"),
            field("language", asked.language, "Language", placeholder="en"),
            class_="fields",
        ),
        **({"open": "open"} if any((asked.type, asked.predicate, asked.host, asked.language)) else {}),
    )
    hint = element("p", 'Words in "quotes" stand together; -word must be absent.', class_="note")
    line = element("div", words, element("button", "Search"), class_="big")
    return element("form", line, filters, hint, action="/search", class_="search")


def _hits(asked: Search, hits: Sequence[Hit]) -> Markup:
    if not hits:
        return element("p", "Nothing was found. Fewer or other words may find more.", class_="muted")
    count = f"{len(hits):,} {'find' if len(hits) == 1 else 'finds'}"
    more = nothing
    if len(hits) >= asked.limit:
        parameters = {"q": asked.words, "type": asked.type, "predicate": asked.predicate, "host": asked.host}
        parameters |= {"language": asked.language, "limit": str(asked.limit * 3)}
        more = element("p", inside("/search", parameters, "More"))
    return joined(element("p", count, class_="muted"), element("ol", *(_hit(hit) for hit in hits), class_="hits"), more)


def _hit(hit: Hit) -> Markup:
    types = [element("span", entity(name), class_="tag") for name in hit.types[:4]]
    return element(
        "li",
        element("h3", entity(hit.subject, hit.label or short(hit.subject), page=hit.graph)),
        element("div", *types, class_="tags") if types else nothing,
        element("p", element("span", f"{short(hit.predicate)}  ", class_="note"), marked(hit.snippet)),
        element(
            "p",
            "on ",
            inside("/page", {"url": hit.page}, element("bdi", hit.page)),
            hit.other_pages,
            class_="note source",
        ),
    )


def marked(snippet: Snippet) -> Markup:
    """A piece of text with its finds marked."""
    parts: list[str] = []
    last = 0
    for start, end in snippet.marks:
        parts += [snippet.text[last:start], element("mark", snippet.text[start:end])]
        last = end
    return element("bdi", *parts, snippet.text[last:])
