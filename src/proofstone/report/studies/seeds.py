"""How much results move between forms that differ by their seed alone (Encyclo-K 5.2, Figure 4)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from proofstone.engines.stats import Estimand, homogeneity, tau_b
from proofstone.errors import BadUsage
from proofstone.identity import canonical_json
from proofstone.records.results import Estimate
from proofstone.report.numbers import points
from proofstone.report.studies.parts import Part, complete_everywhere, left_out
from proofstone.report.studies.study import Study, point_of

__all__ = ["study_seeds"]


def study_seeds(parts: Sequence[Part], *, estimand: Estimand, confidence: float) -> Study:
    """Range and standard deviation over seeds, beside what sampling items alone would give; rank
    changes and Kendall's tau-b between seeds. Intervals are of fresh forms of the bank, for that
    is what seeds vary. Raises BadUsage where there are not two forms of one recipe."""
    parts = sorted(_of_one_recipe(parts), key=lambda p: (p.seed is None, p.seed or 0, p.name))
    labels = complete_everywhere(parts)
    by_part = [p.estimates(labels, estimand="bank", confidence=confidence) for p in parts]
    table = np.array([[found[label].value for found in by_part] for label in labels])
    order = np.argsort(-table.mean(axis=1), kind="stable").tolist()
    ranks = _ranks(table)
    names = [_seed_name(part) for part in parts]
    rows = [
        (
            labels[i],
            *(points(value) for value in table[i]),
            points(float(table[i].mean())),
            points(float(np.ptp(table[i]))),
            points(float(table[i].std(ddof=1))),
            points(_sampling_sd([found[labels[i]] for found in by_part], parts, labels[i])),
            _p(parts, labels[i]),
            _rank_range(ranks[i]),
        )
        for i in order
    ]
    return Study(
        name="seeds",
        title="Accuracy by seed",
        finding=_finding(table, ranks),
        columns=("model", *names, "mean", "range", "SD", "SD by sampling", "p", "ranks"),
        rows=tuple(rows),
        x_axis="seed",
        y_axis="accuracy",
        points=tuple(
            point_of(labels[i], name, found[labels[i]])
            for i in order
            for name, found in zip(names, by_part, strict=True)
        ),
        notes=(
            "SD by sampling: what fresh items of the bank alone would give at this number of "
            "items. p: that one accuracy holds on all seeds (chi-square).",
            *left_out(parts, labels),
        ),
    )


def _of_one_recipe(parts: Sequence[Part]) -> list[Part]:
    """The forms that differ by their seed alone; a bank may hold others besides."""
    by_recipe: dict[bytes, list[Part]] = {}
    for part in parts:
        by_recipe.setdefault(canonical_json(part.recipe), []).append(part)
    several = [group for group in by_recipe.values() if len(group) > 1]
    if len(several) == 1:
        return several[0]
    if several:
        names = "; ".join(", ".join(part.name for part in group) for group in several)
        raise BadUsage(
            f"there are forms of {len(several)} recipes, each with several seeds",
            hint=f"name those of one: {names}",
        )
    raise BadUsage(
        "a study of seeds takes two or more forms of one recipe",
        hint="proofstone build form BANK --seeds 5, then name the bank or the forms",
    )


def _seed_name(part: Part) -> str:
    return part.name if part.seed is None else f"seed {part.seed}"


def _ranks(table: np.ndarray) -> np.ndarray:
    """Each respondent's rank by column, ties sharing the better one."""
    ranks: np.ndarray = 1 + (table[None, :, :] > table[:, None, :]).sum(axis=1)
    return ranks


def _rank_range(ranks: np.ndarray) -> str:
    low, high = int(ranks.min()), int(ranks.max())
    return f"{low}" if low == high else f"{low}-{high}"


def _sampling_sd(estimates: Sequence[Estimate], parts: Sequence[Part], label: str) -> float:
    """The root mean square of the standard errors, items taken as independent."""
    variances = []
    for part in parts:
        _units, values = part.block([label])
        variances.append(float(values.var(ddof=1)) / len(values) if len(values) > 1 else np.nan)
    return float(np.sqrt(np.mean(variances)))


def _p(parts: Sequence[Part], label: str) -> str:
    blocks = [part.block([label])[1][:, 0] for part in parts]
    groups = np.repeat(np.arange(len(blocks)), [len(block) for block in blocks])
    return f"{homogeneity(np.concatenate(blocks), groups.astype(np.int32)).p:.2f}"


def _finding(table: np.ndarray, ranks: np.ndarray) -> str:
    n_models, n_seeds = table.shape
    spread = f"Over {n_seeds} seeds accuracy moves by at most {points(np.ptp(table, axis=1).max())}"
    if n_models < 2:
        return f"{spread} points; one model has no ranks to compare."
    taus = [tau_b(table[:, a], table[:, b]) for a, b in combinations(range(n_seeds), 2)]
    if np.isnan(taus).any():
        return f"{spread} points; ranks cannot be compared where all models score the same."
    moved = int((np.ptp(ranks, axis=1) > 0).sum())
    return (
        f"{spread} points; Kendall's tau-b between seeds is {np.mean(taus):.2f} on average "
        f"(lowest {np.min(taus):.2f}); {moved} of {n_models} models change rank."
    )
