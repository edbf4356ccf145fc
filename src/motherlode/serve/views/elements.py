"""Parts of pages: links, tables, the page layout, and query results.

Text from the web goes through `element`, which escapes it. Links lead to our own pages or, through `web_link`, to http
and https URLs only, because a crawled URL may have any scheme, such as `javascript:`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from motherlode.crawler.report.plot import Markup, element, escaped, joined
from motherlode.index.query.query_worker import QueryRequest
from motherlode.model.terms import PREFIXES
from motherlode.serve.query_pool import QueryPool

NOTHING = Markup()
_MAX_TEXT_CHARACTERS = 600
_NAVIGATION = (("/", "Overview"), ("/search", "Search"), ("/query", "Query"))


def void_element(tag: str, /, **attributes: str) -> Markup:
    """Return an element without content and end tag.

    >>> print(void_element("input", name="q", value='"><script>'))
    <input name="q" value="&#34;&gt;&lt;script&gt;">
    """
    written = "".join(f' {key.rstrip("_").replace("_", "-")}="{escaped(value)}"' for key, value in attributes.items())
    return Markup(f"<{tag}{written}>")


def labelled_input(name: str, value: str, label: str, **attributes: str) -> Markup:
    """Return an input element with a label."""
    return element("label", element("span", label), void_element("input", name=name, value=value, **attributes))


def own_link(path: str, parameters: Mapping[str, str], *children: str, **attributes: str) -> Markup:
    """Return a link to a page of this site. Empty parameters are left out."""
    query = urlencode({name: value for name, value in parameters.items() if value}, errors="replace")
    return element("a", *children, href=f"{path}?{query}" if query else path, **attributes)


def web_link(url: str, *children: str) -> Markup:
    """Return a link to an http or https URL; for any other URL, its text without a link.

    >>> print(web_link("https://a.example/?x=<", "a"))
    <a href="https://a.example/?x=&lt;" rel="noreferrer noopener nofollow" class="out">a</a>
    >>> print(web_link("javascript:alert(1)", "a"))
    <span>a</span>
    """
    if not url.lower().startswith(("http://", "https://")):
        return element("span", *children)
    return element("a", *children, href=url, rel="noreferrer noopener nofollow", class_="out")


def entity_link(iri: str, *children: str, page: str = "") -> Markup:
    """Return a link to the page about an IRI, or about a blank node of `page`."""
    parameters = {"node": iri, "page": page} if iri.startswith("_:") else {"iri": iri}
    return own_link("/entity", parameters, *(children or (prefixed_name(iri),)), title=truncate(iri, 300))


def prefixed_name(iri: str) -> str:
    """Return an IRI as a prefixed name, if a common prefix fits; otherwise the IRI. Long ones are truncated.

    >>> prefixed_name("http://schema.org/name"), prefixed_name("urn:x")
    ('schema:name', 'urn:x')
    """
    for prefix, start in PREFIXES.items():
        if iri.startswith(start) and len(iri) > len(start):
            return truncate(f"{prefix}:{iri[len(start) :]}", 120)
    return truncate(iri, 120)


def truncate(text: str, max_bytes: int = _MAX_TEXT_CHARACTERS) -> str:
    return text if len(text) <= max_bytes else text[: max_bytes - 1] + "…"


def bar(part: float, whole: float) -> Markup:
    """Return a bar whose length is the share of `part` in `whole`."""
    share = max(0.0, min(100.0, 100 * part / whole)) if whole else 0.0
    filled = element("rect", width=f"{share:.1f}", height=8)
    return element("svg", filled, class_="bar", viewBox="0 0 100 8", preserveAspectRatio="none", aria_hidden="true")


def table(heads: Iterable[str], rows: Iterable[Iterable[str]], *, class_: str = "") -> Markup:
    head = element("tr", *(element("th", text, scope="col") for text in heads))
    body = [element("tr", *(element("td", cell) for cell in row)) for row in rows]
    inner = element("table", element("thead", head), element("tbody", *body), class_=class_)
    return element("div", inner, class_="scroll")


def render_page(title: str, *content: str, here: str = "", words: str = "", live: bool = False) -> str:
    """Return a complete HTML page with this content. `here` is the path of the current menu entry.

    `live`: reload the page every three seconds in browsers without JavaScript.
    """
    links = [
        element("a", name, href=path, aria_current="page" if path == here else "false") for path, name in _NAVIGATION
    ]
    box = element(
        "form",
        void_element("input", type="search", name="q", value=words, placeholder="Search…", aria_label="Search"),
        action="/search",
        class_="box",
        role="search",
    )
    brand = element("a", element("b", "◆", aria_hidden="true"), " Motherlode", href="/", class_="brand")
    refresh = element("noscript", void_element("meta", http_equiv="refresh", content="3")) if live else NOTHING
    head = joined(
        void_element("meta", charset="utf-8"),
        void_element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        void_element("meta", name="color-scheme", content="light dark"),
        refresh,
        element("title", f"{truncate(title, 120)} · Motherlode"),
        void_element("link", rel="stylesheet", href="/style.css"),
        void_element("link", rel="icon", href="/icon.svg"),
        element("script", src="/script.js", defer="defer"),
    )
    body = joined(
        element("header", element("div", brand, element("nav", *links), NOTHING if here == "/search" else box)),
        element("main", *content),
    )
    return f"<!DOCTYPE html>\n{element('html', element('head', head), element('body', body), lang='en')}\n"


def error_section(message: str, *, title: str = "Error") -> Markup:
    """Return a section with an error message."""
    return element("section", element("h2", title), element("pre", message, class_="problem"), class_="trouble")


# Query results.

MAX_PAGE_RESULT_BYTES = 8_000_000
"""Maximum size of a result that is shown in a page."""

Row = dict[str, "Term"]


@dataclass(frozen=True, slots=True)
class Term:
    """A term of a SPARQL result in JSON."""

    kind: str
    """uri, literal, bnode or triple."""
    value: str
    language: str = ""
    datatype: str = ""


@dataclass(frozen=True, slots=True)
class QueryRows:
    """The solutions of a SELECT, or the boolean of an ASK."""

    names: tuple[str, ...]
    rows: tuple[Row, ...]
    truth: bool | None = None


async def select(pool: QueryPool, sparql: str, *, seconds: float, max_bytes: int = MAX_PAGE_RESULT_BYTES) -> QueryRows:
    """Execute a query and read its whole result. QueryFailure if there is none."""
    worker_query = QueryRequest(sparql=sparql, results="application/sparql-results+json", max_bytes=max_bytes)
    async with pool.ask(worker_query, seconds=seconds) as result:
        return parse_results(b"".join([chunk async for chunk in result.chunks()]))


def parse_results(content: bytes) -> QueryRows:
    """Parse SPARQL results in JSON.

    >>> results = b'{"head":{"vars":["s"]},"results":{"bindings":[{"s":{"type":"uri","value":"u:a"}}]}}'
    >>> parse_results(results).rows[0]["s"].value
    'u:a'
    """
    decoded: dict[str, Any] = json.loads(content)
    if "boolean" in decoded:
        return QueryRows((), (), truth=bool(decoded["boolean"]))
    rows = tuple({name: _term(term) for name, term in row.items()} for row in decoded["results"]["bindings"])
    return QueryRows(tuple(decoded["head"]["vars"]), rows)


def _term(term: dict[str, Any]) -> Term:
    value = term["value"]
    if not isinstance(value, str):
        return Term("triple", json.dumps(value, ensure_ascii=False))
    name = f"_:{value}" if term["type"] == "bnode" else value
    return Term(term["type"], name, term.get("xml:lang", ""), term.get("datatype", ""))


def render_term(term: Term | None, *, page: str = "") -> Markup:
    """Return the markup of a term: IRIs are links, literals have their language or datatype.

    A blank node is a link if `page` is given.
    """
    if term is None:
        return NOTHING
    if term.kind == "uri":
        return entity_link(term.value)
    if term.kind == "bnode":
        return entity_link(term.value, "[ ]", page=page) if page else element("span", term.value, class_="muted")
    tag = element("span", term.language, class_="tag") if term.language else NOTHING
    kind = term.datatype.rpartition("#")[2]
    datatype = element("span", kind, class_="tag") if kind and kind not in ("string", "langString") else NOTHING
    return joined(element("bdi", truncate(term.value)), tag, datatype)


def render_solutions(found: QueryRows, max_bytes: int) -> Markup:
    """Return the first solutions as a table, or the boolean."""
    if found.truth is not None:
        return element("p", "yes" if found.truth else "no", class_="truth")
    if not found.rows:
        return element("p", "No results.", class_="muted")
    rows = ([render_term(row.get(name)) for name in found.names] for row in found.rows[:max_bytes])
    return table((f"?{name}" for name in found.names), rows, class_="results")


def group_rows(rows: Iterable[Row], key: str) -> dict[str, list[Row]]:
    """Group rows by the value of a variable, in the order of first occurrence."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(row[key].value if key in row else "", []).append(row)
    return groups
