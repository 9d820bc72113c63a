"""Read the experts' labels of items and of pairs, and their agreement (appendix B).

Items: ``id``, ``expert``, ``aligned`` (0 or 1). Pairs: ``id``, ``other``, ``expert``, ``support``
and ``duplicate`` (0 or 1). An ``id`` is that of an export, or its first eight characters or more.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from msgspec import Struct

from proofstone.errors import Problem
from proofstone.methods.kina.label_rows import LabelRows
from proofstone.stats.agreement import agreement, cohen_kappa


class ItemLabel(Struct, frozen=True):
    """An expert's answer: is this question aligned with its discipline?"""

    id: str
    expert: str
    aligned: bool


class PairLabel(Struct, frozen=True):
    """An expert's answers on two questions: shared support, and near duplicates?"""

    id: str
    other: str
    expert: str
    support: bool
    duplicate: bool


class Agreement(Struct, frozen=True, kw_only=True):
    """Labels of one kind: how many units, how many with two labels or more, and their agreement.

    ``observed`` is the mean share of equal pairs of labels, ``kappa`` Cohen's of two experts (None
    for another number of experts, without shared units, or if all labels are equal).
    """

    what: str
    n_units: int
    n_shared: int
    n_experts: int
    observed: float | None
    kappa: float | None


def read_item_labels(path: Path, known: Sequence[str], *, whole: bool = True) -> list[ItemLabel]:
    """Return the labels of the items with ``known`` ids.

    Labels of other ids are left out, or wrong if the pool is ``whole``. Raises BadInput with all
    problems.
    """
    rows = LabelRows(path, known, whole=whole)
    found = [
        ItemLabel(rows.one(row, "id"), rows.text(row, "expert"), rows.yes(row, "aligned"))
        for row in rows.every
    ]
    rows.close((each.id, each.expert) for each in found)
    return [each for each in found if each.id]


def read_pair_labels(path: Path, known: Sequence[str], *, whole: bool = True) -> list[PairLabel]:
    """Return the labels of the pairs with ``known`` ids, as ``read_item_labels`` does."""
    rows = LabelRows(path, known, whole=whole)
    found = []
    for row in rows.every:
        one, other = sorted((rows.one(row, "id"), rows.one(row, "other")))
        if one == other and one:
            rows.problems.append(Problem(row.place, "id and other are the same question"))
        answers = rows.yes(row, "support"), rows.yes(row, "duplicate")
        found.append(PairLabel(one, other, rows.text(row, "expert"), *answers))
    rows.close((each.id, each.other, each.expert) for each in found)
    return [each for each in found if each.id and each.other]


def expert_agreement(what: str, labels: Iterable[tuple[Any, str, bool]]) -> Agreement:
    """Return the agreement on labels given as (unit, expert, answer)."""
    by_unit: dict[Any, dict[str, bool]] = {}
    for unit, expert, answer in labels:
        by_unit.setdefault(unit, {})[expert] = answer
    experts = sorted({expert for each in by_unit.values() for expert in each})
    ratings = np.full((len(by_unit), max(len(experts), 1)), -1, dtype=np.int16)
    for row, answers in enumerate(by_unit.values()):
        for expert, answer in answers.items():
            ratings[row, experts.index(expert)] = answer
    n_shared = int(((ratings >= 0).sum(axis=1) > 1).sum())
    observed = kappa = float("nan")
    if n_shared:
        observed = agreement(ratings, "observed agreement", n_categories=2).value
        if len(experts) == 2:
            kappa = cohen_kappa(ratings[:, 0], ratings[:, 1], n_categories=2).value
    return Agreement(
        what=what, n_units=len(by_unit), n_shared=n_shared, n_experts=len(experts),
        observed=_known(observed), kappa=_known(kappa),
    )  # fmt: skip


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
