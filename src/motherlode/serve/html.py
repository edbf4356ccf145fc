"""How pages are written: the only place that makes markup, and the only place that makes links.

Text from the web goes through `element`, which escapes it. Links go to our own pages, or, through `outside`, to http
and https and nowhere else: `javascript:` is a scheme like any other to those who write pages.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from urllib.parse import urlencode

from motherlode.crawl.markup import Markup, element, escaped, joined
from motherlode.model.prefixes import PREFIXES

__all__ = ["Markup", "bar", "element", "entity", "field", "inside", "joined", "nothing", "outside", "page", "short"]

nothing = Markup()
_LONGEST = 600
_NAVIGATION = (("/", "Overview"), ("/search", "Search"), ("/query", "Query"))


def void(tag: str, /, **attributes: str) -> Markup:
    """An element without content or end.

    >>> print(void("input", name="q", value='"><script>'))
    <input name="q" value="&quot;&gt;&lt;script&gt;">
    """
    written = "".join(f' {key.rstrip("_").replace("_", "-")}="{escaped(value)}"' for key, value in attributes.items())
    return Markup(f"<{tag}{written}>")


def field(name: str, value: str, label: str, **attributes: str) -> Markup:
    """A labelled line to write in."""
    return element("label", element("span", label), void("input", name=name, value=value, **attributes))


def inside(path: str, parameters: Mapping[str, str], *children: str, **attributes: str) -> Markup:
    """A link to a page of ours."""
    query = urlencode({name: value for name, value in parameters.items() if value}, errors="replace")
    return element("a", *children, href=f"{path}?{query}" if query else path, **attributes)


def outside(url: str, *children: str) -> Markup:
    """A link to the web, if it is one of the web.

    >>> print(outside("https://a.example/?x=<", "a"))
    <a href="https://a.example/?x=&lt;" rel="noreferrer noopener nofollow" class="out">a</a>
    >>> print(outside("javascript:alert(1)", "a"))
    <span>a</span>
    """
    if not url.lower().startswith(("http://", "https://")):
        return element("span", *children)
    return element("a", *children, href=url, rel="noreferrer noopener nofollow", class_="out")


def entity(iri: str, *children: str, page: str = "") -> Markup:
    """A link to what is known about an IRI, or about a blank node of a page."""
    parameters = {"node": iri, "page": page} if iri.startswith("_:") else {"iri": iri}
    return inside("/entity", parameters, *(children or (short(iri),)), title=shortened(iri, 300))


def short(iri: str) -> str:
    """An IRI with a common prefix, where there is one.

    >>> short("http://schema.org/name"), short("urn:x")
    ('schema:name', 'urn:x')
    """
    for prefix, start in PREFIXES.items():
        if iri.startswith(start) and len(iri) > len(start):
            return shortened(f"{prefix}:{iri[len(start) :]}", 120)
    return shortened(iri, 120)


def shortened(text: str, most: int = _LONGEST) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def bar(part: float, whole: float) -> Markup:
    """A bar as long as the share; the figure stands beside it."""
    share = max(0.0, min(100.0, 100 * part / whole)) if whole else 0.0
    filled = element("rect", width=f"{share:.1f}", height=8)
    return element("svg", filled, class_="bar", viewBox="0 0 100 8", preserveAspectRatio="none", aria_hidden="true")


def table(heads: Iterable[str], rows: Iterable[Iterable[str]], *, class_: str = "") -> Markup:
    head = element("tr", *(element("th", text, scope="col") for text in heads))
    body = [element("tr", *(element("td", cell) for cell in row)) for row in rows]
    inner = element("table", element("thead", head), element("tbody", *body), class_=class_)
    return element("div", inner, class_="scroll")


def page(title: str, *content: str, here: str = "", words: str = "", live: bool = False) -> str:
    """A whole page around its content."""
    links = [
        element("a", name, href=path, aria_current="page" if path == here else "false") for path, name in _NAVIGATION
    ]
    box = element(
        "form",
        void("input", type="search", name="q", value=words, placeholder="Search…", aria_label="Search"),
        action="/search",
        class_="box",
        role="search",
    )
    brand = element("a", element("b", "◆", aria_hidden="true"), " Motherlode", href="/", class_="brand")
    refresh = element("noscript", void("meta", http_equiv="refresh", content="3")) if live else nothing
    head = joined(
        void("meta", charset="utf-8"),
        void("meta", name="viewport", content="width=device-width, initial-scale=1"),
        void("meta", name="color-scheme", content="light dark"),
        refresh,
        element("title", f"{shortened(title, 120)} · Motherlode"),
        void("link", rel="stylesheet", href="/style.css"),
        void("link", rel="icon", href="/icon.svg"),
        element("script", src="/script.js", defer="defer"),
    )
    body = joined(
        element("header", element("div", brand, element("nav", *links), nothing if here == "/search" else box)),
        element("main", *content),
    )
    return f"<!DOCTYPE html>\n{element('html', element('head', head), element('body', body), lang='en')}\n"


def problem(message: str, *, title: str = "That did not work") -> Markup:
    return element("section", element("h2", title), element("pre", message, class_="problem"), class_="trouble")
