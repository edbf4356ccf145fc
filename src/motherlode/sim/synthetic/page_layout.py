"""The HTML of pages: for each design, the position of each group of links and the tag path to it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import cache

from motherlode.sim.synthetic.host_profiles import Design
from motherlode.sim.synthetic.word_lists import SENTENCES


class LinkPosition(Enum):
    """Position of a group of links on a page. The order of members is the order on the page."""

    HEAD = "head"
    """Link elements."""
    NAVIGATION = "navigation"
    CRUMBS = "crumbs"
    INLINE = "inline"
    """In the running text."""
    ITEMS = "items"
    """The main list of a list page."""
    PAGER = "pager"
    RELATED = "related"
    SIDEBAR = "sidebar"
    OUTSIDE = "outside"
    """Links to other hosts."""
    FOOTER = "footer"


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkSlot:
    """How one group of links is written."""

    before: str
    each: str
    """Format string with a field for the anchor and, if `told`, one for the text after it."""
    after: str
    path: str
    """Tag path of the anchors."""
    told: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """The HTML frame of a page, with a slot for each position of links."""

    opening: str
    """HTML up to the content of `head`. If it contains `%s`, the renderer inserts the charset."""
    body: str
    """HTML between the content of `head` and the navigation."""
    main: str
    """HTML between the navigation and the content."""
    main_end: str
    closing: str
    paragraph: str
    heading: str
    void: str
    """How an element without content ends."""
    slots: dict[LinkPosition, LinkSlot]


def context_of(sentence: str) -> str:
    """Return the part of a sentence after a link that counts as its context: sixty characters, including a space.

    >>> context_of("Every spring the neighbours collected more than anyone had planned.")
    'Every spring the neighbours collected more than anyone had'
    """
    return " ".join(f" {sentence}"[:60].split())


CONTEXTS = tuple(context_of(sentence) for sentence in SENTENCES)
SENTENCE_OF = dict(zip(CONTEXTS, SENTENCES, strict=True))
"""Sentences by the context that they give. If two sentences give the same context, either is used."""

_MENUS = ("menu", "main-nav", "links", "topbar")
_LISTS = ("list", "cards", "entries", "results", "overview", "grid")
VARIANTS = len(_MENUS) * len(_LISTS)


@cache
def layout(design: Design, variant: int) -> Layout:
    """Return the layout of a design with one of VARIANTS sets of class names."""
    menu = _MENUS[variant % len(_MENUS)]
    items = _LISTS[variant // len(_MENUS) % len(_LISTS)]
    return {Design.MODERN: _modern, Design.BOXES: _boxes, Design.TABLES: _tables, Design.XHTML: _xhtml}[design](
        menu, items
    )


def _listed(before: str, after: str, path: str, *, told: bool = False, item: str = "li") -> LinkSlot:
    each = f"<{item}>%s %s</{item}>\n" if told else f"<{item}>%s</{item}>\n"
    return LinkSlot(before=before, each=each, after=after, path=f"{path} {item} a", told=told)


_HEAD = LinkSlot(before="", each="%s\n", after="", path="html head link")


def _modern(menu: str, items: str) -> Layout:
    main = "html body main.content"
    return Layout(
        opening='<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n',
        body="</head>\n<body>\n",
        main='<main class="content">\n',
        main_end="</main>\n",
        closing="</body>\n</html>\n",
        paragraph="<p>%s</p>\n",
        heading="<h1>%s</h1>\n",
        void=">",
        slots={
            LinkPosition.HEAD: _HEAD,
            LinkPosition.NAVIGATION: _listed(
                f'<header class="top"><nav class="{menu}"><ul>\n',
                "</ul></nav></header>\n",
                f"html body header.top nav.{menu} ul",
            ),
            LinkPosition.CRUMBS: _listed('<nav class="crumbs"><ol>\n', "</ol></nav>\n", f"{main} nav.crumbs ol"),
            LinkPosition.INLINE: _listed("<article>\n", "</article>\n", f"{main} article", told=True, item="p"),
            LinkPosition.ITEMS: _listed(f'<ul class="{items}">\n', "</ul>\n", f"{main} ul.{items}", told=True),
            LinkPosition.PAGER: _listed('<nav class="pager"><ul>\n', "</ul></nav>\n", f"{main} nav.pager ul"),
            LinkPosition.RELATED: _listed(
                '<section class="related"><h2>See also</h2><ul>\n', "</ul></section>\n", f"{main} section.related ul"
            ),
            LinkPosition.SIDEBAR: _listed(
                '<aside class="popular"><h2>Popular</h2><ul>\n', "</ul></aside>\n", "html body aside.popular ul"
            ),
            LinkPosition.OUTSIDE: _listed(
                '<aside class="friends"><h2>Elsewhere</h2><ul>\n', "</ul></aside>\n", "html body aside.friends ul"
            ),
            LinkPosition.FOOTER: _listed("<footer><ul>\n", "</ul></footer>\n", "html body footer ul"),
        },
    )


def _boxes(menu: str, items: str) -> Layout:
    page = "html body div.page"

    def box(name: str, *, told: bool = False, inside: str = f"{page} div.content") -> LinkSlot:
        return _listed(f'<div class="{name}">\n', "</div>\n", f"{inside} div.{name}", told=told, item="div")

    return Layout(
        opening='<!DOCTYPE html>\n<html>\n<head>\n<meta charset="utf-8">\n',
        body='</head>\n<body>\n<div class="page">\n',
        main='<div class="content">\n',
        main_end="</div>\n",
        closing="</div>\n</body>\n</html>\n",
        paragraph='<div class="text">%s</div>\n',
        heading='<div class="title">%s</div>\n',
        void=">",
        slots={
            LinkPosition.HEAD: _HEAD,
            LinkPosition.NAVIGATION: box(menu, inside=page),
            LinkPosition.CRUMBS: box("path"),
            LinkPosition.INLINE: box("body", told=True),
            LinkPosition.ITEMS: box(items, told=True),
            LinkPosition.PAGER: box("pages"),
            LinkPosition.RELATED: box("more"),
            LinkPosition.SIDEBAR: box("side", inside=page),
            LinkPosition.OUTSIDE: box("blogroll", inside=page),
            LinkPosition.FOOTER: box("foot", inside=page),
        },
    )


def _tables(menu: str, items: str) -> Layout:
    """Return upper-case HTML with unquoted attributes and unclosed elements, which HTML parsers accept."""
    row = "html body table.layout tbody tr"
    main = f"{row} td.main"

    def items_in(name: str, *, told: bool = False, inside: str = main) -> LinkSlot:
        each = "<LI>%s %s\n" if told else "<LI>%s\n"
        return LinkSlot(
            before=f"<UL CLASS={name}>\n", each=each, after="</UL>\n", path=f"{inside} ul.{name} li a", told=told
        )

    return Layout(
        opening="<HTML>\n<HEAD>\n<META HTTP-EQUIV=Content-Type CONTENT='text/html; charset=iso-8859-1'>\n",
        body="<BODY BGCOLOR=white BGCOLOR=grey>\n<TABLE CLASS=layout><TR><TD CLASS=menu>\n",
        main="<TD CLASS=main></span>\n",
        main_end="<TR><TD CLASS=bottom>\n",
        closing="</TABLE>\n<P><B>Best viewed at 800 by 600\n",
        paragraph="<P>%s\n",
        heading="<CENTER><FONT SIZE=5>%s</FONT></CENTER>\n",
        void=">",
        slots={
            LinkPosition.HEAD: _HEAD,
            LinkPosition.NAVIGATION: items_in(menu, inside=f"{row} td.menu"),
            LinkPosition.CRUMBS: items_in("path"),
            LinkPosition.INLINE: items_in("text", told=True),
            LinkPosition.ITEMS: items_in(items, told=True),
            LinkPosition.PAGER: items_in("turn"),
            LinkPosition.RELATED: items_in("also"),
            LinkPosition.SIDEBAR: items_in("top10", inside=f"{row} td.bottom"),
            LinkPosition.OUTSIDE: items_in("webring", inside=f"{row} td.bottom"),
            LinkPosition.FOOTER: items_in("bottom", inside=f"{row} td.bottom"),
        },
    )


def _xhtml(menu: str, items: str) -> Layout:
    main = "html body div.main"

    def items_in(name: str, *, told: bool = False, inside: str = main) -> LinkSlot:
        return _listed(f'<ul class="{name}">\n', "</ul>\n", f"{inside} ul.{name}", told=told)

    return Layout(
        opening=(
            '<?xml version="1.0" encoding="%s"?>\n<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" '
            '"http://www.w3.org/TR/xhtml1/DTD/xhtml1-strict.dtd">\n'
            '<html xmlns="http://www.w3.org/1999/xhtml">\n<head>\n'
        ),
        body="</head>\n<body>\n",
        main='<div class="main">\n',
        main_end="</div>\n",
        closing="</body>\n</html>\n",
        paragraph="<p>%s</p>\n",
        heading="<h1>%s</h1>\n",
        void=" />",
        slots={
            LinkPosition.HEAD: _HEAD,
            LinkPosition.NAVIGATION: items_in(menu, inside="html body"),
            LinkPosition.CRUMBS: items_in("crumbs"),
            LinkPosition.INLINE: items_in("text", told=True),
            LinkPosition.ITEMS: items_in(items, told=True),
            LinkPosition.PAGER: items_in("pager"),
            LinkPosition.RELATED: items_in("related"),
            LinkPosition.SIDEBAR: items_in("popular", inside="html body"),
            LinkPosition.OUTSIDE: items_in("outside", inside="html body"),
            LinkPosition.FOOTER: items_in("footer", inside="html body"),
        },
    )
