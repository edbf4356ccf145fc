"""Number formats and line charts."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from motherlode.crawler.report.plot import (
    CHART_STYLE,
    SERIES,
    Axes,
    Curve,
    _spread,
    compact,
    line_chart,
    percent,
    thin_out,
    ticks,
    write_svg,
)

COLOURS = CHART_STYLE.partition(".chart")[0]
SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "javascript:alert(1)",
    "]]></style><style>*{}",
    "&lt;b&gt; &amp; \x00\x0b\x1b \ud800 \uffff \u202e",
)


def drawn(*curves: Curve, width: int = 760, height: int = 360) -> ElementTree.Element:
    return ElementTree.fromstring(line_chart(curves, title="Harvest", width=width, height=height))


def texts(picture: ElementTree.Element) -> list[str]:
    return [node.text or "" for node in picture.iter(f"{SVG}text")]


def paths(picture: ElementTree.Element, kind: str) -> list[list[tuple[float, float]]]:
    """Return the points of all paths of a class."""
    found = []
    for node in picture.iter(f"{SVG}path"):
        if kind in node.get("class", "").split():
            numbers = [float(number) for number in re.findall(r"-?[\d.]+", node.get("d", ""))]
            found.append(list(zip(numbers[::2], numbers[1::2], strict=True)))
    return found


HALF = Curve(name="half", points=tuple((n, n // 2) for n in range(1, 101)))
TENTH = Curve(name="tenth", points=tuple((n, n // 10) for n in range(1, 101)))


class TestFigures:
    @given(st.integers(0, 10**15), st.integers(1, 12))
    def test_ticks_are_round_and_cover_the_maximum(self, most: int, count: int) -> None:
        found = ticks(most, count)
        step = found[1] - found[0]
        assert found[0] == 0
        assert found[-2] < max(1, most) <= found[-1]
        assert str(step).rstrip("0") in {"1", "2", "5"}
        assert len(found) <= count + 1
        assert {after - before for before, after in pairwise(found)} == {step}

    @given(st.integers(0, 10**21))
    def test_compact_numbers_are_short(self, number: int) -> None:
        assert len(compact(number)) <= 6

    @given(st.integers(10_000, 10**20))
    def test_compact_numbers_are_accurate(self, number: int) -> None:
        text = compact(number).replace(",", "")
        value = float(text[:-1]) * 10 ** (3 * (" kMGTPE".index(text[-1])))
        assert value == pytest.approx(number, rel=0.006)

    @pytest.mark.parametrize(
        ("part", "whole", "text"), [(0, 0, "0 %"), (1, 10**6, "< 0.1 %"), (999_999, 10**6, "> 99.9 %"), (2, 2, "100 %")]
    )
    def test_percent_is_not_rounded_to_0_or_100(self, part: int, whole: int, text: str) -> None:
        assert percent(part, whole) == text


class TestThinned:
    def test_thinned_curve_keeps_its_ends(self) -> None:
        points = [(n, n // 3) for n in range(1, 50_001)]
        found = thin_out(points, 400)
        assert len(found) == 401
        assert found[0] == (0, 0)
        assert found[-1] == points[-1]
        assert set(found[1:]) <= set(points)

    def test_thinned_curve_keeps_a_jump(self) -> None:
        points = [(n, 0 if n <= 5000 else 1000) for n in range(1, 10_001)]
        found = dict(thin_out(points, 100))
        assert found[5000] == 0
        assert found[5100] == 1000

    def test_short_curve_is_not_thinned(self) -> None:
        assert thin_out([(1, 0), (2, 1)], 400) == [(0, 0), (1, 0), (2, 1)]
        assert thin_out([(0, 0), (7, 3)], 400) == [(0, 0), (7, 3)]
        assert thin_out([], 400) == [(0, 0)]


class TestSpread:
    @given(st.lists(st.floats(0, 300), min_size=1, max_size=8))
    def test_spread_labels_do_not_overlap_and_keep_their_order(self, wanted: list[float]) -> None:
        placed = _spread(wanted, 30, 0, 300)
        ranked = sorted(placed)
        assert all(after - before >= 30 - 1e-6 for before, after in pairwise(ranked))
        assert ranked[0] >= -1e-6
        assert ranked[-1] <= 300 + 1e-6
        for first, here in enumerate(wanted):
            for second, there in enumerate(wanted):
                assert not (here < there and placed[first] > placed[second])

    def test_labels_with_room_are_not_moved(self) -> None:
        assert _spread([200, 20, 100], 30, 0, 300) == [200, 20, 100]

    def test_too_many_labels_share_the_room(self) -> None:
        assert _spread([5, 5, 5], 100, 0, 100) == pytest.approx([0, 50, 100])


class TestLineChart:
    def test_curve_runs_from_the_origin_to_its_end(self) -> None:
        picture = drawn(HALF)
        (line,) = paths(picture, "series")
        (axis,) = [
            node
            for node in picture.iter(f"{SVG}line")
            if node.get("class") == "axis" and node.get("y1") == node.get("y2")
        ]
        assert line[0] == pytest.approx((float(axis.get("x1", "")), float(axis.get("y1", ""))), abs=0.1)
        assert line[-1][0] == pytest.approx(float(axis.get("x2", "")), abs=0.1)
        assert line[-1][1] == min(y for _, y in line)

    def test_better_curve_is_above(self) -> None:
        better, worse = paths(drawn(HALF, TENTH), "series")
        assert better[-1][1] < worse[-1][1]

    def test_chart_labels_the_ends_of_curves(self) -> None:
        assert {"50", "50.0 %"} <= set(texts(drawn(HALF)))
        assert {"50 · 50.0 %", "10 · 10.0 %"} <= set(texts(drawn(HALF, TENTH)))

    def test_legend_is_drawn_for_several_curves(self) -> None:
        assert texts(drawn(HALF, TENTH, width=350)).count("tenth") == 1
        assert "half" not in texts(drawn(HALF))

    def test_chart_has_title_and_description(self) -> None:
        picture = drawn(HALF, TENTH)
        assert picture.get("role") == "img"
        ids = {node.get("id"): node.text or "" for node in picture.iter() if node.get("id")}
        title, description = (ids[name] for name in picture.get("aria-labelledby", "").split())
        assert title == "Harvest"
        assert "half: 50 relevant of 100 fetched (50.0 %)" in description
        assert "tenth: 10 relevant of 100 fetched (10.0 %)" in description

    def test_two_charts_have_different_ids(self) -> None:
        ids = [
            re.findall(r' id="([^"]*)"', line_chart([HALF], title="Harvest", name=name)) for name in ("wide", "narrow")
        ]
        assert all(ids)
        assert not set(ids[0]) & set(ids[1])

    @pytest.mark.parametrize("curves", [(), (Curve(name="empty"),), (Curve(name="zero", points=((0, 0),)),)])
    def test_empty_chart_has_a_message(self, curves: tuple[Curve, ...]) -> None:
        picture = drawn(*curves)
        assert texts(picture) == ["Nothing was fetched."]
        assert not paths(picture, "series")

    @pytest.mark.parametrize("point", [(1, 0), (1, 1), (7, 3)])
    def test_curve_of_one_point_is_drawn(self, point: tuple[int, int]) -> None:
        (line,) = paths(drawn(Curve(name="one", points=(point,))), "series")
        assert len(line) == 2
        assert line[0][0] < line[1][0]

    def test_curve_without_relevant_pages_is_on_the_axis(self) -> None:
        (line,) = paths(drawn(Curve(name="none", points=((50, 0), (100, 0)))), "series")
        assert len({y for _, y in line}) == 1

    def test_huge_numbers_stay_inside_the_chart(self) -> None:
        picture = drawn(Curve(name="huge", points=tuple((n * 10**15, n * 9 * 10**14) for n in range(1, 100))))
        (line,) = paths(picture, "series")
        assert all(0 <= x <= 760 and 0 <= y <= 360 for x, y in line)
        assert all(len(text) <= 14 for text in texts(picture))

    def test_chart_of_many_points_is_small(self) -> None:
        picture = line_chart([Curve(name="long", points=tuple((n, n // 2) for n in range(1, 100_001)))], title="Long")
        assert len(picture) < 16_000

    @pytest.mark.parametrize("width", [350, 860])
    @pytest.mark.parametrize("number", [2, 7, 24])
    def test_many_curves_have_separate_labels_and_dashes(self, number: int, width: int) -> None:
        picture = drawn(
            *(Curve(name=f"policy {n}", points=((100, 50 + n % 3),)) for n in range(number)), width=width, height=600
        )
        lines = [node for node in picture.iter(f"{SVG}path") if "series" in node.get("class", "").split()]
        assert len({(node.get("class"), node.get("stroke-dasharray")) for node in lines}) == number
        places = [(node.get("x"), node.get("y")) for node in picture.iter(f"{SVG}text")]
        assert len(set(places)) == len(places)
        assert all(0 <= float(y or "-1") <= 600 for _, y in places)

    @pytest.mark.parametrize("hostile", HOSTILE)
    def test_hostile_names_are_escaped(self, hostile: str) -> None:
        tame = line_chart([HALF, Curve(name="x", points=((9, 1),))], title="x")
        picture = line_chart([HALF, Curve(name=hostile, points=((9, 1),))], title=hostile)
        assert shape(picture) == shape(tame)

    @settings(max_examples=50, deadline=None)
    @given(st.text(st.characters(codec=None, categories=None), min_size=1, max_size=600))
    def test_any_name_is_escaped(self, name: str) -> None:
        tame = line_chart([HALF, Curve(name="x", points=((9, 1),))], title="x")
        assert shape(line_chart([HALF, Curve(name=name, points=((9, 1),))], title=name)) == shape(tame)

    def test_long_names_are_cut(self) -> None:
        picture = drawn(HALF, Curve(name="w" * 5000, points=((9, 1),)))
        assert max(len(text) for text in texts(picture)) < 60


def shape(picture: str) -> list[tuple[str, list[str]]]:
    """Return the elements with the names of their attributes."""
    return [(node.tag, sorted(node.attrib)) for node in ElementTree.fromstring(picture).iter()]


class TestWriteSvg:
    def test_svg_file_is_a_complete_document(self, tmp_path: Path) -> None:
        path = tmp_path / "harvest.svg"
        write_svg(path, (HALF, TENTH), "Half & tenth")
        picture = ElementTree.fromstring(path.read_text(encoding="utf-8"))
        assert picture.tag == f"{SVG}svg"
        assert picture.findtext(f"{SVG}title") == "Half & tenth"
        style = picture.findtext(f"{SVG}style") or ""
        assert "prefers-color-scheme: dark" in style
        assert "url(" not in style
        assert "@import" not in style
        assert not [node for node in picture.iter() if {"href", "src"} & set(node.attrib)]

    @pytest.mark.parametrize("hostile", HOSTILE)
    def test_svg_file_escapes_strings(self, tmp_path: Path, hostile: str) -> None:
        written = []
        for index, text in enumerate(("x", hostile)):
            path = tmp_path / f"{index}.svg"
            write_svg(path, (HALF, Curve(name=text, points=((9, 1),))), text)
            written.append(path.read_text(encoding="utf-8"))
        assert shape(written[0]) == shape(written[1])

    def test_svg_file_without_curves_has_a_message(self, tmp_path: Path) -> None:
        write_svg(tmp_path / "empty.svg", (), "Empty")
        assert "Nothing was fetched." in (tmp_path / "empty.svg").read_text(encoding="utf-8")


class TestColours:
    def test_used_colour_variables_are_defined_for_both_schemes(self) -> None:
        light, _, dark = COLOURS.partition("@media")
        used = set(re.findall(r"var\((--\w+)\)", CHART_STYLE))
        assert used >= {f"--s{n}" for n in range(SERIES)}
        assert used <= set(palette(light))
        assert set(palette(light)) == set(palette(dark))

    def test_lines_and_text_have_enough_contrast(self) -> None:
        for part in COLOURS.split("@media"):
            colours = palette(part)
            for ground in ("--page", "--surface"):
                assert all(contrast(colours[f"--s{n}"], colours[ground]) >= 3 for n in range(SERIES))
                assert contrast(colours["--ink"], colours[ground]) >= 7
                assert contrast(colours["--muted"], colours[ground]) >= 4.5


def palette(css: str) -> dict[str, str]:
    return dict(re.findall(r"(--\w+): (#[0-9a-f]{6})", css))


def contrast(one: str, other: str) -> float:
    """Return the contrast ratio by WCAG 2.2."""
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


class TestAxes:
    LOSS = Curve(name="loss", points=((10, -30), (20, 80)), band=((10, -45, -10), (20, 70, 95)))
    FOCUS = Axes(x="budget", y="focus", unit=" %")

    def drawn(self) -> ElementTree.Element:
        return ElementTree.fromstring(line_chart([self.LOSS], title="Focus", axes=self.FOCUS))

    def test_axes_have_names_and_units(self) -> None:
        assert {"budget", "focus", "80 %", "0 %"} <= set(texts(self.drawn()))
        assert any(text.startswith("−") for text in texts(self.drawn()))

    def test_negative_values_and_bands_stay_inside_the_chart(self) -> None:
        (line,) = paths(self.drawn(), "series")
        (band,) = paths(self.drawn(), "band")
        assert len(line) == 2  # the line does not start at the origin
        assert line[0][1] > line[1][1]
        assert all(0 <= y <= 360 - 46 for _, y in [*line, *band])
        assert min(y for _, y in band) < line[1][1]

    def test_empty_chart_has_the_message_of_its_axes(self) -> None:
        axes = Axes(x="x", y="y", nothing="No focus without an oracle.")
        assert "No focus without an oracle." in line_chart([], title="t", axes=axes)


def test_compact_on_examples_gives_expected_values() -> None:
    assert (compact(9999), compact(12_000), compact(1_250_000), compact(999_960), compact(3 * 10**13)) == (
        "9,999",
        "12k",
        "1.25M",
        "1M",
        "30T",
    )


def test_percent_on_examples_gives_expected_values() -> None:
    assert (percent(1, 3), percent(1, 1), percent(1, 99999), percent(99999, 100000), percent(0, 0)) == (
        "33.3 %",
        "100 %",
        "< 0.1 %",
        "> 99.9 %",
        "0 %",
    )


def test_ticks_on_examples_gives_expected_values() -> None:
    assert (ticks(1870, 4), ticks(3, 5), ticks(0, 5)) == ([0, 500, 1000, 1500, 2000], [0, 1, 2, 3], [0, 1])


def test_thin_out_on_examples_gives_expected_values() -> None:
    assert thin_out([(n, n // 2) for n in range(1, 1001)], 4) == [
        (0, 0),
        (250, 125),
        (500, 250),
        (750, 375),
        (1000, 500),
    ]


def test_spread_on_examples_gives_expected_values() -> None:
    assert (_spread([50, 52, 10], 10, 0, 60), _spread([50, 52, 10], 10, 0, 54)) == ([46.0, 56.0, 10], [44, 54, 10])
