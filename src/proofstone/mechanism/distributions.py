"""Distributions of quality, score noise and cost, as stated in a game file."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Literal

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray
from scipy import special, stats

from proofstone.errors import BadUsage

Floats = NDArray[np.float64]

# Gauss-Legendre nodes over the probabilities (0, 1): enough for every smooth quantile function.
_NODES = 512

Shape = Literal[
    "normal",
    "beta",
    "uniform",
    "exponential",
    "lognormal",
    "laplace",
    "constant",
    "empirical",
    "interpolated",
]
"""Parameters: normal and laplace (mean, sd), beta (a, b, on [low, high]), uniform (low, high),
exponential (mean), lognormal (median, sigma), constant (value), empirical (values: a step at each),
interpolated (values: linear between the sorted ones, so without jumps).
"""


class Distribution(Struct, frozen=True, kw_only=True):
    """A distribution on the real line: its shape, parameters, and the values of an empirical one.

    Make it with ``read_distribution``, which checks the parameters.
    """

    shape: Shape
    parameters: Mapping[str, float]
    values: tuple[float, ...] = ()

    def cdf(self, at: Floats) -> Floats:
        """Return P(X <= at), of the shape of ``at``."""
        values = np.sort(np.asarray(self.values, dtype=np.float64))
        if self.shape == "empirical":
            return np.searchsorted(values, at, side="right") / len(values)
        if self.shape == "interpolated":
            return np.interp(at, values, np.linspace(0.0, 1.0, len(values)), left=0.0, right=1.0)
        if self.shape == "constant":
            return np.where(at >= self.parameters["value"], 1.0, 0.0)
        return np.asarray(_frozen(self).cdf(at), dtype=np.float64)

    def quantile(self, level: Floats) -> Floats:
        """Return the smallest x with P(X <= x) >= level, for levels in (0, 1]."""
        if self.shape in ("empirical", "interpolated"):
            values = np.sort(np.asarray(self.values, dtype=np.float64))
            if self.shape == "interpolated":
                return np.interp(level, np.linspace(0.0, 1.0, len(values)), values)
            places = np.ceil(np.asarray(level) * len(values) - 1e-12).astype(np.int64) - 1
            return values[np.clip(places, 0, len(values) - 1)]
        if self.shape == "constant":
            return np.full(np.shape(level), self.parameters["value"])
        return np.asarray(_frozen(self).ppf(level), dtype=np.float64)

    def mean(self) -> float:
        """Return the mean."""
        values, weights = self.nodes()
        if self.shape in ("empirical", "interpolated", "constant"):
            return math.fsum(values * weights)
        return float(_frozen(self).mean())

    def nodes(self) -> tuple[Floats, Floats]:
        """Return values and weights (sum 1) whose weighted sums are expectations.

        An empirical distribution is its values with equal weights, exactly.
        """
        if self.shape == "empirical":
            values = np.sort(np.asarray(self.values, dtype=np.float64))
            return values, np.full(len(values), 1.0 / len(values))
        if self.shape == "constant":
            return np.array([self.parameters["value"]]), np.ones(1)
        places, weights = special.roots_legendre(_NODES)
        return self.quantile((places + 1.0) / 2.0), weights / 2.0

    def draw(self, rng: np.random.Generator, n: int) -> Floats:
        """Return ``n`` independent samples."""
        return self.quantile(rng.random(n))

    def ends(self, tail: float = 1e-10) -> tuple[float, float]:
        """Return the quantiles that leave ``tail`` on each side."""
        low, high = self.quantile(np.array([tail, 1.0 - tail]))
        return float(low), float(high)


def _frozen(given: Distribution) -> stats.distributions.rv_frozen:
    """Return the SciPy distribution."""
    of = given.parameters
    match given.shape:
        case "normal":
            return stats.norm(of["mean"], of["sd"])
        case "laplace":
            return stats.laplace(of["mean"], of["sd"] / math.sqrt(2.0))
        case "uniform":
            return stats.uniform(of["low"], of["high"] - of["low"])
        case "exponential":
            return stats.expon(scale=of["mean"])
        case "lognormal":
            return stats.lognorm(of["sigma"], scale=of["median"])
        case _:
            return stats.beta(of["a"], of["b"], loc=of["low"], scale=of["high"] - of["low"])


_NEEDED: Mapping[str, Mapping[str, float | None]] = {
    "normal": {"mean": None, "sd": None},
    "laplace": {"mean": 0.0, "sd": None},
    "beta": {"a": None, "b": None, "low": 0.0, "high": 1.0},
    "uniform": {"low": None, "high": None},
    "exponential": {"mean": None},
    "lognormal": {"median": None, "sigma": None},
    "constant": {"value": None},
    "empirical": {},
    "interpolated": {},
}

_POSITIVE = {"sd", "a", "b", "median", "sigma"}


def read_distribution(given: Mapping[str, object], where: str) -> Distribution:
    """Return a distribution from a table of a game file; ``where`` names it in errors.

    Raises BadUsage with all problems of the table.
    """
    shape = str(given.get("distribution", ""))
    if shape not in _NEEDED:
        raise BadUsage(
            f"{where}: unknown distribution {shape!r}",
            hint=f"expected one of: {', '.join(_NEEDED)}",
        )
    problems: list[str] = []
    is_sample = shape in ("empirical", "interpolated")
    allowed = {"distribution", *_NEEDED[shape], *(["values"] if is_sample else [])}
    problems += [f"unknown parameter {name!r}" for name in sorted(set(given) - allowed)]
    values: dict[str, float] = {}
    for name, usual in _NEEDED[shape].items():
        value = given.get(name, usual)
        if not _is_number(value):
            problems.append(f"{name} must be a finite number, not {value!r}")
        elif name in _POSITIVE and float(value) <= 0:  # type: ignore[arg-type]
            problems.append(f"{name} must be above 0, not {value}")
        else:
            values[name] = float(value)  # type: ignore[arg-type]
    if shape == "exponential" and values.get("mean", 1.0) <= 0:
        problems.append(f"mean must be above 0, not {values['mean']:g}")
    if {"low", "high"} <= set(values) and values["low"] >= values["high"]:
        problems.append(f"low ({values['low']:g}) must be below high ({values['high']:g})")
    sample = _sample(given, problems) if is_sample else ()
    if problems:
        raise BadUsage(f"{where}: {'; '.join(problems)}")
    return Distribution(shape=shape, parameters=values, values=sample)  # type: ignore[arg-type]


def _sample(given: Mapping[str, object], problems: list[str]) -> tuple[float, ...]:
    values = given.get("values")
    if not isinstance(values, list) or len(values) < 2 or not all(map(_is_number, values)):
        problems.append("values must be a list of at least two finite numbers")
        return ()
    return tuple(float(value) for value in values)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
