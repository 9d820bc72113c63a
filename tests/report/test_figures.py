"""Figures as data: what they hold, that anything can be drawn, and that grey and few cones do."""

from __future__ import annotations

import ast
import json
import math
import re
from itertools import combinations, pairwise
from pathlib import Path

import pytest
from figures_made_up import CHINESE, LONG, NAN, broken, every_kind, figure, mark
from hypothesis import given
from hypothesis import strategies as st

import proofstone
from proofstone.errors import ExtraMissing
from proofstone.methods.bequ.report.sections import precision_recall_figure
from proofstone.page.figure import (
    can_draw,
    chart_of,
    described,
    draw,
    needed,
    numbers_table,
    vega_lite,
)
from proofstone.page.planes import log_ticks, padded_ends, round_ends
from proofstone.page.section import Curve, Figure, FigureKind, Level
from proofstone.page.text import fitted
from proofstone.page.vega import (
    INK,
    LOOKS,
    OTHER,
    QUIET,
    RAMP,
    Box,
    looks_of,
    place_labels,
    spread,
    text_width,
    wrapped,
)

FEW = ["a", "b", "c"]
drawn = pytest.mark.skipif(not can_draw(), reason="the extra [figures] is not installed")


def rows_of(spec: object) -> list[dict[str, object]]:
    assert isinstance(spec, dict)
    return [row for rows in spec["datasets"].values() for row in rows]


# ------------------------------------------------------------ what a specification holds


def test_a_specification_holds_the_numbers_as_the_axis_counts_them() -> None:
    """0.621 of a share is 62.1 points; the interval and n stand beside it."""
    one = mark("m", value=0.621, text="62.1 [57.1, 67.1]")
    (row,) = [row for row in rows_of(vega_lite(figure("dots", [one]))) if "n" in row]
    assert (row["value"], row["low"], row["high"], row["n"]) == (62.1, 57.1, 67.1, 100)
    assert row["text"] == "62.1 [57.1, 67.1]"


@pytest.mark.parametrize("plain", list(every_kind(FEW)), ids=lambda f: f"{f.kind}-{len(f.marks)}")
def test_every_kind_is_vega_lite_without_numbers_that_are_none(plain: Figure) -> None:
    """As JSON, strictly; Altair's schema takes it."""
    spec = vega_lite(plain, FEW, is_titled=True)
    assert json.loads(json.dumps(spec, allow_nan=False)) == spec
    assert spec["description"] == described(plain)
    if can_draw():
        chart_of(plain, FEW)


def test_the_level_of_chance_is_a_line_with_its_text() -> None:
    (dots, *_) = every_kind(FEW)
    lines = [row for row in rows_of(vega_lite(dots)) if "level" in row]
    assert [(row["level"], row["text"]) for row in lines] == [
        (25.0, "chance 25.0"),
        (70.0, "people 70.0"),
    ]


def test_a_model_looks_the_same_in_every_figure_of_a_page() -> None:
    """By its place on the page, also where a figure has it at another, or alone."""
    seen = set()
    for models in (["b", "a"], ["a"], ["c", "b", "a"]):
        spec = vega_lite(figure("dots", [mark(m, value=0.5) for m in models]), ["c", "a", "b"])
        seen |= {(row["colour"], row["shape"]) for row in rows_of(spec) if row.get("row") == "a"}
    assert seen == {(LOOKS[1].colour, LOOKS[1].shape)}


def test_seven_series_get_panels_and_six_are_named_at_their_ends() -> None:
    def curves(n: int) -> Figure:
        steps = [(f"m{i}", i, x) for i in range(n) for x in (1.0, 2.0)]
        return figure("curves", [mark(a, value=0.3 + i / 20, x=x) for a, i, x in steps])

    assert len(vega_lite(curves(7))["concat"]) == 7
    ends = [row for row in rows_of(vega_lite(curves(6))) if "to" in row]
    assert [row["series"] for row in ends] == [f"m{i}" for i in range(6)]
    heights = sorted(float(str(row["up"])) for row in ends)
    assert all(b - a >= 15 - 1e-9 for a, b in pairwise(heights))


def test_iso_lines_are_where_f_is_the_same() -> None:
    for beta in (1.0, 0.5):
        for curve in precision_recall_figure([], beta=beta).curves:
            level = float(curve.text.split("= ")[1])
            for r, p in zip(curve.x, curve.values, strict=True):
                f = (1 + beta**2) * p * r / (beta**2 * p + r)
                assert f == pytest.approx(level, abs=1e-9)
                assert 0 < p <= 1


# ------------------------------------------------------------ words and numbers beside it


def test_a_figure_is_told_in_words() -> None:
    (dots, *_) = every_kind(FEW)
    assert described(dots) == (
        "Dots with intervals: Accuracy by model; 1,000 items; 3 rows; from 20.0 (a) to 52.3 (b); "
        "line at chance 25.0; line at people 70.0."
    )
    assert described(figure("heat", [mark("a", value=NAN)])).endswith("no value is known.")


def test_the_numbers_of_a_figure_are_a_table() -> None:
    """Columns that would be empty are left out."""
    table = numbers_table(figure("points", [mark("a", value=0.5, x=3.0)], x_unit="number"))
    assert [column.key for column in table.columns] == ["row", "x", "value", "low", "high", "n"]
    assert table.rows == (("a", 3.0, 0.5, 0.45, 0.55, 100),)


# ------------------------------------------------------------ drawing


@drawn
@pytest.mark.parametrize("names", [FEW, ["only"], CHINESE], ids=["few", "one", "chinese"])
def test_everything_is_drawn_the_same_twice(names: list[str]) -> None:
    for plain in every_kind(names):
        svg = draw(plain, names)
        assert svg.startswith("<svg")
        assert draw(plain, names) == svg
        assert "NaN" not in svg
        assert "undefined" not in svg


@drawn
def test_what_is_empty_unknown_or_all_alike_is_drawn() -> None:
    for plain in every_kind(FEW):
        for case in broken(plain):
            svg = draw(case, FEW)
            assert svg.startswith("<svg")
            assert "NaN" not in svg


@drawn
def test_long_names_are_not_cut() -> None:
    """All of a long name stands in the figure, in several lines where it is too long for one."""
    for plain in every_kind(LONG[:9]):
        if plain.kind not in {"matrix", "curves", "points", "strips"}:
            svg = draw(plain, LONG[:9])
            assert "…" not in svg
            for word in ("organisation-8/very-long-", "reasoning high"):
                assert word in svg, plain.kind


@drawn
def test_names_are_text_whatever_they_hold() -> None:
    hostile = ["<script>alert(1)</script>", 'a"b&c', "line\nbreak\u202e", "datum.value"]
    for plain in every_kind(hostile):
        svg = draw(plain, hostile)
        assert "<script" not in svg
        assert "\u202e" not in svg


def test_what_is_missing_is_named_with_what_to_install() -> None:
    with pytest.raises(ExtraMissing) as raised:
        needed("a_module_that_nobody_has")
    assert raised.value.hint == "pip install 'proofstone[figures]'"


# ------------------------------------------------------------ colours


def linear(channel: int) -> float:
    part = channel / 255
    return part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4


def rgb(colour: str) -> tuple[float, float, float]:
    red, green, blue = (linear(int(colour[at : at + 2], 16)) for at in (1, 3, 5))
    return red, green, blue


def luminance(colour: str) -> float:
    """Relative luminance (WCAG 2.2)."""
    red, green, blue = rgb(colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def on_white(colour: str) -> float:
    """Contrast against white, from 1 to 21."""
    return 1.05 / (luminance(colour) + 0.05)


def lightness(colour: str) -> float:
    """L* of CIE 1976, 0 to 100."""
    y = luminance(colour)
    return 116 * y ** (1 / 3) - 16 if y > 216 / 24389 else y * 24389 / 27


def test_text_reads_on_white() -> None:
    assert min(on_white(INK), on_white(QUIET)) >= 4.5


def test_lines_and_marks_are_seen_on_white() -> None:
    """3:1 (WCAG 1.4.11), but the sixth, whose marks have a dark edge and whose line is dashed."""
    assert [on_white(look.colour) >= 3.0 for look in (*LOOKS, OTHER)] == [True] * 5 + [False, True]


def test_series_are_told_apart_without_colour() -> None:
    """By shape and by dashes, all of them; neighbours by lightness in grey as well."""
    assert len({look.shape for look in LOOKS}) == len({look.dash for look in LOOKS}) == len(LOOKS)
    grey = [lightness(look.colour) for look in LOOKS]
    assert all(abs(a - b) >= 3 for a, b in combinations(grey, 2))
    assert all(abs(a - b) >= 8 for a, b in combinations(grey[:3], 2))


# Linear RGB as a reader without one kind of cones has it (Machado, Oliveira and Fernandes 2009,
# severity 1).
CONES = {
    "protan": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216),
               (-0.003882, -0.048116, 1.051998)),
    "deutan": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413),
               (-0.011820, 0.042940, 0.968881)),
    "tritan": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602),
               (0.004733, 0.691367, 0.303900)),
}  # fmt: skip


def lab(linear_rgb: tuple[float, ...]) -> tuple[float, float, float]:
    """L*a*b* of linear sRGB at D65."""
    matrix = ((0.4124, 0.3576, 0.1805), (0.2126, 0.7152, 0.0722), (0.0193, 0.1192, 0.9505))
    white = (0.9505, 1.0, 1.089)
    parts = [
        sum(m * max(c, 0.0) for m, c in zip(row, linear_rgb, strict=True)) / w
        for row, w in zip(matrix, white, strict=True)
    ]
    x, y, z = (p ** (1 / 3) if p > 216 / 24389 else (p * 24389 / 27 + 16) / 116 for p in parts)
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


@pytest.mark.parametrize("kind", CONES)
def test_series_are_told_apart_by_readers_without_one_kind_of_cones(kind: str) -> None:
    """Any two are 10 or more apart in L*a*b*; about 2 is what can just be seen."""
    seen = [
        lab(tuple(sum(m * c for m, c in zip(row, rgb(look.colour), strict=True))
                  for row in CONES[kind]))
        for look in LOOKS
    ]  # fmt: skip
    assert min(math.dist(a, b) for a, b in combinations(seen, 2)) >= 10


def test_the_ramp_of_magnitudes_falls_in_grey() -> None:
    steps = [lightness(colour) for colour in RAMP]
    assert steps == sorted(steps, reverse=True)
    assert min(a - b for a, b in pairwise(steps)) >= 8


# ------------------------------------------------------------ places


@given(st.lists(st.floats(0, 300), max_size=18), st.floats(5, 15))
def test_labels_in_a_column_are_apart_and_in_order(wanted: list[float], gap: float) -> None:
    found = spread(wanted, gap, (0, 300))
    order = sorted(range(len(wanted)), key=lambda place: wanted[place])
    places = [found[place] for place in order]
    assert all(b - a >= gap - 1e-6 for a, b in pairwise(places))
    if gap * len(wanted) <= 300:
        assert all(-1e-6 <= place <= 300 + 1e-6 for place in places)


@given(st.lists(st.tuples(st.floats(0, 460), st.floats(0, 300)), max_size=25))
def test_labels_of_points_cover_no_point_and_no_other(points: list[tuple[float, float]]) -> None:
    texts = [f"model-{place}" for place in range(len(points))]
    found = place_labels(points, texts, width=540, height=300)
    boxes = [
        Box(at.x, at.y - 6, at.x + text_width(text, 11), at.y + 6)
        for at, text in zip(found, texts, strict=True)
    ]
    assert not any(a.meets(b) for a, b in combinations(boxes, 2))
    assert not any(
        box.left < x < box.right and box.top < y < box.bottom for box in boxes for x, y in points
    )


@given(st.lists(st.floats(-1e6, 1e6), min_size=1))
def test_an_axis_holds_all_values_between_round_ends(values: list[float]) -> None:
    low, high = round_ends(values)
    room = 1e-6 * max(abs(low), abs(high), 1)
    assert low - room <= min(values) <= max(values) <= high + room
    assert low < high


@given(st.lists(st.floats(1e-9, 1e9), min_size=1))
def test_a_logarithmic_axis_has_some_ticks_within_its_ends(values: list[float]) -> None:
    ends = padded_ends(values)
    ticks = log_ticks(ends, 7)
    assert ends[1] / ends[0] >= 2 - 1e-9
    assert 1 <= len(ticks) <= 7
    assert all(ends[0] <= tick <= ends[1] for tick in ticks)


@given(st.text(min_size=1))
def test_a_name_in_lines_loses_nothing_but_spaces(name: str) -> None:
    lines = wrapped(name, 20)
    kept = "".join(lines.split())
    assert kept.startswith("".join(wrapped(name, 10_000).split())[:5])
    assert len(kept) == len("".join(wrapped(name, 10_000).split()))


def test_six_names_have_looks_of_their_own_and_more_are_grey() -> None:
    looks = looks_of([*"abcdefg", "a"])
    assert len(set(looks.values())) == 7
    assert looks["g"] == OTHER


def test_a_curve_and_a_level_may_be_unknown() -> None:
    unknown = figure(
        "points",
        [mark("a", value=0.5, x=1.0)],
        curves=(Curve(row="a", x=(NAN,), values=(NAN,)),),
        levels=(Level(value=NAN, text="chance"),),
    )
    assert all(row.get("level", 0) is not None for row in rows_of(vega_lite(unknown)))


def test_a_name_of_any_length_is_broken_in_one_pass() -> None:
    """A file's author chooses the names: twenty times as long may not take 400 times as long."""
    lines = wrapped("a" * 20_000, 20).split("\n")
    assert (len(lines), set(map(len, lines))) == (20_000 // 20, {20})


def test_a_name_of_any_length_is_cut_in_one_pass() -> None:
    """Its end stays."""
    assert fitted("a" * 40_000 + "end", 10) == "\N{HORIZONTAL ELLIPSIS}" + "a" * 6 + "end"


def test_every_figure_names_its_axes() -> None:
    """Wherever the package makes one; a map's positions have neither unit nor meaning."""
    source = Path(proofstone.__file__).parent
    made = [
        (f"{path.name}:{call.lineno}", {each.arg: each.value for each in call.keywords})
        for path in source.rglob("*.py")
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "Figure"
    ]
    kinds = {where: getattr(named["kind"], "value", "") for where, named in made}
    assert len(made) > 20
    assert [where for where, kind in kinds.items() if kind == "map"]
    for where, named in made:
        if kinds[where] == "map":
            continue
        assert "value_axis" in named, where
        if kinds[where] in ("points", "curves", "calibration"):
            assert "x_axis" in named, where


@pytest.mark.parametrize("value", [0.0, 1e-18, 0.0004])
@pytest.mark.parametrize("kind", ["heat", "matrix"])
def test_the_ends_of_a_legend_are_never_printed_alike(kind: FigureKind, value: float) -> None:
    """Also where all values are equal, up to the rounding of differences."""
    spec = vega_lite(figure(kind, [mark("a", x, value=value, text="0.0") for x in "bc"]), ["a"])
    (ends,) = re.findall(r'"domain": \[([^"\]]*)\]', json.dumps(spec))
    low, high = (f"{float(end):.1f}" for end in ends.split(","))
    assert low != high
