"""Strings that are markup, and figures as text: what pages and pictures of ours are made of.

Text reaches them through `element` alone, which escapes whatever is not `Markup` already. So a string that a page gave
cannot become markup by oversight.
"""

from __future__ import annotations

import html
import math
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


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


# ── Curves as SVG, made of nothing but strings: for the report of a crawl, for the simulator, for the README.

# ── curves ───────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """How the relevant pages grew with the pages fetched, or any other two numbers that the `Axes` name."""

    name: str
    points: tuple[tuple[int, int], ...] = ()
    """Pairs of fetched and relevant; fetched never falls."""
    band: tuple[tuple[int, int, int], ...] = ()
    """Fetched, and between which numbers the repetitions lie there."""

    @property
    def end(self) -> tuple[int, int]:
        return self.points[-1] if self.points else (0, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Axes:
    """What the numbers of a picture are."""

    x: str
    y: str
    nothing: str = "There is nothing to show."
    unit: str = ""
    """Stands behind each figure of y."""
    harvest: bool = False
    """A harvest starts at nothing, and its end is a share of what was fetched, too."""

    def value(self, number: int) -> str:
        return f"{'−' if number < 0 else ''}{compact(abs(number))}{self.unit}"


HARVEST = Axes(x="pages fetched", y="relevant pages", nothing="Nothing was fetched.", harvest=True)


def thinned(points: Sequence[tuple[int, int]], most: int) -> list[tuple[int, int]]:
    """The points without those that no eye could tell from their neighbours; the origin and the last are always there.

    >>> thinned([(n, n // 2) for n in range(1, 1001)], 4)
    [(0, 0), (250, 125), (500, 250), (750, 375), (1000, 500)]
    """
    width = points[-1][0] / most if points else 1.0
    kept = {0: (0, 0)} | {math.ceil(point[0] / width): point for point in points if point[0]}
    return list(kept.values())


# ── the picture ──────────────────────────────────────────────────────────────────────────────────────────

COLOURS = """
:root { color-scheme: light dark;
  --page: #fbfaf7; --surface: #ffffff; --ink: #1d2026; --muted: #5e6571; --line: #e4e1d9; --track: #efece4;
  --s0: #b87400; --s1: #1f4f99; --s2: #17a06a; --s3: #c05fd0; --s4: #861a24; --s5: #7a54c8; }
@media (prefers-color-scheme: dark) { :root {
  --page: #14161a; --surface: #1b1e24; --ink: #eceae4; --muted: #a2a8b3; --line: #32363f; --track: #2a2e36;
  --s0: #eaa82a; --s1: #71a9ef; --s2: #8cecc4; --s3: #b0629a; --s4: #dd5c34; --s5: #8a70e6; } }
"""
"""The palette. Lightness differs as well as hue, for those who do not see every hue."""

SERIES = 6
"""Colours for series; a seventh has the colour of the first, and is dashed."""

CHART_STYLE = """
.chart { display: block; width: 100%; height: auto; }
.chart { font: 13px system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
.chart text { fill: var(--muted); font-variant-numeric: tabular-nums; }
.chart .strong { fill: var(--ink); font-weight: 600; }
.chart .axis { stroke: var(--muted); stroke-width: 1; }
.chart .grid { stroke: var(--line); stroke-width: 1; }
.chart .series { fill: none; stroke-width: 2.25; stroke-linejoin: round; stroke-linecap: round; }
.chart .area { stroke: none; opacity: .12; } .chart .band { stroke: none; opacity: .2; }
.chart .leader { fill: none; stroke-width: 1; opacity: .55; }
.chart .end { stroke: var(--surface); stroke-width: 2; }
""" + "".join(f".chart .s{n} {{ stroke: var(--s{n}); }} .chart .f{n} {{ fill: var(--s{n}); }}\n" for n in range(SERIES))

_SIZE = 13
_LEGEND_ROW = 22
_LABEL = 36
"""Height of an end label of two lines."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Frame:
    """The rectangle that the curves are drawn in, and the numbers that its sides stand for."""

    left: float
    right: float
    top: float
    bottom: float
    x_most: int
    y_most: int
    y_least: int

    def x(self, value: float) -> float:
        return self.left + (self.right - self.left) * value / self.x_most

    def y(self, value: float) -> float:
        return self.bottom - (self.bottom - self.top) * (value - self.y_least) / (self.y_most - self.y_least)


def line_chart(
    curves: Sequence[Curve],
    *,
    title: str,
    width: int = 760,
    height: int = 360,
    name: str = "harvest",
    axes: Axes = HARVEST,
) -> Markup:
    """The curves as one `svg` element, styled by COLOURS and CHART_STYLE; `name` keeps ids apart on one page."""
    contents = [element("desc", _description(curves, axes), id=f"{name}-desc"), *_contents(curves, width, height, axes)]
    return _svg(contents, title=title, width=width, height=height, name=name)


def write_svg(path: Path, curves: Sequence[Curve], title: str, *, axes: Axes = HARVEST) -> None:
    """The curves as a file of its own: a card with the title on it and with colours for light and for dark."""
    width, height, edge, head = 860, 470, 24, 44
    inner_width, inner_height = width - 2 * edge, height - head - 2 * edge
    inner = _contents(curves, inner_width, inner_height, axes)
    card = [
        element("desc", _description(curves, axes), id="harvest-desc"),
        element("style", Markup(COLOURS + CHART_STYLE + ".chart .card { fill: var(--surface); stroke: var(--line); }")),
        element("rect", class_="card", x=0.5, y=0.5, width=width - 1, height=height - 1, rx=10),
        _text(edge, edge + 16, _fitted(title, inner_width, 18, bold=True), class_="strong", font_size=18),
        element("g", *inner, transform=f"translate({edge} {edge + head})"),
    ]
    path.write_text(_svg(card, title=title, width=width, height=height, name="harvest") + "\n", "utf-8")


def _svg(contents: Sequence[Markup], *, title: str, width: int, height: int, name: str) -> Markup:
    return element(
        "svg",
        element("title", title, id=f"{name}-title"),
        *contents,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {width} {height}",
        width=width,
        height=height,
        class_="chart",
        role="img",
        aria_labelledby=f"{name}-title {name}-desc",
    )


def _contents(curves: Sequence[Curve], width: int, height: int, axes: Axes) -> list[Markup]:
    """Everything inside the picture, from back to front."""
    curves = [curve for curve in curves if curve.end[0] > 0]
    if not curves:
        return [_text(width / 2, height / 2, axes.nothing, text_anchor="middle")]
    narrow = width < 560
    legend, legend_height = _legend(curves, width) if len(curves) > 1 else ([], 0)
    top, bottom = legend_height + 32, height - 46
    room = 2 if len(curves) * _LABEL <= bottom - top else 1
    named = len(curves) > 1 and not narrow
    labels = [_end_label(curve, width, axes, lines=room, named=named) for curve in curves]
    y_ticks = _y_ticks(curves)
    widest = max(_width(line, bold=row == 0) for label in labels for row, line in enumerate(label))
    frame = _Frame(
        left=max(_width(axes.value(tick)) for tick in y_ticks) + 10,
        right=width - widest - (22 if len(curves) > 1 else 12),
        top=top,
        bottom=bottom,
        x_most=max(curve.end[0] for curve in curves),
        y_most=y_ticks[-1],
        y_least=y_ticks[0],
    )
    bands = [_band(index, curve, frame) for index, curve in enumerate(curves) if curve.band]
    series = [_series(index, curve, frame, axes, alone=len(curves) == 1) for index, curve in enumerate(curves)]
    return [*legend, *_axes(frame, y_ticks, axes, narrow=narrow), *bands, *series, *_ends(curves, labels, frame)]


def _y_ticks(curves: Sequence[Curve]) -> list[int]:
    """Round numbers that hold every point: from 0 on, or from below where curves go there."""
    heights = [y for curve in curves for _, y in curve.points]
    heights += [y for curve in curves for _, low, high in curve.band for y in (low, high)]
    up = ticks(max(0, *heights), 5)
    depth = -min(0, *heights)
    if not depth:
        return up
    step = max(up[1], ticks(depth, 4)[1])
    return [step * index for index in range(-math.ceil(depth / step), math.ceil(up[-1] / step) + 1)]


def _axes(frame: _Frame, y_ticks: list[int], axes: Axes, *, narrow: bool) -> list[Markup]:
    made = [_text(0, frame.top - 16, axes.y)]
    for tick in y_ticks:
        y = _near(frame.y(tick))
        made.append(_line(frame.left, y, frame.right, y, class_="grid" if tick else "axis"))
        made.append(_text(frame.left - 8, y + 4.5, axes.value(tick), text_anchor="end"))
    for tick in ticks(frame.x_most, 3 if narrow else 6):
        if tick <= frame.x_most:
            x = _near(frame.x(tick))
            made.append(_line(x, frame.bottom, x, frame.bottom + 5, class_="axis"))
            made.append(_text(x, frame.bottom + 20, compact(tick), text_anchor="middle"))
    middle = _near((frame.left + frame.right) / 2)
    made.append(_text(middle, frame.bottom + 41, axes.x, text_anchor="middle"))
    return made


def _band(index: int, curve: Curve, frame: _Frame) -> Markup:
    upper = [f"{frame.x(x):.1f} {frame.y(high):.1f}" for x, _, high in curve.band]
    lower = [f"{frame.x(x):.1f} {frame.y(low):.1f}" for x, low, _ in reversed(curve.band)]
    return element("path", class_=f"band f{index % SERIES}", d="M" + "L".join([*upper, *lower]) + "Z")


def _series(index: int, curve: Curve, frame: _Frame, axes: Axes, *, alone: bool) -> Markup:
    shown = thinned(curve.points, 400)
    if not axes.harvest and curve.points[0] != shown[0]:  # only a harvest is known to start at the origin
        shown = shown[1:]
    points = [f"{frame.x(x):.1f} {frame.y(y):.1f}" for x, y in shown]
    line = "M" + "L".join(points)
    colour = index % SERIES
    made = element("path", class_=f"series s{colour}", d=line, **_dashes(index))
    if not alone or not axes.harvest:
        return made
    floor = f"{frame.bottom:.1f}"
    area = f"{line}L{frame.x(curve.end[0]):.1f} {floor}L{frame.left:.1f} {floor}Z"
    return joined(element("path", class_=f"area f{colour}", d=area), made)


def _ends(curves: Sequence[Curve], labels: list[list[str]], frame: _Frame) -> list[Markup]:
    """Dots where the curves end, and beside them labels that do not overlap."""
    height = _LABEL * max(len(label) for label in labels) / 2
    places = [(frame.x(curve.end[0]), frame.y(curve.end[1])) for curve in curves]
    middles = _spread([y for _, y in places], height, frame.top, frame.bottom - 12)
    made, at = [], frame.right + (20 if len(curves) > 1 else 10)
    for index, (x, y) in enumerate(places):
        if len(curves) > 1:
            leader = f"M{x:.1f} {y:.1f}L{frame.right + 8:.1f} {middles[index]:.1f}H{frame.right + 16:.1f}"
            made.append(element("path", class_=f"leader s{index % SERIES}", d=leader))
        made.append(element("circle", class_=f"end f{index % SERIES}", cx=_near(x), cy=_near(y), r=5))
        first = middles[index] + 4.5 - 8 * (len(labels[index]) - 1)
        for row, line in enumerate(labels[index]):
            made.append(_text(at, _near(first + 16 * row), line, class_="strong" if row == 0 else "plain"))
    return made


def _end_label(curve: Curve, width: int, axes: Axes, *, lines: int, named: bool) -> list[str]:
    last = axes.value(curve.end[1])
    figures = [last, percent(curve.end[1], curve.end[0])] if axes.harvest else [last]
    if not named:
        return figures[-lines:]
    name = _fitted(curve.name, width * 0.2, bold=True)
    return [name, " · ".join(figures)] if lines > 1 else [f"{name} {figures[-1]}"]


def _spread(wanted: Sequence[float], gap: float, top: float, bottom: float) -> list[float]:
    """Heights at least a gap apart and as near to the wanted ones as can be, inside where there is room.

    Less a gap for each that is above it, every height may be no less than the one before: isotonic regression, by
    pooling adjacent violators.

    >>> _spread([50, 52, 10], 10, 0, 60), _spread([50, 52, 10], 10, 0, 54)
    ([46.0, 56.0, 10], [44, 54, 10])
    """
    order = sorted(range(len(wanted)), key=lambda index: wanted[index])
    gap = min(gap, (bottom - top) / max(1, len(wanted) - 1))
    pools: list[tuple[float, int]] = []
    for above, index in enumerate(order):
        mean, count = wanted[index] - above * gap, 1
        while pools and pools[-1][0] > mean:
            before, others = pools.pop()
            mean, count = (before * others + mean * count) / (others + count), others + count
        pools.append((mean, count))
    lowest = bottom - (len(wanted) - 1) * gap
    heights = [max(top, min(lowest, mean)) for mean, count in pools for _ in range(count)]
    placed = dict(zip(order, heights, strict=True))
    return [placed[index] + order.index(index) * gap for index in range(len(wanted))]


def _legend(curves: Sequence[Curve], width: int) -> tuple[list[Markup], int]:
    """A line of the series' own kind before each name, in as many rows as they need; and the height of it all."""
    made: list[Markup] = []
    x, row = 0.0, 0
    for index, curve in enumerate(curves):
        label = _fitted(curve.name, min(240, width - 40))
        needed = 28 + _width(label) + 20
        if x and x + needed - 20 > width:
            x, row = 0.0, row + 1
        y = 10 + row * _LEGEND_ROW
        made.append(_line(_near(x + 1), y, _near(x + 21), y, class_=f"series s{index % SERIES}", **_dashes(index)))
        made.append(_text(_near(x + 28), y + 4.5, label))
        x += needed
    return made, (row + 1) * _LEGEND_ROW + 8


def _dashes(index: int) -> dict[str, str]:
    """None for the first series of each colour, then longer and longer ones."""
    again = index // SERIES
    return {"stroke_dasharray": f"{3 * again} {2 + 3 * again}"} if again else {}


def _description(curves: Sequence[Curve], axes: Axes) -> str:
    """What the picture shows, for those who cannot see it."""
    if not any(curve.points for curve in curves):
        return axes.nothing
    if not axes.harvest:
        ends = (f"{c.name}: {axes.value(c.end[1])} at {compact(c.end[0])}" for c in curves)
        return f"{axes.y} over {axes.x}. " + "; ".join(ends) + "."
    told = (f"{c.name}: {c.end[1]:,} relevant of {c.end[0]:,} fetched ({percent(c.end[1], c.end[0])})" for c in curves)
    return "Relevant pages over pages fetched. " + "; ".join(told) + "."


def _text(x: float, y: float, text: str, **attributes: str | float) -> Markup:
    return element("text", text, x=x, y=y, **attributes)


def _line(x1: float, y1: float, x2: float, y2: float, **attributes: str | float) -> Markup:
    return element("line", x1=x1, y1=y1, x2=x2, y2=y2, **attributes)


def _near(value: float) -> float:
    return round(value, 1)


_WIDTHS = dict.fromkeys("iIjlftr.,:;|!'()[]/ ·-", 0.4) | dict.fromkeys("mwMW%@…", 1.0)


def _width(text: str, size: float = _SIZE, *, bold: bool = False) -> float:
    """About how wide text will be, rather more than less: nobody knows the font."""
    wide = sum(_WIDTHS.get(char) or (1.0 if unicodedata.east_asian_width(char) in "WF" else 0.65) for char in text)
    return size * wide * (1.1 if bold else 1.0)


def _fitted(text: str, width: float, size: float = _SIZE, *, bold: bool = False) -> str:
    """The text, cut where it would be wider."""
    if _width(text[:500], size, bold=bold) <= width and len(text) <= 500:
        return text
    text = text[:500]
    while text and _width(text + "…", size, bold=bold) > width:
        text = text[:-1]
    return text + "…"
