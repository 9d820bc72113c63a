"""Coverage of intervals of a disattenuated correlation near a correlation of 1.

Two benchmarks of 200 items each, on models with correlated skills. The truth is the correlation of
the means over infinitely many items of the same two kinds. Intervals over items refer to these
models, intervals over models to infinitely many.

    python bench/disattenuation.py [PAIRS]
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import product

import numpy as np
from numpy.typing import NDArray

from proofstone.stats.clusters import SharedKeys
from proofstone.stats.estimates import bootstrap_means
from proofstone.stats.factors import disattenuate

Floats = NDArray[np.float64]

N_ITEMS, N_RESAMPLES, N_EASE = 200, 300, 1_000
CORRELATIONS = (0.9, 0.98, 1.0)
SPREADS = (0.6, 0.2)  # of skills, in logits: reliabilities of about 0.9 and 0.45
MODELS = (10, 30)


def means_of(skills: Floats, ease: Floats) -> Floats:
    """Return each model's share of correct items at these levels of ease."""
    return np.asarray((1 / (1 + np.exp(-ease[:, None] - skills))).mean(axis=0))


def skills_of(
    m: int, spread: float, correlation: float, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Return the skills of m models on both benchmarks, in logits."""
    own, new = rng.normal(0, spread, (2, m))
    return own, correlation * own + np.sqrt(1 - correlation**2) * new


def true_correlation(own: Floats, other: Floats, ease: Floats) -> float:
    return float(np.corrcoef(means_of(own, ease), means_of(other, ease))[0, 1])


def answers(skills: Floats, rng: np.random.Generator) -> Floats:
    ease = rng.normal(size=(N_ITEMS, 1))
    chance = 1 / (1 + np.exp(-ease - skills))
    return np.asarray((rng.random(chance.shape) < chance).astype(np.float64))


def held(m: int, spread: float, correlation: float, n_pairs: int) -> Iterator[tuple[float, ...]]:
    """Yield for each pair of benchmarks: coverage over models and items, error, and reliability.

    Reliability is that of the first benchmark.
    """
    none = np.empty(0, dtype=np.int64)
    keys = SharedKeys(N_ITEMS, none, none)
    ease = np.random.default_rng(17).normal(size=N_EASE)
    of_all = true_correlation(
        *skills_of(20_000, spread, correlation, np.random.default_rng(18)), ease
    )
    for seed in range(n_pairs):
        rng = np.random.default_rng([m, seed])
        own, other = skills_of(m, spread, correlation, rng)
        truth = true_correlation(own, other, ease)
        both = [
            bootstrap_means(
                answers(skills, rng), keys, n_resamples=N_RESAMPLES, seed=seed, stream=k
            )
            for k, skills in enumerate((own, other))
        ]
        found = disattenuate(both[0], both[1], n_resamples=N_RESAMPLES, seed=seed)
        yield (
            found.models.low <= of_all <= found.models.high,
            found.items.low <= truth <= found.items.high,
            found.models.value - truth,
            found.reliability[0],
        )


def main() -> None:
    n_pairs = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000
    print(f"{n_pairs:,} pairs; shares of intervals that held, of those that are defined")
    print(
        "models  spread  correlation  over models  over items  median error  reliability  defined"
    )
    for m, spread, correlation in product(MODELS, SPREADS, CORRELATIONS):
        rows = np.array(list(held(m, spread, correlation, n_pairs)))
        known = ~np.isnan(rows[:, 2])
        over_models, over_items = rows[known, 0].mean(), rows[known, 1].mean()
        print(
            f"{m:6d}  {spread:6.1f}  {correlation:11.2f}  {over_models:11.3f}  {over_items:10.3f}  "
            f"{np.median(rows[known, 2]):+12.3f}  {np.nanmedian(rows[:, 3]):11.2f}  "
            f"{known.mean():7.3f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
