"""Accuracy against the length of replies (Encyclo-K appendix E, Figure 7)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from proofstone.engines.stats import Estimand, equal_weights, tau_b
from proofstone.errors import BadUsage
from proofstone.report.numbers import MISSING, shown_estimate
from proofstone.report.studies.parts import Part, complete_everywhere, left_out
from proofstone.report.studies.study import Point, Study, point_of

__all__ = ["mean_lengths", "study_lengths"]

_QUARTERS = 4


def study_lengths(parts: Sequence[Part], *, estimand: Estimand, confidence: float) -> Study:
    """Mean tokens of each respondent's replies, of right and of wrong ones, and its accuracy by
    quarter of its own replies' length. Tokens are the endpoint's count, reasoning included where
    it counts it. Raises BadUsage where no endpoint counted any."""
    (part,) = parts
    labels = complete_everywhere(parts)
    told = {
        label: by_unit for label in labels if (by_unit := mean_lengths(part, label)) is not None
    }
    if not told:
        raise BadUsage("no endpoint here said how many tokens its replies had")
    rows: list[tuple[str, ...]] = []
    marks: list[Point] = []
    for label, tokens in told.items():
        known = np.flatnonzero(~np.isnan(tokens))
        values = part.sheet.values[known, part.complete[label]][:, None]
        length = tokens[known]
        quarters = _quarters(length)
        estimates = [
            part.means(
                [label],
                known[at],
                values[at],
                equal_weights(len(at)),
                estimand,
                confidence,
            )[0]
            for at in (np.flatnonzero(quarters == q) for q in range(_QUARTERS))
        ]
        for q, estimate in enumerate(estimates):
            if estimate.n:
                marks.append(point_of(label, float(length[quarters == q].mean()), estimate))
        right = values[:, 0] >= 0.5
        rows.append(
            (label, f"{len(known)}", _tokens(length), _tokens(length[right]),
             _tokens(length[~right]),
             *(shown_estimate(e) if e.n else MISSING for e in estimates))
        )  # fmt: skip
    return Study(
        name="length",
        title="Accuracy by length of the reply",
        finding=_finding(part, told),
        columns=("model", "n", "tokens", "right", "wrong", "shortest quarter", "second", "third",
                 "longest quarter"),
        rows=tuple(rows),
        x_axis="tokens of the reply, mean of the quarter",
        y_axis="accuracy",
        points=tuple(marks),
        notes=(
            "Length is not a cause here: hard questions draw long replies.",
            *left_out(parts, list(told)),
        ),
    )  # fmt: skip


def mean_lengths(part: Part, label: str, *, reasoning: bool = False) -> NDArray[np.float64] | None:
    """The mean tokens of a respondent's replies by unit, NaN where not told; None where nowhere."""
    if part.lengths is None:
        return None
    mine = part.lengths.respondent == part.complete[label]
    tokens = (part.lengths.reasoning if reasoning else part.lengths.completion)[mine]
    units = part.lengths.unit[mine]
    known = ~np.isnan(tokens)
    if not known.any():
        return None
    n = len(part.table.items)
    counts = np.bincount(units[known], minlength=n)
    sums = np.bincount(units[known], weights=tokens[known], minlength=n)
    found: NDArray[np.float64] = np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)
    return np.where(np.isnan(part.sheet.values[:, part.complete[label]]), np.nan, found)


def _quarters(length: NDArray[np.float64]) -> NDArray[np.int64]:
    """The quarter of each length, equal lengths together."""
    edges = np.quantile(length, [0.25, 0.5, 0.75])
    return np.asarray(np.searchsorted(edges, length, side="left"))


def _tokens(length: NDArray[np.float64]) -> str:
    return f"{length.mean():,.0f}" if len(length) else MISSING


def _finding(part: Part, told: dict[str, NDArray[np.float64]]) -> str:
    means = {label: float(np.nanmean(tokens)) for label, tokens in told.items()}
    longest, shortest = max(means, key=lambda x: means[x]), min(means, key=lambda x: means[x])
    span = f"Replies have {means[shortest]:,.0f} to {means[longest]:,.0f} tokens on average"
    if len(means) < 3:
        return f"{span}."
    accuracy = [float(np.nanmean(part.sheet.values[:, part.complete[label]])) for label in means]
    tau = tau_b(np.array(list(means.values())), np.array(accuracy))
    if np.isnan(tau):
        return f"{span}, which tells no models apart."
    return (
        f"{span}; Kendall's tau-b of length with accuracy over {len(means)} models is {tau:z.2f}."
    )
