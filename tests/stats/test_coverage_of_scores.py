"""How often the 95% intervals of graded scores, extreme accuracies and questions over few
statements contain the truth.

`python tests/stats/test_coverage_of_scores.py` prints the table of docs/explanation/intervals.md.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats as laws

from proofstone.records.runs import Estimate
from proofstone.stats.clusters import SharedKeys
from proofstone.stats.estimates import mean_estimates
from proofstone.stats.intervals import equal_weights, wilson

Floats = NDArray[np.float64]
Sampler = Callable[[np.random.Generator, tuple[int, int]], Floats]


@dataclass(frozen=True)
class Law:
    """A distribution of scores in [0, 1] with its true ``mean``."""

    mean: float
    sample: Sampler


def beta(a: float, b: float) -> Law:
    return Law(a / (a + b), lambda rng, shape: rng.beta(a, b, shape))


def levels(values: tuple[float, ...], shares: tuple[float, ...]) -> Law:
    mean = float(np.dot(values, shares))
    return Law(mean, lambda rng, shape: rng.choice(values, size=shape, p=shares))


def zeros(share: float, other: Law) -> Law:
    """``share`` zeros, the rest drawn from ``other``."""
    return Law(
        (1 - share) * other.mean,
        lambda rng, shape: np.where(rng.random(shape) < share, 0.0, other.sample(rng, shape)),
    )


NARROW = Law(0.5, lambda rng, shape: np.clip(rng.normal(0.5, 0.03, shape), 0, 1))
RUBRIC = levels((0.0, 0.25, 0.5, 0.75, 1.0), (0.10, 0.15, 0.30, 0.25, 0.20))
F1_PER_ITEM = Law(
    0.3 * 0 + 0.2 * 1 + 0.5 * 0.6,
    lambda rng, shape: np.choose(
        np.searchsorted([0.3, 0.5], rng.random(shape)),
        [np.zeros(shape), np.ones(shape), rng.beta(3, 2, shape)],
    ),
)
CUBED = Law(1 / 4, lambda rng, shape: rng.random(shape) ** 3)

GRID: dict[str, tuple[Law, tuple[int, ...]]] = {
    "Beta(.3, 2)": (beta(0.3, 2), (50, 200)),
    "N(.5, .03)": (NARROW, (20, 60)),
    "Beta(.5, .5)": (beta(0.5, 0.5), (20, 50)),
    "Beta(5, 1)": (beta(5, 1), (50, 200)),
    "rubric of 5 levels": (RUBRIC, (20, 50)),
    "judge: 0, 1/2, 1 at 20, 10, 70%": (levels((0.0, 0.5, 1.0), (0.2, 0.1, 0.7)), (50, 200)),
    "F1 per item: 30% 0, 20% 1, Beta(3, 2)": (F1_PER_ITEM, (50, 200)),
    "50% zeros, Beta(2, 2)": (zeros(0.5, beta(2, 2)), (50, 200)),
    "80% zeros, Beta(2, 2)": (zeros(0.8, beta(2, 2)), (50, 200)),
    "90% zeros, Beta(2, 2)": (zeros(0.9, beta(2, 2)), (50, 200)),
    "95% zeros, Beta(2, 2)": (zeros(0.95, beta(2, 2)), (50, 200)),
    "95% zeros, cubes of uniforms": (zeros(0.95, CUBED), (50, 200)),
    "98% zeros, 1/4, 1/2 or 1": (
        zeros(0.98, levels((0.25, 0.5, 1.0), (1 / 3, 1 / 3, 1 / 3))),
        (50, 200),
    ),
    "95% at 1/2, 5% at 1": (levels((0.5, 1.0), (0.95, 0.05)), (50,)),
}


@dataclass(frozen=True)
class Coverage:
    """Shares of trials, and the mean width: ``before`` is Wilson's interval with a size capped at
    n, ``by_t`` Student's t."""

    before: float
    by_t: float
    now: float
    flagged: float
    width_before: float
    width: float


def holds(low: Floats, high: Floats, truth: float) -> float:
    return float(((low <= truth) & (truth <= high)).mean())


def covered(law: Law, n: int, trials: int, seed: int = 0) -> Coverage:
    values = law.sample(np.random.default_rng([seed, n]), (n, trials))
    found = intervals(values)
    low, high = (np.array([getattr(each, end) for each in found]) for end in ("low", "high"))
    mean, variance = values.mean(axis=0), values.var(axis=0, ddof=1) / n
    t = float(laws.t.ppf(0.975, n - 1))
    unbounded = n / (n - 1) * mean * (1 - mean) / np.maximum(variance, 1e-12)
    old = wilson(mean, np.where(variance > 1e-12, np.minimum(unbounded, n), n), t)
    half = t * np.sqrt(variance)
    return Coverage(
        before=holds(*old, law.mean),
        by_t=holds(mean - half, mean + half, law.mean),
        now=holds(low, high, law.mean),
        flagged=float(
            np.mean([bool({"few-values", "no-spread"} & set(each.flags)) for each in found])
        ),
        width_before=float((old[1] - old[0]).mean()),
        width=float((high - low).mean()),
    )


def intervals(values: Floats) -> tuple[Estimate, ...]:
    n = len(values)
    return mean_estimates(values, equal_weights(n), SharedKeys.none(n), population="bank")


@pytest.mark.parametrize(("name", "n"), [("Beta(.3, 2)", 50), ("N(.5, .03)", 60)])
def test_graded_scores_are_covered_at_their_level(name: str, n: int) -> None:
    """With the effective size capped at n these intervals covered 100%, of up to 15 times the
    width of a t interval."""
    law, _ = GRID[name]
    found = covered(law, n, 4_000)
    assert found.before > 0.995
    assert 0.94 <= found.now <= 0.96
    assert found.width < 0.6 * found.width_before


def test_a_narrow_score_has_the_width_of_a_t_interval() -> None:
    """60 scores of N(.5, .03): 2 t s / sqrt(60) = 1.6 points, not 25."""
    values = NARROW.sample(np.random.default_rng(1), (60, 1))
    (found,) = intervals(values)
    expected = 2 * float(laws.t.ppf(0.975, 59)) * float(values.std(ddof=1)) / 60**0.5
    assert found.high - found.low == pytest.approx(expected, rel=1e-3)
    assert found.made_by == "Wilson-type t interval on 59.0 degrees"
    assert found.effective_n == pytest.approx(60)
    assert found.flags == ()


def test_few_values_above_zero_have_a_conservative_interval_and_a_flag() -> None:
    """95% zeros at n = 50: t covers about 80%."""
    found = covered(GRID["95% zeros, Beta(2, 2)"][0], 50, 4_000)
    assert found.by_t < 0.85
    assert found.now >= 0.95
    assert found.flagged > 0.9
    values = np.zeros((50, 2))
    values[:2, 0], values[:2, 1] = (0.4, 0.7), 1.0
    graded, binary = intervals(values)
    assert graded.flags == ("few-values",)
    assert graded.made_by == "Clopper-Pearson for graded scores"
    assert binary.flags == ()


@pytest.mark.slow
@pytest.mark.parametrize("name", GRID)
def test_the_listed_grid_is_covered(name: str) -> None:
    """Where scores suffice for t, 93.5 to 96.5%; where few differ from the rest, at least 95%."""
    law, sizes = GRID[name]
    for n in sizes:
        found = covered(law, n, 10_000)
        if found.flagged < 0.05:
            assert 0.935 <= found.now <= 0.965, (n, found)
        else:
            assert found.now >= 0.94, (n, found)
        if found.flagged > 0.9:
            assert found.now >= 0.95, (n, found)


def binary_coverage(n: int, p: float) -> tuple[float, float]:
    """The exact coverage of an accuracy of ``p``: plain Wilson's, and ours."""
    right = np.arange(n + 1)
    values = (np.arange(n)[:, None] < right).astype(float)
    found = intervals(values)
    chance = laws.binom.pmf(right, n, p)
    old = wilson(right / n, np.full(n + 1, float(n)), float(laws.norm.ppf(0.975)))
    ours = np.array([each.low <= p <= each.high for each in found])
    return float(chance[(old[0] <= p) & (p <= old[1])].sum()), float(chance[ours].sum())


@pytest.mark.parametrize(("p", "n", "plain"), [(0.99, 50, 0.911), (0.999, 100, 0.905)])
def test_extreme_accuracies_are_covered(p: float, n: int, plain: float) -> None:
    before, now = binary_coverage(n, p)
    assert before == pytest.approx(plain, abs=0.001)
    assert now >= 0.95
    assert binary_coverage(n, 1 - p)[1] == pytest.approx(now)


def test_no_accuracy_is_covered_much_less_than_stated() -> None:
    """Plain Wilson falls to 84% between the accuracies of a small form."""
    accuracies = np.geomspace(0.0005, 0.5, 150)
    found = np.array([binary_coverage(50, float(p)) for p in accuracies])
    assert found[:, 0].min() < 0.86
    assert found[:, 1].min() >= 0.925


def composed_coverage(
    n: int, n_statements: int, sd: float, *, banks: int, models: int
) -> tuple[float, float, list[Estimate]]:
    """Coverage and width over fresh banks of statements: nine of them a question."""
    rng, held = np.random.default_rng([n, n_statements]), []
    every = 0.5 + sd * rng.standard_normal(400_000)
    truth = float((1 / (1 + np.exp(-every))).mean())
    widths, last = [], []
    for _ in range(banks):
        facts = rng.random((n, n_statements)).argpartition(9, axis=1)[:, :9]
        keys = SharedKeys(n, np.repeat(np.arange(n), 9), facts.ravel().astype(np.int64))
        ease = sd / 3 * rng.standard_normal((n_statements, models))
        right = rng.random((n, models)) < 1 / (1 + np.exp(-0.5 - ease[facts].sum(axis=1)))
        last = list(
            mean_estimates(right.astype(float), equal_weights(n), keys, population="domain")
        )
        held += [each.low <= truth <= each.high for each in last]
        widths += [each.high - each.low for each in last]
    return float(np.mean(held)), float(np.mean(widths)), last


def test_questions_over_few_statements_have_an_interval_that_holds() -> None:
    """300 questions of nine out of 100 statements: 58% of all pairs share one, so 1.7 groups; the
    interval was all of [0, 1], beside an effective size of 45."""
    held, width, last = composed_coverage(300, 100, 1.5, banks=12, models=60)
    assert held >= 0.92
    assert width < 0.40
    assert all("one-group" not in each.flags for each in last)
    assert all("effective size" in each.made_by for each in last)


@pytest.mark.slow
@pytest.mark.parametrize("n_statements", [30, 60, 100, 200])
@pytest.mark.parametrize("sd", [0.0, 0.7, 1.5])
def test_questions_over_few_statements_hold_the_truth(n_statements: int, sd: float) -> None:
    held, _width, _last = composed_coverage(300, n_statements, sd, banks=25, models=40)
    assert held >= 0.93


def test_one_source_of_all_questions_has_no_interval_and_no_effective_size() -> None:
    """Nothing says how sources vary: 200 questions count as one."""
    n = 200
    keys = SharedKeys(n, np.repeat(np.arange(n), 2), np.column_stack(
        [np.zeros(n, dtype=np.int64), 1 + np.arange(n) // 2]).ravel())  # fmt: skip
    right = (np.arange(n) % 3 == 0).astype(float)[:, None]
    (found,) = mean_estimates(right, equal_weights(n), keys, population="domain")
    assert (found.low, found.high, found.made_by) == (0.0, 1.0, "none")
    assert "one-group" in found.flags
    assert found.effective_n < 2


if __name__ == "__main__":
    print("| scores | n | before | t | now | flagged | width before | width now |")  # noqa: T201
    print("|---|---|---|---|---|---|---|---|")  # noqa: T201
    for name, (law, sizes) in GRID.items():
        for n in sizes:
            found = covered(law, n, 10_000)
            shares = (found.before, found.by_t, found.now, found.flagged)
            cells = [*(f"{100 * each:.1f}" for each in shares)]
            cells += [f"{100 * found.width_before:.1f}", f"{100 * found.width:.1f}"]
            print(f"| {name} | {n} | {' | '.join(cells)} |")  # noqa: T201
