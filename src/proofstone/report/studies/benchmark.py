"""One benchmark's side of a comparison of rankings: means, draws over items, and open ranks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from proofstone.engines.stats import (
    DrawnMeans,
    Estimand,
    RankInterval,
    draw_means,
    draw_shares,
    equal_weights,
    measure_spread,
    rank_all,
)
from proofstone.engines.stats.shares import rank_shares
from proofstone.records.accuracies import Accuracies
from proofstone.report.studies.parts import Part

__all__ = ["Benchmark", "SameModel", "benchmark_of", "same_models"]

_DRAWS = 2_000


@dataclass(frozen=True)
class Benchmark:
    """``drawn`` and ``ranks`` (open ones; empty where nothing bounds them) of the chosen models;
    ``left_out`` are others that it has. ``has_items``: scores by item are known. ``is_fixed``: not
    even how many items there are."""

    name: str
    drawn: DrawnMeans
    ranks: tuple[RankInterval, ...]
    left_out: tuple[str, ...]
    has_items: bool
    is_fixed: bool = False


@dataclass(frozen=True)
class SameModel:
    """A model's ``name`` and its label on each of two benchmarks."""

    name: str
    first: str
    second: str


def same_models(first: Part | Accuracies, second: Part | Accuracies) -> list[SameModel]:
    """The models on both, in the order of the first: by whole names, else by what stands behind the
    last slash where that names one model on each. A model that was asked in several ways counts by
    the first of them."""
    ours, theirs = _labels(first), _labels(second)
    tails, others = _by_tail(ours), _by_tail(theirs)
    found = []
    for name, label in ours.items():
        same = name if name in theirs else ""
        tail = _tail(name)
        if not same and len(tails[tail]) == 1 and len(others.get(tail, ())) == 1:
            same = others[tail][0]
        if same:
            found.append(SameModel(name, label, theirs[same]))
    return found


def benchmark_of(
    source: Part | Accuracies,
    labels: Sequence[str],
    estimand: Estimand,
    confidence: float,
    *,
    stream: int,
) -> Benchmark:
    """The chosen models of a benchmark, in this order; another ``stream`` for other items."""
    others = tuple(label for label in _labels(source).values() if label not in labels)
    if isinstance(source, Accuracies):
        return _of_accuracies(source, labels, others, confidence, stream)
    units, values = source.block(labels)
    keys = source.sheet.keys.among(units)
    spread = measure_spread(values, equal_weights(len(units)), keys, estimand)
    return Benchmark(
        name=source.name,
        drawn=draw_means(values, keys, estimand=estimand, n_draws=_DRAWS, stream=stream),
        ranks=rank_all(spread, confidence=confidence).intervals,
        left_out=others,
        has_items=True,
    )


def _of_accuracies(
    source: Accuracies,
    labels: Sequence[str],
    others: tuple[str, ...],
    confidence: float,
    stream: int,
) -> Benchmark:
    means = source.overall[[source.models.index(label) for label in labels]]
    n = source.n_items
    drawn = draw_shares(means, n, n_draws=_DRAWS, stream=stream)
    if not n:
        still = np.repeat(means[:, None], _DRAWS, axis=1)
        drawn = replace(drawn, drawn=still, made_by="scores as they are")
    return Benchmark(
        name=source.name,
        drawn=drawn,
        ranks=_placed(means, n, confidence) if n else (),
        left_out=others,
        has_items=False,
        is_fixed=not n,
    )


def _placed(means: NDArray[np.float64], n: int, confidence: float) -> tuple[RankInterval, ...]:
    """The open ranks of each, which ``rank_shares`` gives best first."""
    order = np.argsort(-means, kind="stable")
    ranking = rank_shares(means[order], n, confidence=confidence)
    found = dict(zip(order.tolist(), ranking.intervals, strict=True))
    return tuple(found[at] for at in range(len(means)))


def _labels(source: Part | Accuracies) -> dict[str, str]:
    """The label of each model by its name; of one asked in several ways the first."""
    if isinstance(source, Accuracies):
        known = ~np.isnan(source.overall)
        return {name: name for name, is_known in zip(source.models, known, strict=True) if is_known}
    found: dict[str, str] = {}
    for label, place in source.complete.items():
        found.setdefault(source.table.respondents[place].name, label)
    return found


def _by_tail(names: Sequence[str] | dict[str, str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name in names:
        found.setdefault(_tail(name), []).append(name)
    return found


def _tail(name: str) -> str:
    return name.rpartition("/")[2].casefold()
