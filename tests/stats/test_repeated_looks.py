"""Looking again at a pair does not make a run at the limit pass more often."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import norm

from proofstone.stats.intervals import error_of_looks, look_confidence

LIMIT = 0.02
# Ten looks: equal steps, and each twice the one before.
EVERY = [300 * step for step in range(1, 11)]
DOUBLED = [150 * 2**step for step in range(6)]


def passed(
    looks: list[int], *, sequential: bool, worlds: int, up: float = 0.05, seed: int = 11
) -> tuple[float, float]:
    """The shares of runs exactly at the limit that pass at the first look and at any of them."""
    rng = np.random.default_rng(seed)
    first = ever = 0
    for _ in range(worlds // 500):
        draws = rng.random((500, looks[-1]), dtype=np.float32)
        steps = np.where(draws < up, 1, np.where(draws < 2 * up + LIMIT, -1, 0)).astype(np.int8)
        good = np.zeros(500, dtype=bool)
        for place, n in enumerate(looks):
            level = look_confidence(0.95, n, looks[:place]) if sequential else 0.95
            seen: NDArray[np.int8] = steps[:, :n]
            half = norm.isf((1 - level) / 2) * seen.std(axis=1, ddof=1) / math.sqrt(n)
            good |= seen.mean(axis=1) - half > -LIMIT
            first += int(good.sum()) if place == 0 else 0
        ever += int(good.sum())
    return first / worlds, ever / worlds


def test_ten_looks_err_no_more_often_than_one() -> None:
    """Of 4,000 runs at the limit: repeated 95% intervals pass about one in ten, these at most 2.5%
    (three standard errors of 4,000 worlds are 0.74 points)."""
    assert passed(EVERY, sequential=False, worlds=4000)[1] > 0.07
    first, ever = passed(EVERY, sequential=True, worlds=4000)
    assert first <= 0.02 + 0.0074
    assert ever <= 0.025 + 0.0074


@pytest.mark.slow
@pytest.mark.parametrize("looks", [EVERY, DOUBLED], ids=["every 300", "doubled"])
def test_the_error_over_all_looks(looks: list[int]) -> None:
    """20,000 runs at the limit; docs/explanation/power.md has the figures."""
    fixed, sequential = (
        passed(looks, sequential=each, worlds=20_000, seed=5)[1] for each in (False, True)
    )
    assert fixed > 0.08
    assert sequential <= 0.025 + 3 * math.sqrt(0.025 * 0.975 / 20_000)


def test_levels_of_looks() -> None:
    """The first has four fifths of the error; later ones are wider, more so the longer it goes."""
    assert look_confidence(0.95, 300) == pytest.approx(0.96)
    later = [look_confidence(0.95, n, [300]) for n in (301, 600, 3_000, 300_000)]
    assert all(0.99 < level < 1 for level in later)
    assert later[1] < later[2] < later[3]
    assert look_confidence(0.99, 600, [300]) > look_confidence(0.95, 600, [300])
    assert error_of_looks(0.95) == pytest.approx(0.05)
    assert error_of_looks(0.95, after_single=True) == pytest.approx(0.06)


def test_the_sequence_is_the_mixture_of_normals() -> None:
    """A second computation: at its bound the mixture of likelihood ratios, integrated by quadrature
    over a normal prior of the drift, is one over the error."""
    n, first, error = 900, 300, 0.01
    level = look_confidence(0.95, n, [first])
    z = float(norm.isf((1 - level) / 2))
    best = 2 * math.log(1 / error)
    for _ in range(50):  # the minimum of its width, by fixed point
        best = 2 * math.log(1 / error) + math.log1p(best)
    variance = best / (2 * first)  # of the drift, in units of one item's standard deviation
    drift = np.linspace(-8, 8, 200_001) * math.sqrt(variance)
    ratio = np.exp(drift * z * math.sqrt(n) - n * drift**2 / 2)
    density = np.exp(-(drift**2) / (2 * variance)) / math.sqrt(2 * math.pi * variance)
    assert float(np.trapezoid(ratio * density, drift)) == pytest.approx(1 / error, rel=1e-4)
