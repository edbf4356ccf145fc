"""How pages are written: the only place that makes markup, and the only place that makes links.

Text from the web goes through `element`, which escapes it. Links go to our own pages, or, through `outside`, to http
and https and nowhere else: `javascript:` is a scheme like any other to those who write pages.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from motherlode.crawler.report.plot import Markup, element, escaped, joined
from motherlode.index.query.query_worker import WorkerQuery
from motherlode.model.terms import PREFIXES
from motherlode.serve.query_pool import QueryPool

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


def shortened(text: str, max_bytes: int = _LONGEST) -> str:
    return text if len(text) <= max_bytes else text[: max_bytes - 1] + "…"


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


# ── Answers of queries as pages show them: terms that can be followed, and where they come from.

MAX_PAGE_RESULT_BYTES = 8_000_000
"""Of an answer that becomes a page."""

Row = dict[str, "Term"]


@dataclass(frozen=True, slots=True)
class Term:
    """A term as SPARQL results in JSON tell it."""

    kind: str
    """uri, literal or bnode"""
    value: str
    language: str = ""
    datatype: str = ""


@dataclass(frozen=True, slots=True)
class QueryRows:
    """The solutions of a SELECT, or a truth value."""

    names: tuple[str, ...]
    rows: tuple[Row, ...]
    truth: bool | None = None


async def select(pool: QueryPool, sparql: str, *, seconds: float, max_bytes: int = MAX_PAGE_RESULT_BYTES) -> QueryRows:
    """Ask and read the whole answer. QueryFailure where there is none."""
    order = WorkerQuery(sparql=sparql, results="application/sparql-results+json", max_bytes=max_bytes)
    async with pool.ask(order, seconds=seconds) as answer:
        return read(b"".join([piece async for piece in answer.chunks()]))


def read(content: bytes) -> QueryRows:
    """SPARQL results in JSON.

    >>> read(b'{"head":{"vars":["s"]},"results":{"bindings":[{"s":{"type":"uri","value":"u:a"}}]}}').rows[0]["s"].value
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


def shown(term: Term | None, *, page: str = "") -> Markup:
    """A term for people: IRIs lead on, texts have their language beside them."""
    if term is None:
        return nothing
    if term.kind == "uri":
        return entity(term.value)
    if term.kind == "bnode":
        return entity(term.value, "[ ]", page=page) if page else element("span", term.value, class_="muted")
    tag = element("span", term.language, class_="tag") if term.language else nothing
    kind = term.datatype.rpartition("#")[2]
    datatype = element("span", kind, class_="tag") if kind and kind not in ("string", "langString") else nothing
    return joined(element("bdi", shortened(term.value)), tag, datatype)


def solutions(found: QueryRows, max_bytes: int) -> Markup:
    """The solutions as a table."""
    if found.truth is not None:
        return element("p", "yes" if found.truth else "no", class_="truth")
    if not found.rows:
        return element("p", "There is nothing that fits.", class_="muted")
    rows = ([shown(row.get(name)) for name in found.names] for row in found.rows[:max_bytes])
    return table((f"?{name}" for name in found.names), rows, class_="results")


def grouped(rows: Iterable[Row], key: str) -> dict[str, list[Row]]:
    """Rows by the value of one of their variables, in the order in which the values come."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(row[key].value if key in row else "", []).append(row)
    return groups
