"""Lines of figures end at the edges of their plane."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofstone.page.vega import clipped

SQUARE = (0.0, 1.0)
_COORDINATES = st.tuples(st.floats(-3, 3), st.floats(-3, 3))


@pytest.mark.parametrize(
    ("points", "runs"),
    [
        ([(0.2, 0.2), (0.8, 0.8)], [[(0.2, 0.2), (0.8, 0.8)]]),
        ([(-1.0, 0.5), (2.0, 0.5)], [[(0.0, 0.5), (1.0, 0.5)]]),
        ([(0.5, -1.0), (0.5, 0.5), (2.0, 0.5)], [[(0.5, 0.0), (0.5, 0.5), (1.0, 0.5)]]),
        # Out at the right and in again: two lines.
        (
            [(0.5, 0.2), (1.5, 0.2), (1.5, 0.8), (0.5, 0.8)],
            [[(0.5, 0.2), (1.0, 0.2)], [(1.0, 0.8), (0.5, 0.8)]],
        ),
        ([(2.0, 2.0), (3.0, 3.0)], []),
        ([(-1.0, 2.0), (2.0, 2.0)], []),
        ([(0.5, 0.5)], []),
        ([], []),
    ],
)
def test_what_lies_outside_is_cut_off(
    points: list[tuple[float, float]], runs: list[list[tuple[float, float]]]
) -> None:
    assert clipped(points, SQUARE, SQUARE) == [
        [pytest.approx(point) for point in run] for run in runs
    ]


@given(st.lists(_COORDINATES, max_size=8))
def test_nothing_that_is_left_lies_outside(points: list[tuple[float, float]]) -> None:
    for run in clipped(points, SQUARE, SQUARE):
        assert len(run) >= 2
        assert all(-1e-9 <= number <= 1 + 1e-9 for point in run for number in point)
