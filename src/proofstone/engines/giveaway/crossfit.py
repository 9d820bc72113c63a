"""Scores of texts by models that never saw their source."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from proofstone.engines.giveaway.classifier import fit_logistic

__all__ = ["CrossFit", "cross_fit", "folds_by_source"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class CrossFit:
    """``scores`` (texts) are log-odds that a text is of the second kind, each by the model of the
    other folds; ``fold`` (texts) says which. Scores of different folds do not compare."""

    scores: Floats
    fold: Ints


def folds_by_source(source: Ints, n_folds: int = 5) -> Ints:
    """Folds (texts) that keep every source whole, as even as the sources allow: the largest first,
    each into the smallest fold. As many folds as sources where there are fewer."""
    keys, number, sizes = np.unique(source, return_inverse=True, return_counts=True)
    n = max(1, min(n_folds, len(keys)))
    load = np.zeros(n, dtype=np.int64)
    fold_of = np.zeros(len(keys), dtype=np.int64)
    for key in np.argsort(-sizes, kind="stable"):
        fold_of[key] = int(np.argmin(load))
        load[fold_of[key]] += sizes[key]
    return np.asarray(fold_of[number], dtype=np.int64)


def cross_fit(values: Floats, is_second: Bools, fold: Ints, *, penalty: float = 1.0) -> CrossFit:
    """Scores of ``values`` (texts, features), a model a fold, trained on all others."""
    scores = np.zeros(len(values))
    for place in np.unique(fold):
        held = fold == place
        model = fit_logistic(values[~held], is_second[~held], penalty=penalty)
        scores[held] = model.score(values[held])
    return CrossFit(scores, fold)
