"""Line charts as SVG, and the format of their numbers, for reports of crawls and of simulations."""

import math
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from jinja2 import Template
from markupsafe import Markup

from motherlode.crawler.report import open_templates


def compact(number: float) -> str:
    """Return a number in few characters, for axes and figures."""
    if number < 10_000:
        return f"{number:,.0f}"
    value = float(number)
    for unit in ("k", "M", "G", "T", "P", "E"):
        value /= 1000
        if value < 999.5:
            return f"{value:.3g}{unit}"
    return f"{value:,.0f}E"


def percent(part: float, whole: float) -> str:
    """Return a share in percent. It is never rounded to 0 % or 100 %."""
    share = 100 * part / whole if whole else 0.0
    if 0 < share < 0.1:
        return "< 0.1 %"
    if 99.9 < share < 100:
        return "> 99.9 %"
    return f"{share:.0f} %" if share in (0, 100) else f"{share:.1f} %"


def ticks(most: int, count: int) -> list[int]:
    """Return about `count` round numbers from 0 up to the first that is not less than `most`."""
    most = max(1, most)
    raw = max(1, -(-most // count))
    power = 10 ** (len(str(raw)) - 1)
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= raw)
    return [step * index for index in range(-(-most // step) + 1)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """Relevant pages by pages fetched, or any other two quantities that the `Axes` name."""

    name: str
    points: tuple[tuple[int, int], ...] = ()
    """Pairs of fetched and relevant pages, in increasing order of fetched pages."""
    band: tuple[tuple[int, int, int], ...] = ()
    """Fetched pages, and the minimum and maximum over repetitions."""

    @property
    def end(self) -> tuple[int, int]:
        return self.points[-1] if self.points else (0, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Axes:
    """Names and units of the two axes."""

    x: str
    y: str
    nothing: str = "There is nothing to show."
    unit: str = ""
    """Appended to each value of y."""
    harvest: bool = False
    """Whether the curves are harvest curves, which start at the origin and are labelled with their final share."""

    def value(self, number: int) -> str:
        """Return a value of y with its unit."""
        return f"{'−' if number < 0 else ''}{compact(abs(number))}{self.unit}"


HARVEST = Axes(x="pages fetched", y="relevant pages", nothing="Nothing was fetched.", harvest=True)


def thin_out(points: Sequence[tuple[int, int]], most: int) -> list[tuple[int, int]]:
    """Return at most one point per interval of x, together with the origin and the last point."""
    width = points[-1][0] / most if points else 1.0
    kept = {0: (0, 0)} | {math.ceil(point[0] / width): point for point in points if point[0]}
    return list(kept.values())


CHART_STYLE = resources.files("motherlode.crawler.report").joinpath("templates/chart.css").read_text("utf-8")
"""The palette of all pages, in light and dark mode, and the style of charts."""
SERIES = 6
"""Number of colours. The seventh series has the colour of the first and is dashed."""
_FONT_SIZE = 13
_LEGEND_ROW_HEIGHT = 22
_LABEL_HEIGHT = 36
"""Height of an end label with two lines."""
_MAX_LABEL_LENGTH = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class _Frame:
    """The rectangle of the curves, and the values at its sides."""

    left: float
    right: float
    top: float
    bottom: float
    x_max: int
    y_max: int
    y_min: int

    def x(self, value: float) -> float:
        return self.left + (self.right - self.left) * value / self.x_max

    def y(self, value: float) -> float:
        return self.bottom - (self.bottom - self.top) * (value - self.y_min) / (self.y_max - self.y_min)

    def path(self, points: Sequence[tuple[int, int]]) -> str:
        """Return the points as the path data of a line, or "" if the list is empty."""
        return "M" * bool(points) + "L".join(f"{self.x(x):.1f} {self.y(y):.1f}" for x, y in points)


def line_chart(
    curves: Sequence[Curve],
    *,
    title: str,
    width: int = 760,
    height: int = 360,
    name: str = "harvest",
    axes: Axes = HARVEST,
) -> Markup:
    """Return the curves as one `svg` element, styled by CHART_STYLE. Ids begin with `name`."""
    values = _lay_out(curves, width, height, axes)
    return _render(curves, axes, title=title, width=width, height=height, name=name, card_title=None, **values)


def write_svg(path: Path, curves: Sequence[Curve], title: str, *, axes: Axes = HARVEST) -> None:
    """Write the curves as an SVG file with title, frame, and colours for light and dark mode."""
    width, height = 860, 470
    values = _lay_out(curves, width - 48, height - 92, axes)
    values["card_title"] = _fit_text(title, width - 48, 18, bold=True)
    svg = _render(curves, axes, title=title, width=width, height=height, name="harvest", **values)
    path.write_text(f"{svg}\n", "utf-8")


@cache
def _template() -> Template:
    templates = open_templates("motherlode.crawler.report")
    templates.filters["compact"] = compact
    templates.globals.update(colours=SERIES, style=Markup(CHART_STYLE))
    return templates.get_template("chart.svg")


def _render(curves: Sequence[Curve], axes: Axes, **values: Any) -> Markup:
    return Markup(_template().render(values, axes=axes, description=_description(curves, axes)))


def _lay_out(curves: Sequence[Curve], width: int, height: int, axes: Axes) -> dict[str, Any]:
    """Return the positions of everything inside the chart, as values for its template."""
    values: dict[str, Any] = {"inner_width": width, "inner_height": height, "frame": None}
    curves = [curve for curve in curves if curve.end[0] > 0]
    if not curves:
        return values
    narrow = width < 560
    legend, legend_height = _place_legend(curves, width) if len(curves) > 1 else ([], 0)
    top, bottom = legend_height + 32, height - 46
    room = 2 if len(curves) * _LABEL_HEIGHT <= bottom - top else 1
    named = len(curves) > 1 and not narrow
    labels = [_format_end_label(curve, width, axes, lines=room, named=named) for curve in curves]
    y_ticks = _compute_y_ticks(curves)
    widest = max(_estimate_width(line, bold=row == 0) for label in labels for row, line in enumerate(label))
    frame = _Frame(
        left=max(_estimate_width(axes.value(tick)) for tick in y_ticks) + 10,
        right=width - widest - (22 if len(curves) > 1 else 12),
        top=top,
        bottom=bottom,
        x_max=max(curve.end[0] for curve in curves),
        y_max=y_ticks[-1],
        y_min=y_ticks[0],
    )
    return values | {
        "frame": frame,
        "legend": legend,
        "y_ticks": y_ticks,
        "x_ticks": [tick for tick in ticks(frame.x_max, 3 if narrow else 6) if tick <= frame.x_max],
        "bands": [frame.path(_outline(curve.band)) for curve in curves],
        "lines": [frame.path(_points(curve, axes)) for curve in curves],
        "ends": _place_ends(curves, labels, frame),
    }


def _outline(band: Sequence[tuple[int, int, int]]) -> list[tuple[int, int]]:
    return [*((x, high) for x, _, high in band), *((x, low) for x, low, _ in reversed(band))]


def _points(curve: Curve, axes: Axes) -> list[tuple[int, int]]:
    shown = thin_out(curve.points, 400)
    starts_at_origin = axes.harvest or curve.points[0] == shown[0]
    return shown if starts_at_origin else shown[1:]


def _compute_y_ticks(curves: Sequence[Curve]) -> list[int]:
    """Return round numbers that cover all points, from 0 or from the lowest negative value."""
    heights = [y for curve in curves for _, y in curve.points]
    heights += [y for curve in curves for _, low, high in curve.band for y in (low, high)]
    up = ticks(max(0, *heights), 5)
    depth = -min(0, *heights)
    if not depth:
        return up
    step = max(up[1], ticks(depth, 4)[1])
    return [step * index for index in range(-math.ceil(depth / step), math.ceil(up[-1] / step) + 1)]


def _place_ends(
    curves: Sequence[Curve], labels: list[list[str]], frame: _Frame
) -> list[tuple[float, float, float, list[str]]]:
    """Return the end of each curve, and the height and lines of its label. Labels do not overlap."""
    height = _LABEL_HEIGHT * max(len(label) for label in labels) / 2
    ends = [(frame.x(curve.end[0]), frame.y(curve.end[1])) for curve in curves]
    heights = _spread([y for _, y in ends], height, frame.top, frame.bottom - 12)
    return [(x, y, label_y, label) for (x, y), label_y, label in zip(ends, heights, labels, strict=True)]


def _format_end_label(curve: Curve, width: int, axes: Axes, *, lines: int, named: bool) -> list[str]:
    last = axes.value(curve.end[1])
    figures = [last, percent(curve.end[1], curve.end[0])] if axes.harvest else [last]
    if not named:
        return figures[-lines:]
    name = _fit_text(curve.name, width * 0.2, bold=True)
    return [name, " · ".join(figures)] if lines > 1 else [f"{name} {figures[-1]}"]


def _spread(wanted: Sequence[float], gap: float, top: float, bottom: float) -> list[float]:
    """Return positions that are at least a gap apart, as near to the wanted ones as possible, between top and bottom.

    The gap is reduced if there is too little room. With the gaps subtracted, the positions must not decrease, which is
    isotonic regression. It is solved by pooling adjacent violators.
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


def _place_legend(curves: Sequence[Curve], width: int) -> tuple[list[tuple[float, float, str]], int]:
    """Return position and name of each series, in as many rows as needed, and the total height."""
    items: list[tuple[float, float, str]] = []
    x, row = 0.0, 0
    for curve in curves:
        label = _fit_text(curve.name, min(240, width - 40))
        needed = 28 + _estimate_width(label) + 20
        if x and x + needed - 20 > width:
            x, row = 0.0, row + 1
        items.append((x, 10 + row * _LEGEND_ROW_HEIGHT, label))
        x += needed
    return items, (row + 1) * _LEGEND_ROW_HEIGHT + 8


def _description(curves: Sequence[Curve], axes: Axes) -> str:
    """Return the description of the chart for screen readers."""
    if not any(curve.points for curve in curves):
        return axes.nothing
    if not axes.harvest:
        ends = (f"{c.name}: {axes.value(c.end[1])} at {compact(c.end[0])}" for c in curves)
        return f"{axes.y} over {axes.x}. " + "; ".join(ends) + "."
    ends = (f"{c.name}: {c.end[1]:,} relevant of {c.end[0]:,} fetched ({percent(c.end[1], c.end[0])})" for c in curves)
    return "Relevant pages over pages fetched. " + "; ".join(ends) + "."


_WIDTHS = dict.fromkeys("iIjlftr.,:;|!'()[]/ ·-", 0.4) | dict.fromkeys("mwMW%@…", 1.0)


def _estimate_width(text: str, size: float = _FONT_SIZE, *, bold: bool = False) -> float:
    """Return an upper estimate of the width of a text, because the font is not known."""
    wide = sum(_WIDTHS.get(char) or (1.0 if unicodedata.east_asian_width(char) in "WF" else 0.65) for char in text)
    return size * wide * (1.1 if bold else 1.0)


def _fit_text(text: str, width: float, size: float = _FONT_SIZE, *, bold: bool = False) -> str:
    if _estimate_width(text[:_MAX_LABEL_LENGTH], size, bold=bold) <= width and len(text) <= _MAX_LABEL_LENGTH:
        return text
    text = text[:_MAX_LABEL_LENGTH]
    while text and _estimate_width(text + "…", size, bold=bold) > width:
        text = text[:-1]
    return text + "…"
