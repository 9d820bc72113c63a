"""Every study is drawn: by its own figures, else by one made of its points."""

from __future__ import annotations

from msgspec import structs

from proofstone.page.section import Mark
from proofstone.results.sections.parts import Analysis, drawn_figures, make_analysis


def analysis(*marks: Mark, y_axis: str = "accuracy") -> Analysis:
    return make_analysis(
        "made-up", "Made up", "", columns=(), rows=(), axes=("options", y_axis), marks=marks
    )


def point(series: str, x: float | str, y: float, half: float = 0.1) -> Mark:
    at = {"column": x} if isinstance(x, str) else {"x": x}
    return Mark(row=series, value=y, n=40, low=y - half, high=y + half, **at)


def test_numbers_across_are_lines_in_their_order() -> None:
    (figure,) = drawn_figures(analysis(point("a", 10.0, 0.2), point("a", 4.0, 0.6)))
    assert (figure.kind, figure.x_axis, figure.value_unit) == ("curves", "options", "points")
    assert [(mark.row, mark.x, mark.value, mark.n) for mark in figure.marks] == [
        ("a", 4.0, 0.6, 40),
        ("a", 10.0, 0.2, 40),
    ]


def test_names_are_rows_with_a_mark_for_each_series() -> None:
    (figure,) = drawn_figures(analysis(point("with", "lab/a", 0.6), point("without", "lab/a", 0.4)))
    assert figure.kind == "dumbbells"
    assert [(mark.row, mark.column) for mark in figure.marks] == [
        ("lab/a", "with"),
        ("lab/a", "without"),
    ]


def test_one_mark_a_name_is_a_dot_below_zero_too() -> None:
    (figure,) = drawn_figures(analysis(point("x", "lab/a", -0.2), point("y", "lab/b", 0.1)))
    assert figure.kind == "dots"
    assert [(mark.row, mark.column, mark.value) for mark in figure.marks] == [
        ("lab/a", "", -0.2),
        ("lab/b", "", 0.1),
    ]
    assert figure.value_axis == "accuracy, points"
    assert figure.subtitle == "accuracy; with 95% intervals"


def test_ranks_are_no_points_and_what_has_no_interval_claims_none() -> None:
    ranks = [Mark(row=name, column="lab/a", value=rank) for name, rank in (("a", 1), ("b", 3))]
    (figure,) = drawn_figures(analysis(*ranks, y_axis="rank"))
    assert (figure.value_unit, figure.value_axis, figure.subtitle) == ("number", "rank", "rank")


def test_more_rows_than_a_page_holds_are_cut_and_told() -> None:
    points = [point("a", f"lab/{n}", 0.5) for n in range(60)]
    (figure,) = drawn_figures(analysis(*points))
    assert len(figure.marks) == 40
    assert figure.subtitle.endswith("the first 40 of 60")


def test_own_figures_stay_and_nothing_is_drawn_of_nothing() -> None:
    assert drawn_figures(analysis()) == ()
    own = drawn_figures(analysis(point("a", 1.0, 0.5)))
    assert drawn_figures(structs.replace(analysis(point("b", "x", 0.1)), figures=own)) == own
