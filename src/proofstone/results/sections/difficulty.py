"""How hard the questions are, by category: how many models fail each (Chinese SimpleQA, I and
Figure 16)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from proofstone.page.numbers import shown_estimate
from proofstone.page.section import Column, Curve, Figure, Mark
from proofstone.records.runs import Estimate
from proofstone.results.sections.parts import (
    Analysis,
    Part,
    complete_everywhere,
    left_out,
    make_analysis,
    mark_of,
)
from proofstone.stats.estimates import mean_estimates
from proofstone.stats.intervals import equal_weights
from proofstone.wording.messages import listed, noted, say, word

_PASSED = 0.5  # of its samples: a model that has fewer right fails the question


_OVERALL, _NOT_STATED = noted("all questions"), noted("not stated")


class _Group(Struct, frozen=True):
    """The questions of one category: places among the units, how many models fail each, and the
    mean share of models that do."""

    level: str
    name: str
    units: NDArray[np.int64]
    failing: NDArray[np.int64]
    mean: Estimate


def study_difficulty(parts: Sequence[Part]) -> Analysis:
    """Of each category the mean share of models that fail a question, with the questions that none
    and that all of them fail; and how its questions are spread over numbers of models. Raises
    BadUsage where no respondent is complete."""
    (part,) = parts
    labels = complete_everywhere(parts)
    units, values = part.block(labels)
    n = len(labels)
    groups = list(_groups(part, n, units, (values < _PASSED).sum(axis=1)))
    return make_analysis(
        "difficulty",
        say("How many of {n} models fail each question", n=n),
        _finding(groups, n),
        columns=(
            Column(key="category", name=say("category")),
            Column(key="by", name=say("by")),
            Column(key="n", name="n"),
            Column(key="failing", name=say("models failing, %"), unit="points"),
            Column(key="median", name=say("median"), unit="mixed"),
            Column(key="none", name=say("none")),
            Column(key="all", name=say("all")),
        ),
        rows=(
            (
                word(group.name),
                "" if group.level == _OVERALL else word(group.level),
                len(group.units),
                group.mean,
                f"{float(np.median(group.failing)):g}",
                int((group.failing == 0).sum()),
                int((group.failing == n).sum()),
            )
            for group in groups
        ),
        axes=("models failing", "share of questions"),
        marks=(mark for group in groups for mark in _marks(part, n, group)),
        notes=(
            say(
                "A model fails a question where it has fewer than half of its samples right; "
                "giving no answer counts as failing. Median, none and all: of the models, by "
                "question; how many questions none and all of them fail."
            ),
            say("Models: {models}.", models=listed(labels)),
            *left_out(parts, labels),
        ),
        figures=_figures(groups, labels),
    )


def _means(
    part: Part,
    units: NDArray[np.int64],
    values: NDArray[np.float64],
    n_parts: int | None = None,
) -> tuple[Estimate, ...]:
    """The mean over questions of each column of ``values``."""
    keys = part.sheet.keys.among(units)
    return mean_estimates(values, equal_weights(len(units)), keys, n_parts=n_parts, **part.interval)


def _groups(
    part: Part, n_models: int, units: NDArray[np.int64], failing: NDArray[np.int64]
) -> Iterator[_Group]:
    """All questions, then those of each category of each level that has several, hardest first."""

    def group(level: str, name: str, chosen: NDArray[np.bool_]) -> _Group:
        """A category with its mean, whose spread is that between its questions."""
        own, fails = units[chosen], failing[chosen]
        shares = (fails / n_models)[:, None]
        (mean,) = _means(part, own, shares, len(own) * n_models)
        return _Group(level, name, own, fails, mean)

    yield group(_OVERALL, _OVERALL, np.ones(len(units), dtype=bool))
    table = part.table
    for level, names in table.stratum_names.items():
        codes = table.strata[level][units]
        present = [code for code in range(len(names)) if (codes == code).any()]
        if len(present) > 1:
            by = table.level_names.get(level, level)
            found = [group(by, names[code] or _NOT_STATED, codes == code) for code in present]
            yield from sorted(found, key=lambda each: (-each.mean.value, each.name))


def _marks(part: Part, n_models: int, group: _Group) -> Iterator[Mark]:
    """The share of a category's questions that so many models fail, from none to all."""
    counts = np.arange(n_models + 1)
    shares = _means(part, group.units, (group.failing[:, None] == counts).astype(np.float64))
    series = group.name if group.level == _OVERALL else f"{group.level}: {group.name}"
    for count, each in zip(counts.tolist(), shares, strict=True):
        yield mark_of(series, float(count), each)


def _finding(groups: Sequence[_Group], n_models: int) -> str:
    every = groups[0]
    said = say(
        "Of {n:,} questions {all:,} are failed by all {models} models and {none:,} by none",
        n=len(every.units),
        all=int((every.failing == n_models).sum()),
        none=int((every.failing == 0).sum()),
        models=n_models,
    )
    if len(groups) == 1:
        return say("{said}.", said=said)
    level = groups[1].level
    own = [group for group in groups if group.level == level]
    hard, easy = own[0], own[-1]
    if hard.mean.value == easy.mean.value:
        return say("{said}; by {level}, all are as hard.", said=said, level=word(level))
    return say(
        "{said}; by {level}, {hard} is hardest ({share} % of models fail a question) and {easy} "
        "easiest ({least}).",
        said=said,
        level=word(level),
        hard=word(hard.name),
        share=shown_estimate(hard.mean),
        easy=word(easy.name),
        least=shown_estimate(easy.mean),
    )


def _figures(groups: Sequence[_Group], labels: Sequence[str]) -> Iterator[Figure]:
    """A violin a category, hardest first, a figure a level."""
    for level in dict.fromkeys(group.level for group in groups):
        own = [group for group in groups if group.level == level]
        n = sum(len(group.units) for group in own)
        whole = level == _OVERALL
        yield Figure(
            name="difficulty" if whole else f"difficulty-by-{level.replace(' ', '-')}",
            kind="violins",
            title=say("Questions by number of models that fail them")
            if whole
            else say("Questions by number of models that fail them, by {level}", level=word(level)),
            subtitle=say(
                "{n:,} questions, {models} models; a violin is as wide as the share of a "
                "category's questions; the line is the median",
                n=n,
                models=len(labels),
            ),
            marks=tuple(
                Mark(
                    row=word(group.name), value=float(np.median(group.failing)), n=len(group.units)
                )
                for group in own
            ),
            curves=tuple(_curve(group, len(labels)) for group in own),
            value_axis=say("models failing"),
            value_unit="number",
            x_axis=say("models failing"),
            x_unit="number",
        )


def _curve(group: _Group, n_models: int) -> Curve:
    """The share of questions at each number of models, drawn to nothing one step outside."""
    shares = np.bincount(group.failing, minlength=n_models + 1) / len(group.failing)
    return Curve(
        row=word(group.name),
        x=tuple(float(count) for count in range(n_models + 1)),
        values=tuple(float(share) for share in shares),
    )
