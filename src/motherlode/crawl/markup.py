"""Strings that are markup, and figures as text: what pages and pictures of ours are made of.

Text reaches them through `element` alone, which escapes whatever is not `Markup` already. So a string that a page gave
cannot become markup by oversight.
"""

from __future__ import annotations

import html
import re


class Markup(str):
    """Text that is markup already and goes in as it stands."""

    __slots__ = ()


_UNFIT = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff"  # no XML, or no UTF-8
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]"  # turns the direction of the text around it
)


def escaped(text: str) -> Markup:
    """Text as it may stand in HTML and in XML, between tags or in an attribute's quotes.

    >>> print(escaped('"><img onerror=x>'))
    &quot;&gt;&lt;img onerror=x&gt;
    """
    return text if isinstance(text, Markup) else Markup(html.escape(_UNFIT.sub("\ufffd", text), quote=True))


def element(name: str, *children: str, **attributes: str | float) -> Markup:
    """An element; in attribute names `_` stands for `-`, and a final one for nothing. Text is escaped, Markup is not.

    >>> print(element("text", "a < b", element("tspan", "c"), class_="label", font_size=12))
    <text class="label" font-size="12">a &lt; b<tspan>c</tspan></text>
    """
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escaped(str(value))}"' for key, value in attributes.items()
    )
    return Markup(f"<{name}{written}>{''.join(escaped(child) for child in children)}</{name}>")


def joined(*parts: str) -> Markup:
    """Several pieces as one; plain text among them is escaped."""
    return Markup("".join(escaped(part) for part in parts))


def compact(number: float) -> str:
    """A number in few characters, for axes and tiles.

    >>> compact(9999), compact(12_000), compact(1_250_000), compact(999_960), compact(3 * 10**13)
    ('9,999', '12k', '1.25M', '1M', '30T')
    """
    if number < 10_000:
        return f"{number:,.0f}"
    value = float(number)
    for unit in ("k", "M", "G", "T", "P", "E"):
        value /= 1000
        if value < 999.5:
            return f"{value:.3g}{unit}"
    return f"{value:,.0f}E"


def percent(part: float, whole: float) -> str:
    """A share, with as many digits as make sense.

    >>> percent(1, 3), percent(1, 1), percent(1, 99999), percent(99999, 100000), percent(0, 0)
    ('33.3 %', '100 %', '< 0.1 %', '> 99.9 %', '0 %')
    """
    share = 100 * part / whole if whole else 0.0
    if 0 < share < 0.1:
        return "< 0.1 %"
    if 99.9 < share < 100:
        return "> 99.9 %"
    return f"{share:.0f} %" if share in (0, 100) else f"{share:.1f} %"


def ticks(most: int, count: int) -> list[int]:
    """Round whole numbers from 0 on, about `count` of them; the last is the first that reaches `most`.

    >>> ticks(1870, 4), ticks(3, 5), ticks(0, 5)
    ([0, 500, 1000, 1500, 2000], [0, 1, 2, 3], [0, 1])
    """
    most = max(1, most)
    raw = max(1, -(-most // count))
    power = 10 ** (len(str(raw)) - 1)
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= raw)
    return [step * index for index in range(-(-most // step) + 1)]
