"""How hard the questions are, by category: how many models fail each (Chinese SimpleQA, I and
Figure 16)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from proofstone.page.numbers import shown_estimate
from proofstone.page.section import Curve, Figure, Mark
from proofstone.records.runs import Estimate
from proofstone.results.sections.parts import (
    Part,
    Point,
    Study,
    complete_everywhere,
    left_out,
    point_of,
)
from proofstone.stats.estimates import mean_estimates
from proofstone.stats.flags import Estimand
from proofstone.stats.intervals import equal_weights

_PASSED = 0.5  # of its samples: a model that has fewer right fails the question


_OVERALL = "all questions"


class _Group(Struct, frozen=True):
    """The questions of one category: places among the units, how many models fail each, and the
    mean share of models that do."""

    level: str
    name: str
    units: NDArray[np.int64]
    failing: NDArray[np.int64]
    mean: Estimate


class _Asked(Struct, frozen=True):
    """What all categories are estimated from."""

    part: Part
    n_models: int
    estimand: Estimand
    confidence: float

    def means(
        self, units: NDArray[np.int64], values: NDArray[np.float64], n_parts: int | None = None
    ) -> tuple[Estimate, ...]:
        """The mean over questions of each column of ``values``."""
        return mean_estimates(
            values, equal_weights(len(units)), self.part.sheet.keys.among(units),
            estimand=self.estimand, confidence=self.confidence, n_parts=n_parts,
        )  # fmt: skip

    def group(
        self, level: str, name: str, units: NDArray[np.int64], failing: NDArray[np.int64]
    ) -> _Group:
        """A category with its mean, whose spread is that between its questions."""
        shares = (failing / self.n_models)[:, None]
        (mean,) = self.means(units, shares, len(units) * self.n_models)
        return _Group(level, name, units, failing, mean)


def study_difficulty(parts: Sequence[Part], *, estimand: Estimand, confidence: float) -> Study:
    """Of each category the mean share of models that fail a question, with the questions that none
    and that all of them fail; and how its questions are spread over numbers of models. Raises
    BadUsage where no respondent is complete."""
    (part,) = parts
    labels = complete_everywhere(parts)
    units, values = part.block(labels)
    asked = _Asked(part, len(labels), estimand, confidence)
    groups = list(_groups(asked, units, (values < _PASSED).sum(axis=1)))
    return Study(
        name="difficulty",
        title=f"How many of {len(labels)} models fail each question",
        finding=_finding(groups, len(labels)),
        columns=("category", "by", "n", "models failing, %", "median", "none", "all"),
        rows=tuple(_row(group, len(labels)) for group in groups),
        x_axis="models failing",
        y_axis="share of questions",
        points=tuple(point for group in groups for point in _points(asked, group)),
        notes=(
            "A model fails a question where it has fewer than half of its samples right; giving no "
            "answer counts as failing. Median, none and all: of the models, by question; how many "
            "questions none and all of them fail.",
            f"Models: {', '.join(labels)}.",
            *left_out(parts, labels),
        ),
        figures=tuple(_figures(groups, labels)),
    )


def _groups(
    asked: _Asked, units: NDArray[np.int64], failing: NDArray[np.int64]
) -> Iterator[_Group]:
    """All questions, then those of each category of each level that has several, hardest first."""
    yield asked.group(_OVERALL, _OVERALL, units, failing)
    table = asked.part.table
    for level, names in table.stratum_names.items():
        codes = table.strata[level][units]
        present = [code for code in range(len(names)) if (codes == code).any()]
        if len(present) > 1:
            by = table.level_names.get(level, level)
            own = [
                asked.group(by, names[code] or "not stated", units[codes == code],
                            failing[codes == code])
                for code in present
            ]  # fmt: skip
            yield from sorted(own, key=lambda group: (-group.mean.value, group.name))


def _row(group: _Group, n_models: int) -> tuple[str, ...]:
    level = "" if group.level == _OVERALL else group.level
    return (
        group.name, level, f"{len(group.units):,}", shown_estimate(group.mean),
        f"{float(np.median(group.failing)):g}", f"{int((group.failing == 0).sum()):,}",
        f"{int((group.failing == n_models).sum()):,}",
    )  # fmt: skip


def _points(asked: _Asked, group: _Group) -> Iterator[Point]:
    """The share of a category's questions that so many models fail, from none to all."""
    counts = np.arange(asked.n_models + 1)
    shares = asked.means(group.units, (group.failing[:, None] == counts).astype(np.float64))
    series = group.name if group.level == _OVERALL else f"{group.level}: {group.name}"
    for count, each in zip(counts.tolist(), shares, strict=True):
        yield point_of(series, float(count), each)


def _finding(groups: Sequence[_Group], n_models: int) -> str:
    every = groups[0]
    n, none = len(every.units), int((every.failing == 0).sum())
    full = int((every.failing == n_models).sum())
    said = f"Of {n:,} questions {full:,} are failed by all {n_models} models and {none:,} by none"
    levels = list(dict.fromkeys(group.level for group in groups[1:]))
    if not levels:
        return f"{said}."
    own = [group for group in groups if group.level == levels[0]]
    hard, easy = own[0], own[-1]
    if hard.mean.value == easy.mean.value:
        return f"{said}; by {levels[0]}, all are as hard."
    return (
        f"{said}; by {levels[0]}, {hard.name} is hardest ({shown_estimate(hard.mean)} % of "
        f"models fail a question) and {easy.name} easiest ({shown_estimate(easy.mean)})."
    )


# ---------------------------------------------------------------- figures


def _figures(groups: Sequence[_Group], labels: Sequence[str]) -> Iterator[Figure]:
    """A violin a category, hardest first, a figure a level."""
    for level in dict.fromkeys(group.level for group in groups):
        own = [group for group in groups if group.level == level]
        n = sum(len(group.units) for group in own)
        whole = level == _OVERALL
        yield Figure(
            name="difficulty" if whole else f"difficulty-by-{level.replace(' ', '-')}",
            kind="violins",
            title=f"Questions by number of models that fail them{'' if whole else f', by {level}'}",
            subtitle=f"{n:,} questions, {len(labels)} models; a violin is as wide as the share of "
            "a category's questions; the line is the median",
            marks=tuple(
                Mark(row=group.name, value=float(np.median(group.failing)), n=len(group.units))
                for group in own
            ),
            curves=tuple(_curve(group, len(labels)) for group in own),
            value_axis="models failing",
            value_unit="number",
            x_axis="models failing",
            x_unit="number",
        )


def _curve(group: _Group, n_models: int) -> Curve:
    """The share of questions at each number of models, drawn to nothing one step outside."""
    shares = np.bincount(group.failing, minlength=n_models + 1) / len(group.failing)
    return Curve(
        row=group.name,
        x=tuple(float(count) for count in range(n_models + 1)),
        values=tuple(float(share) for share in shares),
    )
