"""Who is best in which topic: the first ten by F in each, ties as ties (Chinese SimpleQA, I and
Figure 17)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from proofstone.engines.stats import (
    Estimand,
    RankInterval,
    equal_weights,
    mean_estimates,
    measure_spread,
    rank_all,
    ratio_values,
    tied_runs,
)
from proofstone.errors import BadUsage
from proofstone.records.results import Estimate, Measure
from proofstone.report.numbers import shown_estimate, shown_rank
from proofstone.report.sections.section import Figure, Mark, Span
from proofstone.report.sheet import Sheet
from proofstone.report.studies.parts import Part, complete_everywhere, left_out
from proofstone.report.studies.study import Study, point_of
from proofstone.report.ties import tie_letters

__all__ = ["study_topics"]

_FIRST = 10
_F = "f_score"


class _Place(Struct, frozen=True):
    """One model in one topic."""

    label: str
    estimate: Estimate
    rank: RankInterval


class _Topic(Struct, frozen=True):
    """A topic's models, best first; ``ties`` are runs of them that the data cannot tell apart, and
    ``n_best`` how many nobody beats."""

    name: str
    n: int
    places: tuple[_Place, ...]
    ties: tuple[tuple[int, int], ...]
    n_best: int


def study_topics(parts: Sequence[Part], *, estimand: Estimand, confidence: float) -> Study:
    """The first ten of each topic by F (by the headline measure where a method has none), each with
    its interval and the ranks that the data leave open among all models there. Raises BadUsage
    where items have no topics, or no respondent is complete."""
    (part,) = parts
    labels = complete_everywhere(parts)
    measure = next((one for one in part.others if one.name == _F), part.measure)
    units, _values = part.block(labels)
    topics = list(_topics(part, measure, labels, units, estimand, confidence))
    shown = measure.label or measure.name
    return Study(
        name="topics",
        title=f"The best of {len(labels)} models by {shown}, by topic",
        finding=_finding(topics),
        columns=("topic", "rank", "model", f"{shown}, %", "n", "tied"),
        rows=tuple(row for topic in topics for row in _rows(topic)),
        x_axis="topic",
        y_axis=shown,
        points=tuple(
            point_of(place.label, topic.name, place.estimate)
            for topic in topics for place in topic.places[:_FIRST]
        ),
        notes=(
            "Rank: the rank range among all models of the topic, by paired comparisons on its "
            "questions (Holm-adjusted within the topic). Tied: models that share a letter are "
            "not significantly different there.",
            *left_out(parts, labels),
        ),
        figures=tuple(_figure(topic, number, shown) for number, topic in enumerate(topics, 1)),
    )  # fmt: skip


def _topics(
    part: Part,
    measure: Measure,
    labels: Sequence[str],
    units: NDArray[np.int64],
    estimand: Estimand,
    confidence: float,
) -> Iterator[_Topic]:
    level = next((name for name, names in part.table.stratum_names.items() if len(names) > 1), "")
    if not level:
        raise BadUsage(
            "these items have no topics, or one alone",
            hint="questions need a column primary_category, statements a discipline",
        )
    codes = part.table.strata[level][units]
    for code, name in enumerate(part.table.stratum_names[level]):
        own = units[codes == code]
        if len(own):
            values = _values(part, measure, labels, own)
            yield _topic(part, name or "not stated", labels, own, values, estimand, confidence)


def _values(
    part: Part, measure: Measure, labels: Sequence[str], units: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Values (units, labels) whose means are the measure: of a ratio its residuals around it."""
    places = [part.complete[label] for label in labels]
    if not measure.weights:
        return part.sheet.block(units, places)
    sheet = Sheet(part.table, measure.counts, measure.golds, measure.says, measure.weights)
    tops, bottoms = (each[units][:, places] for each in sheet.ratio_parts)
    return ratio_values(tops, bottoms)


def _topic(
    part: Part,
    name: str,
    labels: Sequence[str],
    units: NDArray[np.int64],
    values: NDArray[np.float64],
    estimand: Estimand,
    confidence: float,
) -> _Topic:
    keys, weighting = part.sheet.keys.among(units), equal_weights(len(units))
    estimates = mean_estimates(values, weighting, keys, estimand=estimand, confidence=confidence)
    ranking = rank_all(measure_spread(values, weighting, keys, estimand), confidence=confidence)
    order = sorted(range(len(labels)), key=lambda r: (-estimates[r].value, labels[r]))
    better = ranking.better[np.ix_(order, order)]
    return _Topic(
        name=name,
        n=len(units),
        places=tuple(_Place(labels[r], estimates[r], ranking.intervals[r]) for r in order),
        ties=tied_runs(better),
        n_best=int((~better.any(axis=0)).sum()),
    )


def _rows(topic: _Topic) -> Iterator[tuple[str, ...]]:
    for place, each in enumerate(topic.places[:_FIRST]):
        tied = [tie_letters(n) for n, (low, high) in enumerate(topic.ties) if low <= place <= high]
        yield (
            "" if place else topic.name, shown_rank(each.rank), each.label,
            shown_estimate(each.estimate), "" if place else f"{topic.n:,}", "".join(tied),
        )  # fmt: skip


def _finding(topics: Sequence[_Topic]) -> str:
    leaders = list(dict.fromkeys(topic.places[0].label for topic in topics))
    first = f"{leaders[0]} has the highest value in all {len(topics)} topics"
    if len(leaders) > 1:
        first = f"{len(leaders)} models have the highest value in one of {len(topics)} topics each"
        if len(leaders) < len(topics):
            first = f"{len(leaders)} models share the first places of {len(topics)} topics"
    clear = [topic.name for topic in topics if topic.n_best == 1 and len(topic.places) > 1]
    if not clear:
        return f"{first}; in none is the lead over all others significant."
    return f"{first}; the lead over all others is significant in {len(clear)} ({', '.join(clear)})."


def _figure(topic: _Topic, number: int, measure: str) -> Figure:
    """The first ten of a topic with their intervals, ties as bars."""
    shown = topic.places[:_FIRST]
    runs = [(low, min(high, len(shown) - 1)) for low, high in topic.ties]
    tied = "; bars join models that are not significantly different" if runs else ""
    return Figure(
        name=f"topic-{number}",
        kind="dots",
        title=f"{topic.name}: the first {len(shown)} by {measure}",
        subtitle=f"{topic.n:,} questions, {len(topic.places)} models{tied}",
        marks=tuple(
            Mark(
                row=each.label, value=each.estimate.value, low=each.estimate.low,
                high=each.estimate.high, n=topic.n, text=shown_estimate(each.estimate),
                x_low=each.rank.low, x_high=each.rank.high,
            )
            for each in shown
        ),
        spans=tuple(Span(first=low, last=high) for low, high in runs if high > low),
        row_axis="model",
        value_axis="points",
        x_axis="ranks left open",
    )  # fmt: skip
