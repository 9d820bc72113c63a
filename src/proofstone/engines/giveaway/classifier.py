"""Logistic regression with a ridge penalty: how well columns tell two kinds of texts apart."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, special

__all__ = ["LogisticModel", "fit_logistic"]

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class LogisticModel:
    """``score(x) = intercept + sum of weights * (x - centre) / scale``, the log-odds that a text is
    of the second kind. Columns without spread have weight 0."""

    centre: Floats
    scale: Floats
    weights: Floats
    intercept: float

    def score(self, values: Floats) -> Floats:
        """The log-odds (texts) of ``values`` (texts, features)."""
        return self.intercept + ((values - self.centre) / self.scale) @ self.weights


def fit_logistic(values: Floats, is_second: Bools, *, penalty: float = 1.0) -> LogisticModel:
    """The fit to ``values`` (texts, features), both kinds weighing the same however many there
    are; ``penalty`` is that on the sum of squared standardised weights, beside the summed loss.

    With one kind alone all weights are 0.
    """
    centre = values.mean(axis=0) if len(values) else np.zeros(values.shape[1])
    spread = values.std(axis=0) if len(values) else np.zeros(values.shape[1])
    scale = np.where(spread > 0, spread, 1.0)
    n_second = int(is_second.sum())
    n_first = len(is_second) - n_second
    if not n_second or not n_first:
        return LogisticModel(centre, scale, np.zeros(values.shape[1]), 0.0)
    x = np.where(spread > 0, (values - centre) / scale, 0.0)
    weight = np.where(is_second, 0.5 / n_second, 0.5 / n_first) * len(is_second)
    sign = np.where(is_second, 1.0, -1.0)

    def loss(parameters: Floats) -> tuple[float, Floats]:
        margin = sign * (x @ parameters[1:] + parameters[0])
        pull = -weight * sign * special.expit(-margin)
        slope = np.concatenate([[pull.sum()], x.T @ pull + penalty * parameters[1:]])
        value = weight @ np.logaddexp(0.0, -margin) + 0.5 * penalty * (parameters[1:] ** 2).sum()
        return float(value), slope

    start = np.zeros(x.shape[1] + 1)
    found = optimize.minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 500}).x
    return LogisticModel(centre, scale, found[1:], float(found[0]))
